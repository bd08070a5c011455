/* config_write.c: the effective config: every default written out, short forms in full, every layer
 * with its name. Valid YAML that gives the same spec. Keys without effect are left out, because the
 * reader refuses them. */
#include "config.h"

#include "config/spec_read.h"

#include <inttypes.h>
#include <string.h>

static void write_split(const struct section *s, const char *name, bool has, struct str *out)
{
    if (!has)
        return;
    str_printf(out, "  %s:%s\n", name, s->rows && s->rows[0].name ? "" : " {}");
    keys_write(s, out, 4);
}

static void write_data(const struct spec *s, struct str *out)
{
    const struct data_spec *data = &s->data;
    str_puts(out, "data:\n");
    for (const struct key *row = spec_data_keys; row->name; row++) {
        bool idle = (strcmp(row->name, "normalize_by") == 0 && data->normalize == NORMALIZE_NONE) ||
                    (strcmp(row->name, "hold_out") == 0 && data->has_validation);
        if (!idle)
            keys_write_row(&s->data_section, row->name, out, 2);
    }
    if (augment_is_on(&data->augment)) {
        str_puts(out, "  augment:\n");
        keys_write(&s->augment_section, out, 4);
    }
    write_split(&data->train, "train", data->has_train, out);
    write_split(&data->validation, "validation", data->has_validation, out);
    write_split(&data->test, "test", data->has_test, out);
}

static void write_from(const struct layer *layer, struct str *out, int indent)
{
    const char *const *names = layer->from.at;
    if (layer->from.n == 0)
        return;
    str_printf(out, "%*sfrom: [", indent, "");
    for (int i = 0; i < layer->from.n; i++) {
        str_puts(out, i ? ", " : "");
        keys_write_scalar(out, names[i]);
    }
    str_puts(out, "]\n");
}

static void write_layers(const struct layer *layers, int n, struct str *out, int indent)
{
    static const char *const words[] = {[LAYER_RESIDUAL] = "residual", [LAYER_REPEAT] = "repeat"};
    for (int i = 0; i < n; i++) {
        const struct layer *layer = &layers[i];
        bool is_op = layer->kind == LAYER_OP;
        str_printf(out, "%*s- %s:\n", indent, "", is_op ? layer->op->name : words[layer->kind]);
        str_printf(out, "%*sname: ", indent + 4, "");
        keys_write_scalar(out, layer->name);
        str_puts(out, "\n");
        write_from(layer, out, indent + 4);
        if (is_op)
            keys_write(&layer->attrs, out, indent + 4);
        if (layer->kind == LAYER_REPEAT)
            str_printf(out, "%*stimes: %" PRId64 "\n", indent + 4, "", layer->times);
        if (is_op)
            continue;
        str_printf(out, "%*slayers:\n", indent + 4, "");
        write_layers(layer->layers, layer->n_layers, out, indent + 6);
        if (layer->n_projection == 0)
            continue;
        str_printf(out, "%*sprojection:\n", indent + 4, "");
        write_layers(layer->projection, layer->n_projection, out, indent + 6);
    }
}

static void write_loss(const struct spec *s, struct str *out)
{
    struct str keys;
    str_init(&keys);
    keys_write(&s->loss.attrs, &keys, 4);
    if (keys.length > 0)
        str_printf(out, "loss:\n  %s:\n%s", s->loss.op->name, keys.text);
    else
        str_printf(out, "loss: %s\n", s->loss.op->name);
    out->failed = out->failed || keys.failed;
    str_release(&keys);
}

/* One list of precision rules; true where there was anything to write. */
static bool write_list(const struct precision_spec *p, enum dtype dtype, enum rule_action action,
                       bool is_first, struct str *out)
{
    int n = 0;
    for (int i = 0; i < p->n_rules; i++) {
        if (p->rules[i].dtype != dtype || p->rules[i].action != action)
            continue;
        if (n == 0 && is_first)
            str_printf(out, "  %s:\n", dtype_name(dtype));
        str_puts(out, n ? ", " : action == RULE_ALLOW ? "    allow: [" : "    deny: [");
        keys_write_scalar(out, p->rules[i].selector);
        n++;
    }
    str_puts(out, n ? "]\n" : "");
    return n > 0;
}

static void write_precision(const struct spec *s, struct str *out)
{
    static const enum dtype types[] = {DTYPE_F32, DTYPE_BF16, DTYPE_F16};
    str_puts(out, "precision:\n");
    keys_write(&s->precision_section, out, 2);
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        bool any = write_list(&s->precision, types[i], RULE_ALLOW, true, out);
        (void)write_list(&s->precision, types[i], RULE_DENY, !any, out);
    }
}

static void write_loss_scale(const struct spec *s, struct str *out)
{
    str_puts(out, "loss_scale:\n");
    for (const struct key *row = spec_loss_scale_keys; row->name; row++)
        if (spec_key_scale_uses(s->loss_scale.type, row->name))
            keys_write_row(&s->loss_scale_section, row->name, out, 2);
}

static void write_optimizer(const struct spec *s, struct str *out)
{
    str_puts(out, "optimizer:\n");
    for (const struct key *row = spec_optimizer_keys; row->name; row++)
        if (strcmp(row->name, "decay") != 0 || s->optimizer.weight_decay != 0)
            keys_write_row(&s->optimizer_section, row->name, out, 2);
    keys_write(&s->optimizer.attrs, out, 2);
}

static void write_schedule(const struct spec *s, struct str *out)
{
    str_puts(out, "schedule:\n");
    for (const struct key *row = schedule_keys; row->name; row++)
        if (schedule_uses(s->schedule.type, row->name))
            keys_write_row(&s->schedule_section, row->name, out, 2);
}

static void write_train(const struct spec *s, struct str *out)
{
    str_puts(out, "train:\n");
    for (const struct key *row = spec_train_keys; row->name; row++) {
        bool idle = (strcmp(row->name, "epochs") == 0 && s->train.epochs == 0) ||
                    (strcmp(row->name, "steps") == 0 && s->train.steps == 0);
        if (!idle)
            keys_write_row(&s->train_section, row->name, out, 2);
    }
    str_puts(out, "  eval:\n");
    keys_write(&s->eval_section, out, 4);
}

void config_write(const struct spec *s, struct str *out)
{
    keys_write(&s->top_section, out, 0);
    write_data(s, out);
    str_puts(out, "model:\n");
    write_layers(s->layers, s->n_layers, out, 2);
    write_loss(s, out);
    write_precision(s, out);
    write_loss_scale(s, out);
    write_optimizer(s, out);
    write_schedule(s, out);
    write_train(s, out);
    str_puts(out, "checkpoint:\n");
    keys_write(&s->checkpoint_section, out, 2);
    str_puts(out, "log:\n");
    keys_write(&s->log_section, out, 2);
}
