/* spec_model.c: `model` and `loss`: words to ops, their keys to attrs, blocks to nested lists.
 * What a layer reads (`from`) and whether shapes fit is for the plan to find out. */
#include "config.h"

#include "config/spec_read.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_DEPTH = 16, MAX_LAYERS = 100000, MAX_NAME = 64 };

/* A list of layers while it is being read. */
struct level {
    const struct spec_reader *r;
    const char *where; /* "model", "model.blocks" */
    int depth;
    int64_t copies; /* product of all `times` around it */
    int64_t *total; /* layers after expansion */
};

static const char block_words[][12] = {"residual", "repeat"};

/* What may be written as a layer: the blocks, then the ops. */
static const char *next_layer(const void *context, int i)
{
    (void)context;
    if (i < (int)COUNT_OF(block_words))
        return block_words[i];
    i -= (int)COUNT_OF(block_words);
    const struct op *op;
    for (int k = 0; (op = op_at(k)) != NULL; k++)
        if (op->kind == OP_LAYER && i-- == 0)
            return op->name;
    return NULL;
}

static const char *next_loss(const void *context, int i)
{
    const struct op *op;
    (void)context;
    for (int k = 0; (op = op_at(k)) != NULL; k++)
        if (op->kind == OP_LOSS && i-- == 0)
            return op->name;
    return NULL;
}

static void report_unknown(const struct level *l, const struct value *word)
{
    const struct op *op = op_find(word->text);
    const char *home = spec_key_home(word->text);
    if (op && op->kind == OP_LOSS) {
        (void)diag_error(l->r->d, RC_CONFIG, word->loc, "'%s' is a loss: write it under 'loss'",
                         word->text);
        return;
    }
    (void)keys_unknown(l->r->d, word->loc, l->where, "layer type", word->text, next_layer, NULL);
    if (home && !str_nearest(word->text, next_layer, NULL))
        diag_note(l->r->d, word->loc, "it is a key outside of the model: '%s'", home);
}

static void check_name(const struct level *l, const struct layer *layer, struct loc loc)
{
    size_t n = 0;
    for (const char *p = layer->name; *p; p++, n++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              *p == '_' || *p == '-')) {
            (void)diag_error(l->r->d, RC_CONFIG, loc,
                             "the name '%.40s' must hold only letters, digits, _ and -",
                             layer->name);
            return;
        }
    if (n > MAX_NAME)
        (void)diag_error(l->r->d, RC_CONFIG, loc, "the name '%.20s...' is longer than %d bytes",
                         layer->name, MAX_NAME);
}

/* Takes name, from and times over from the section of common keys. */
static void take_common(const struct level *l, struct layer *layer, const char *name,
                        const struct section *s)
{
    const struct layer *given = s->at;
    struct key_origin origin = {layer->loc, false};
    layer->name = name;
    if (!given || !s->origin)
        return;
    origin = keys_origin(s, "name");
    layer->named = origin.set && given->name[0];
    if (layer->named)
        check_name(l, layer, origin.loc);
    layer->from = given->from;
    layer->from_loc = keys_origin(s, "from").loc;
    layer->times = given->times;
}

static void read_level(const struct level *l, const struct value *list, int *n_out,
                       struct layer **out);

/* Books n layers of this list; false: too many. */
static bool book(const struct level *l, int n, struct loc loc)
{
    if (n > SPEC_MAX_LIST) {
        (void)diag_error(l->r->d, RC_CONFIG, loc,
                         "more than %d layers in one list: write them with 'repeat'",
                         SPEC_MAX_LIST);
        return false;
    }
    *l->total += n * l->copies;
    if (*l->total <= MAX_LAYERS)
        return true;
    (void)diag_error(l->r->d, RC_CONFIG, loc, "more than %d layers, with repeats written out",
                     MAX_LAYERS);
    return false;
}

