/* spec.c: see spec.h. YAML text -> value tree -> --set -> sections -> checks across sections. All
 * problems are collected and told in the order of the file.
 *
 * To add a section: its struct in spec.h, its rows in spec_keys.c, a read_... below, and a line in
 * config_write.c. */
#include "config.h"

#include "config/spec.h"

#include "config/spec_read.h"
#include "config/yaml_tree.h"

#include <string.h>

static struct spec_entry find(const struct value *map, const char *name)
{
    const struct value *v = map && map->kind == VALUE_MAP ? value_get(map, name) : NULL;
    return (struct spec_entry){v, v ? v->loc : map ? map->loc : NOWHERE};
}

static struct loc place(const struct section *s, const char *key)
{
    return keys_origin(s, key).loc;
}

static bool is_set(const struct section *s, const char *key)
{
    return keys_origin(s, key).set;
}

/* Copies a filled section into the spec's own struct. */
#define TAKE(field, section)                                                                       \
    do {                                                                                           \
        if ((section).at)                                                                          \
            memcpy(&(field), (section).at, sizeof(field));                                         \
    } while (0)

/* ---- data ---- */

static const char *next_reader(const void *context, int i)
{
    const struct reader *reader = dataset_reader_at(i);
    (void)context;
    return reader ? reader->name : NULL;
}

static void read_split(const struct spec_reader *r, const struct value *data, const char *name,
                       struct section *out, bool *has)
{
    const struct spec_entry e = find(data, name);
    const struct reader *reader = r->spec->data.reader;
    *has = e.v != NULL;
    const char *where = pool_printf(r->pool, "data.%s", name);
    if (!where)
        (void)diag_no_memory(r->d);
    else if (e.v)
        spec_section_read(r, out, where, reader->keys, reader->attrs_size, e, NULL);
}

static void check_data(const struct spec_reader *r)
{
    const struct data_spec *data = &r->spec->data;
    const struct section *s = &r->spec->data_section;
    if (data->has_validation && data->hold_out > 0) {
        (void)diag_error(r->d, RC_CONFIG, place(s, "hold_out"),
                         "'data.hold_out' and 'data.validation' both give the validation rows: "
                         "leave one out");
        diag_note(r->d, place(s, "validation"), "the other one is here");
    }
    if (data->normalize == NORMALIZE_NONE && is_set(s, "normalize_by"))
        (void)diag_error(r->d, RC_CONFIG, place(s, "normalize_by"),
                         "'data.normalize_by' has no effect without 'data.normalize'");
}

static void read_data(const struct spec_reader *r, struct spec_entry e)
{
    struct spec *s = r->spec;
    struct data_spec *data = &s->data;
    if (!e.v) {
        (void)diag_error(r->d, RC_CONFIG, e.loc, "the key 'data' is missing: where the rows are");
        return;
    }
    spec_section_read(r, &s->data_section, "data", spec_data_keys, sizeof(*data), e, NULL);
    TAKE(*data, s->data_section);
    if (e.v->kind != VALUE_MAP || !s->data_section.at)
        return;
    if (!find(e.v, "train").v)
        (void)diag_error(r->d, RC_CONFIG, e.loc, "'data' needs the key 'train'");
    data->has_validation = find(e.v, "validation").v != NULL;
    spec_section_read(r, &s->augment_section, "data.augment", augment_keys, sizeof(data->augment),
                      find(e.v, "augment"), NULL);
    TAKE(data->augment, s->augment_section);
    check_data(r);
    if (!data->type || !data->type[0])
        return;
    data->reader = dataset_reader(data->type);
    if (!data->reader) {
        (void)keys_unknown(r->d, place(&s->data_section, "type"), "data.type", "data type",
                           data->type, next_reader, NULL);
        return;
    }
    read_split(r, e.v, "train", &data->train, &data->has_train);
    read_split(r, e.v, "validation", &data->validation, &data->has_validation);
    read_split(r, e.v, "test", &data->test, &data->has_test);
}

/* ---- loss scale ---- */

/* `type: off` is `type: none`. */
static const struct value *without_off(const struct spec_reader *r, const struct value *map)
{
    const struct value *type = map && map->kind == VALUE_MAP ? value_get(map, "type") : NULL;
    if (!type || type->kind != VALUE_SCALAR || strcmp(type->text, "off") != 0)
        return map;
    struct value *copy = pool_zalloc(r->pool, sizeof(*copy));
    const struct value **items = pool_array(r->pool, (size_t)map->n, sizeof(*items));
    const struct value *none = spec_section_text(r, "none", type->loc);
    if (!copy || !items || !none)
        return map;
    *copy = *map;
    for (int i = 0; i < map->n; i++)
        items[i] = map->items[i] == type ? none : map->items[i];
    copy->items = items;
    return copy;
}