static void read_projection(const struct level *l, struct layer *layer, const char *where,
                            const struct value *list)
{
    const char *inside = pool_printf(l->r->pool, "%s.projection", where);
    struct level deeper = {l->r, inside, l->depth + 1, l->copies, l->total};
    if (!inside)
        return (void)diag_no_memory(l->r->d);
    if (list->kind != VALUE_LIST || list->n == 0)
        return (void)diag_error(l->r->d, RC_CONFIG, list->loc,
                                "'%s' must be a list of layers with at least one", inside);
    read_level(&deeper, list, &layer->n_projection, &layer->projection);
}

static void read_block(const struct level *l, struct layer *layer, const char *where,
                       const struct value *body)
{
    bool repeats = layer->kind == LAYER_REPEAT;
    struct section common = {0};
    const struct value *map = body && body->kind == VALUE_LIST && !repeats ? NULL : body;
    spec_section_read(l->r, &common, where, repeats ? spec_repeat_keys : spec_residual_keys,
                      sizeof(struct layer), (struct spec_entry){map, layer->loc}, NULL);
    take_common(l, layer, layer->name, &common);
    if (!repeats)
        layer->times = 1;
    const struct value *inner = body && body->kind == VALUE_MAP ? value_get(body, "layers")
                                : repeats                       ? NULL
                                                                : body;
    if (!inner || inner->kind != VALUE_LIST || inner->n == 0) {
        (void)diag_error(l->r->d, RC_CONFIG, inner ? inner->loc : layer->loc,
                         "'%s' needs a list of layers with at least one", where);
        return;
    }
    struct level deeper = {l->r, where, l->depth + 1, l->copies, l->total};
    if (layer->times > 0 && l->copies <= MAX_LAYERS)
        deeper.copies = l->copies * layer->times;
    read_level(&deeper, inner, &layer->n_layers, &layer->layers);
    const struct value *projection =
        !repeats && body->kind == VALUE_MAP ? value_get(body, "projection") : NULL;
    if (projection)
        read_projection(l, layer, where, projection);
}

static void read_op(const struct level *l, struct layer *layer, const char *where,
                    const struct value *body)
{
    struct section common = {0};
    if (body && body->kind != VALUE_MAP && (body->kind != VALUE_SCALAR || body->text[0]))
        return (void)diag_error(l->r->d, RC_CONFIG, body->loc,
                                "'%s' must be a map of its keys, as in {name: x}, not %s", where,
                                value_kind_name(body));
    spec_section_read_both(
        l->r, where, (struct spec_half){&layer->attrs, layer->op->keys, layer->op->attrs_size},
        (struct spec_half){&common, spec_layer_keys, sizeof(struct layer)},
        (struct spec_entry){body, layer->loc});
    take_common(l, layer, layer->name, &common);
}

static void report_shape(const struct level *l, const struct value *item)
{
    if (item->kind != VALUE_MAP || item->n == 0) {
        (void)diag_error(l->r->d, RC_CONFIG, item->loc,
                         "a layer of '%s' must be a name, or a name with its keys, not %s",
                         l->where, item->kind == VALUE_MAP ? "an empty map" : "a list");
        return;
    }
    (void)diag_error(l->r->d, RC_CONFIG, item->keys[1]->loc,
                     "'%.40s' stands beside the layer '%.40s' and not inside it",
                     item->keys[1]->text, item->keys[0]->text);
    diag_note(l->r->d, item->keys[1]->loc, "indent the keys of a layer deeper than its name");
}

static void read_layer(const struct level *l, const struct value *item, const char *name,
                       struct layer *layer)
{
    struct spec_name_item split = spec_name_split(item);
    layer->name = name;
    layer->loc = item->loc;
    if (!split.word)
        return report_shape(l, item);
    layer->loc = split.word->loc;
    const char *where = pool_printf(l->r->pool, "%s.%s", l->where, name);
    if (!where)
        return (void)diag_no_memory(l->r->d);
    bool residual = strcmp(split.word->text, "residual") == 0;
    if (residual || strcmp(split.word->text, "repeat") == 0) {
        layer->kind = residual ? LAYER_RESIDUAL : LAYER_REPEAT;
        return read_block(l, layer, where, split.body);
    }
    layer->kind = LAYER_OP;
    layer->times = 1;
    layer->op = op_find(split.word->text);
    if (!layer->op || layer->op->kind != OP_LAYER)
        return report_unknown(l, split.word);
    read_op(l, layer, where, split.body);
}