static void check_scale_limits(const struct spec_reader *r)
{
    const struct loss_scale_spec *a = &r->spec->loss_scale;
    const struct section *s = &r->spec->loss_scale_section;
    char low[STR_FLOAT_ROOM], high[STR_FLOAT_ROOM], init[STR_FLOAT_ROOM];
    str_float(low, a->min);
    str_float(high, a->max);
    if (a->min > a->max) {
        (void)diag_error(r->d, RC_CONFIG, place(s, is_set(s, "min") ? "min" : "max"),
                         "'loss_scale.min' %s is above 'loss_scale.max' %s", low, high);
        return;
    }
    if (a->init >= a->min && a->init <= a->max)
        return;
    const char *key = is_set(s, "init") ? "init" : a->init < a->min ? "min" : "max";
    (void)diag_error(r->d, RC_CONFIG, place(s, key),
                     "'loss_scale.init' %s must be from 'loss_scale.min' %s to 'loss_scale.max' %s",
                     str_float(init, a->init), low, high);
}

static void check_loss_scale(const struct spec_reader *r, int type)
{
    const struct section *s = &r->spec->loss_scale_section;
    struct keys_choices names;
    keys_choices_init(&names, spec_loss_scale_keys[0].choices);
    for (const struct key *row = spec_loss_scale_keys; row->name; row++)
        if (is_set(s, row->name) && !spec_key_scale_uses(type, row->name))
            (void)diag_error(r->d, RC_CONFIG, place(s, row->name),
                             "'loss_scale.%s' has no effect with type %s", row->name,
                             keys_choice(&names, type));
    if (type == SCALE_STATIC + 1 && !is_set(s, "scale"))
        (void)diag_error(r->d, RC_CONFIG, place(s, "type"),
                         "'loss_scale' needs the key 'scale' with type static");
    if (spec_key_scale_uses(type, "init"))
        check_scale_limits(r);
}

static void read_loss_scale(const struct spec_reader *r, struct spec_entry e)
{
    struct spec *s = r->spec;
    int errors = r->d->n_errors;
    const struct value *map = without_off(r, spec_section_loss_scale(r, e.v));
    spec_section_read(r, &s->loss_scale_section, "loss_scale", spec_loss_scale_keys,
                      sizeof(s->loss_scale), (struct spec_entry){map, e.loc}, NULL);
    TAKE(s->loss_scale, s->loss_scale_section);
    if (r->d->n_errors == errors && s->loss_scale_section.at)
        check_loss_scale(r, s->loss_scale.type);
}

/* ---- optimizer and schedule ---- */

static const char *next_optim(const void *context, int i)
{
    const struct optim *optim = optim_at(i);
    (void)context;
    return optim ? optim->name : NULL;
}

/* The type decides which table the other keys come from, so it is looked at first. */
static const struct optim *find_optim(const struct value *map)
{
    const struct value *type = map && map->kind == VALUE_MAP ? value_get(map, "type") : NULL;
    if (!type)
        return optim_find("adamw");
    return type->kind == VALUE_SCALAR ? optim_find(type->text) : NULL;
}

static void check_decay(const struct spec_reader *r)
{
    struct optimizer_spec *a = &r->spec->optimizer;
    struct section *s = &r->spec->optimizer_section;
    if (!is_set(s, "weight_decay")) {
        a->weight_decay = strcmp(a->type, "adamw") == 0 ? 0.01 : 0;
        ((struct optimizer_spec *)s->at)->weight_decay = a->weight_decay;
    }
    if (is_set(s, "decay") && a->weight_decay == 0)
        (void)diag_error(r->d, RC_CONFIG, place(s, "decay"),
                         "'optimizer.decay' has no effect with weight_decay 0");
}

static void read_optimizer(const struct spec_reader *r, struct spec_entry e)
{
    struct spec *s = r->spec;
    struct section attrs = {0};
    const struct value *map = spec_section_expand(r, "type", e.v);
    const struct optim *optim = find_optim(map);
    int errors = r->d->n_errors;
    if (optim) {
        spec_section_read_both(
            r, "optimizer",
            (struct spec_half){&s->optimizer_section, spec_optimizer_keys, sizeof(s->optimizer)},
            (struct spec_half){&attrs, optim->keys, optim->attrs_size},
            (struct spec_entry){map, e.loc});
    } else { /* its own keys cannot be told from wrong ones */
        spec_section_read(
            r, &s->optimizer_section, "optimizer", spec_optimizer_keys, sizeof(s->optimizer),
            (struct spec_entry){spec_section_part(r, map, spec_optimizer_keys), e.loc}, NULL);
    }
    TAKE(s->optimizer, s->optimizer_section);
    s->optimizer.optim = optim;
    s->optimizer.attrs = attrs;
    if (!s->optimizer_section.at || (optim && r->d->n_errors > errors))
        return;
    if (!optim_find(s->optimizer.type)) {
        (void)keys_unknown(r->d, place(&s->optimizer_section, "type"), "optimizer.type",
                           "optimizer", s->optimizer.type, next_optim, NULL);
        return;
    }
    if (!optim)
        return; /* `type` is no text */
    check_decay(r);
    spec_go_on(optim_check(optim, &s->optimizer.attrs, r->d));
}