static void check_duplicates(const struct level *l, const struct layer *layers, int n)
{
    for (int i = 1; i < n; i++)
        for (int k = 0; k < i; k++) {
            if (strcmp(layers[i].name, layers[k].name) != 0)
                continue;
            (void)diag_error(l->r->d, RC_CONFIG, layers[i].loc,
                             "two layers of '%s' are called '%.64s'", l->where, layers[i].name);
            diag_note(l->r->d, layers[k].loc, "the first one is here");
            break;
        }
}

static void read_level(const struct level *l, const struct value *list, int *n_out,
                       struct layer **out)
{
    if (l->depth > MAX_DEPTH) {
        (void)diag_error(l->r->d, RC_CONFIG, list->loc, "blocks nested deeper than %d levels",
                         MAX_DEPTH);
        return;
    }
    if (!book(l, list->n, list->loc))
        return;
    const char **names = spec_name_list(l->r->pool, list);
    *out = pool_array(l->r->pool, (size_t)list->n, sizeof(**out));
    if (!names || !*out)
        return (void)diag_no_memory(l->r->d);
    *n_out = list->n;
    for (int i = 0; i < list->n && !diag_is_full(l->r->d); i++)
        read_layer(l, list->items[i], names[i], &(*out)[i]);
    if (!diag_is_full(l->r->d))
        check_duplicates(l, *out, list->n);
}

void spec_model_read(const struct spec_reader *r, const struct value *model, struct loc loc)
{
    int64_t total = 0;
    struct level top = {r, "model", 1, 1, &total};
    if (!model)
        (void)diag_error(r->d, RC_CONFIG, loc, "the key 'model' is missing: a list of layers");
    else if (model->kind != VALUE_LIST)
        (void)diag_error(r->d, RC_CONFIG, model->loc, "'model' must be a list of layers, not %s",
                         value_kind_name(model));
    else if (model->n == 0)
        (void)diag_error(r->d, RC_CONFIG, model->loc, "'model' must have at least one layer");
    else
        read_level(&top, model, &r->spec->n_layers, &r->spec->layers);
}

void spec_model_read_loss(const struct spec_reader *r, const struct value *loss, struct loc loc)
{
    struct layer *layer = &r->spec->loss;
    if (!loss) {
        (void)diag_error(r->d, RC_CONFIG, loc, "the key 'loss' is missing: what is made small");
        return;
    }
    struct spec_name_item split = spec_name_split(loss);
    *layer = (struct layer){.kind = LAYER_OP, .name = "loss", .loc = loss->loc, .times = 1};
    if (!split.word || !split.word->text[0])
        return (void)diag_error(r->d, RC_CONFIG, loss->loc,
                                "'loss' must be one loss, or one loss with its keys, not %s",
                                loss->kind == VALUE_MAP ? "a map of several keys"
                                                        : value_kind_name(loss));
    layer->loc = split.word->loc;
    layer->op = op_find(split.word->text);
    if (layer->op && layer->op->kind == OP_LAYER)
        return (void)diag_error(r->d, RC_CONFIG, layer->loc,
                                "'%s' is a layer, no loss: write it under 'model'",
                                split.word->text);
    if (!layer->op || layer->op->kind != OP_LOSS)
        return (void)keys_unknown(r->d, layer->loc, "loss", "loss", split.word->text, next_loss,
                                  NULL);
    const char *where = pool_printf(r->pool, "loss.%s", layer->op->name);
    if (!where)
        return (void)diag_no_memory(r->d);
    spec_section_read(r, &layer->attrs, where, layer->op->keys, layer->op->attrs_size,
                      (struct spec_entry){split.body, layer->loc}, NULL);
}