static void read_schedule(const struct spec_reader *r, struct spec_entry e)
{
    struct spec *s = r->spec;
    int errors = r->d->n_errors;
    spec_section_read(r, &s->schedule_section, "schedule", schedule_keys, sizeof(s->schedule),
                      (struct spec_entry){spec_section_expand(r, "type", e.v), e.loc}, NULL);
    TAKE(s->schedule, s->schedule_section);
    if (r->d->n_errors == errors && s->schedule_section.at)
        spec_go_on(schedule_check(&s->schedule_section, s->train.steps, r->d));
}

/* ---- train, checkpoint, log ---- */

/* every_steps and every_epochs are alternatives: the default of one goes when the other is given.
 */
static void check_every(const struct spec_reader *r, const struct section *s, int64_t *every_steps,
                        int64_t *every_epochs)
{
    if (*every_steps == 0 || *every_epochs == 0)
        return;
    if (!is_set(s, "every_epochs")) {
        *every_epochs = 0;
        return;
    }
    (void)diag_error(r->d, RC_CONFIG, place(s, "every_epochs"),
                     "'%s.every_epochs' and '%s.every_steps' exclude each other", s->where,
                     s->where);
    diag_note(r->d, place(s, "every_steps"), "the other one is here");
}

static bool has_validation(const struct data_spec *data)
{
    return data->has_validation || data->hold_out > 0;
}

static void check_eval(const struct spec_reader *r)
{
    const struct spec *s = r->spec;
    const struct section *section = &s->eval_section;
    const struct eval_spec *a = section->at;
    const struct op *loss = s->loss.op;
    bool data_known = s->data.reader != NULL;
    if (a->split == EVAL_VALIDATION && data_known && !has_validation(&s->data))
        (void)diag_error(r->d, RC_CONFIG, place(section, "split"),
                         "there are no validation rows: give 'data.validation' or 'data.hold_out'");
    if (a->split == EVAL_TEST && data_known && !s->data.has_test)
        (void)diag_error(r->d, RC_CONFIG, place(section, "split"),
                         "there are no test rows: give 'data.test'");
    if (a->metric == METRIC_ACCURACY && loss && loss->kind == OP_LOSS && !loss->has_accuracy)
        (void)diag_error(r->d, RC_CONFIG, place(section, "metric"),
                         "the loss '%s' knows no accuracy", loss->name);
    if (a->patience > 0 && a->every_steps == 0 && a->every_epochs == 0)
        (void)diag_error(r->d, RC_CONFIG, place(section, "patience"),
                         "'train.eval.patience' has no effect without evaluations: set every_steps "
                         "or every_epochs");
}

static void read_train(const struct spec_reader *r, struct spec_entry e)
{
    struct spec *s = r->spec;
    const struct spec_entry eval = find(e.v, "eval");
    int errors = r->d->n_errors;
    spec_section_read(r, &s->train_section, "train", spec_train_keys, sizeof(s->train), e, NULL);
    spec_section_read(r, &s->eval_section, "train.eval", spec_eval_keys, sizeof(s->train.eval),
                      eval, NULL);
    struct train_spec *train = s->train_section.at;
    struct eval_spec *ev = s->eval_section.at;
    if (!train || !ev)
        return;
    if (is_set(&s->train_section, "epochs") && is_set(&s->train_section, "steps")) {
        (void)diag_error(r->d, RC_CONFIG, place(&s->train_section, "steps"),
                         "'train.steps' and 'train.epochs' exclude each other");
        diag_note(r->d, place(&s->train_section, "epochs"), "the other one is here");
    }
    if (train->epochs == 0 && train->steps == 0)
        train->epochs = 10;
    check_every(r, &s->eval_section, &ev->every_steps, &ev->every_epochs);
    s->train = *train;
    s->train.eval = *ev;
    if (r->d->n_errors == errors)
        check_eval(r);
}

static void read_checkpoint(const struct spec_reader *r, struct spec_entry e)
{
    struct spec *s = r->spec;
    spec_section_read(r, &s->checkpoint_section, "checkpoint", spec_checkpoint_keys,
                      sizeof(s->checkpoint), e, NULL);
    struct checkpoint_spec *c = s->checkpoint_section.at;
    if (c)
        check_every(r, &s->checkpoint_section, &c->every_steps, &c->every_epochs);
    TAKE(s->checkpoint, s->checkpoint_section);
}

/* ---- the whole ---- */

static void read_all(const struct spec_reader *r, const struct value *root)
{
    struct spec *s = r->spec;
    struct spec_entry e;
    if (root->kind != VALUE_MAP) {
        (void)diag_error(r->d, RC_CONFIG, root->loc,
                         "a config must be a map with the keys data, model, loss ..., not %s",
                         value_kind_name(root));
        return;
    }
    const struct loc whole = {s->path, 0, 0};
    spec_section_read(r, &s->top_section, "", spec_top_keys, sizeof(struct spec_top),
                      (struct spec_entry){root, whole}, NULL);
    if (s->top_section.at)
        s->seed = ((const struct spec_top *)s->top_section.at)->seed;
    e = find(root, "data");
    read_data(r, e.v ? e : (struct spec_entry){NULL, whole});
    spec_model_read(r, find(root, "model").v, whole);
    spec_model_read_loss(r, find(root, "loss").v, whole);
    e = find(root, "precision");
    spec_precision_read(r, e.v, e.loc);
    spec_precision_check(r, find(root, "model").v);
    read_loss_scale(r, find(root, "loss_scale"));
    read_optimizer(r, find(root, "optimizer"));
    read_train(r, find(root, "train"));
    read_schedule(r, find(root, "schedule"));
    read_checkpoint(r, find(root, "checkpoint"));
    e = find(root, "log");
    spec_section_read(r, &s->log_section, "log", spec_log_keys, sizeof(s->log), e, NULL);
    TAKE(s->log, s->log_section);
}

/* Are all errors from `from` on those of --set? */
static bool only_sets_are_wrong(const struct diag *d, int from)
{
    for (int i = from; i < d->n_items; i++)
        if (d->items[i].kind == DIAG_ERROR && strncmp(d->items[i].text, "--set ", 6) != 0)
            return false;
    return true;
}

/* Where the diag stood before this config. */
struct mark {
    int errors, items;
    bool clean;
};

static struct mark mark_of(const struct diag *d)
{
    return (struct mark){d->n_errors, d->n_items, d->rc == RC_OK};
}

/* From the tree on; it may be there, with keys that stand twice, although rc says wrong. */
static enum rc finish(struct spec *out, enum rc rc, const struct value *root,
                      const char *const *sets, int n_sets, struct mark mark, struct diag *d)
{
    struct spec_reader r = {out, &out->pool, d};
    if (root)
        read_all(&r, spec_set_apply(&r, root, sets, n_sets));
    diag_sort(d, mark.items);
    if (d->n_errors == mark.errors)
        return rc;
    if (d->rc == RC_CONFIG && mark.clean && only_sets_are_wrong(d, mark.items))
        d->rc = RC_USAGE;
    spec_release(out);
    return mark.clean ? d->rc : RC_CONFIG;
}

/* Path, folder and name of the run. */
static enum rc set_names(struct spec *s, const char *path, const char *folder, struct diag *d)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    size_t n = strlen(file);
    if (n > 5 && strcmp(file + n - 5, ".yaml") == 0)
        n -= 5;
    else if (n > 4 && strcmp(file + n - 4, ".yml") == 0)
        n -= 4;
    s->path = pool_strdup(&s->pool, path);
    s->name = pool_strndup(&s->pool, file, n);
    if (folder)
        s->folder = pool_strdup(&s->pool, folder);
    else if (!slash)
        s->folder = ".";
    else
        s->folder = pool_strndup(&s->pool, path, slash == path ? 1 : (size_t)(slash - path));
    return s->path && s->name && s->folder ? RC_OK : diag_no_memory(d);
}

enum rc config_load(struct spec *out, const char *path, const char *const *sets, int n_sets,
                    struct diag *d)
{
    const struct value *root = NULL;
    const struct mark mark = mark_of(d);
    *out = (struct spec){0};
    pool_init(&out->pool);
    enum rc rc = set_names(out, path, NULL, d);
    if (rc == RC_OK)
        rc = yaml_tree_read(&root, out->path, &out->pool, d);
    return finish(out, rc, root, sets, n_sets, mark, d);
}

enum rc config_load_text(struct spec *out, const char *text, size_t length, const char *name,
                         const char *folder, const char *const *sets, int n_sets, struct diag *d)
{
    const struct value *root = NULL;
    const struct mark mark = mark_of(d);
    *out = (struct spec){0};
    pool_init(&out->pool);
    enum rc rc = set_names(out, name, folder, d);
    if (rc == RC_OK)
        rc = yaml_tree_parse(&root, text, length, out->path, &out->pool, d);
    return finish(out, rc, root, sets, n_sets, mark, d);
}

void spec_release(struct spec *s)
{
    pool_release(&s->pool);
    *s = (struct spec){0};
}
