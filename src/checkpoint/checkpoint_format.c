/* checkpoint_format.c: the header of a checkpoint, written as JSON (see checkpoint.h).
 * What it says is read back in checkpoint_parse.c.
 *
 * Invariant: what a run needs to go on bit for bit survives: integers as they are, floats with 17
 * digits, non-finite floats as "inf", "-inf" and "nan".
 * To add to struct progress: a member there and a row here. A file without the row is then refused,
 * so raise CHECKPOINT_FORMAT. */
#include "config.h"

#include "checkpoint/checkpoint_format.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#define ROW(member, type, help)                                                                    \
    {                                                                                              \
#member, type, offsetof(struct progress, member), help                                     \
    }

const struct progress_field progress_fields[] = {
    ROW(step, PROGRESS_INT, "optimizer steps attempted"),
    ROW(applied, PROGRESS_INT, "updates committed"),
    ROW(skipped, PROGRESS_INT, "steps dropped for a non-finite value"),
    ROW(empty, PROGRESS_INT, "steps without a valid target, neither applied nor skipped"),
    ROW(skips_in_a_row, PROGRESS_INT, "steps skipped since the last one that was not"),
    ROW(draws, PROGRESS_INT, "micro-batches run, the counter that keys dropout"),
    ROW(epoch, PROGRESS_INT, "epoch, from 0"),
    ROW(position, PROGRESS_INT, "rows of this epoch already used"),
    ROW(segment, PROGRESS_INT, "1 for the first start, one more for each resume"),
    ROW(epoch_loss, PROGRESS_FLOAT, "sum of the loss over the valid targets of this epoch so far"),
    ROW(epoch_count, PROGRESS_INT, "valid targets of this epoch so far"),
    ROW(loss_scale, PROGRESS_FLOAT, "loss scale of the next step"),
    ROW(good_steps, PROGRESS_INT, "clean steps since the loss scale last changed"),
    ROW(hysteresis_left, PROGRESS_INT, "overflows left before the loss scale is lowered"),
    ROW(has_best, PROGRESS_BOOL, "an evaluation has been made, best_metric and best_step count"),
    ROW(best_metric, PROGRESS_FLOAT, "best evaluation so far"),
    ROW(best_step, PROGRESS_INT, "step of the best evaluation"),
    ROW(evals_without_gain, PROGRESS_INT, "evaluations since the best one"),
    {NULL, PROGRESS_INT, 0, NULL},
};

/* JSON has no inf and no NaN. */
static json_t *float_json(double x)
{
    if (isfinite(x))
        return json_real(x);
    return json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

static json_t *progress_json(const struct progress *p)
{
    json_t *map = json_object();
    int bad = 0;
    for (const struct progress_field *f = progress_fields; f->name; f++) {
        const void *at = (const char *)p + f->offset;
        json_t *value;
        if (f->type == PROGRESS_INT) {
            BUG_IF(*(const int64_t *)at < 0);
            value = json_integer(*(const int64_t *)at);
        } else if (f->type == PROGRESS_FLOAT) {
            value = float_json(*(const double *)at);
        } else {
            value = json_boolean(*(const bool *)at);
        }
        bad |= json_object_set_new(map, f->name, value);
    }
    if (bad) {
        json_decref(map);
        return NULL;
    }
    return map;
}

static json_t *entry_json(const struct checkpoint_entry *e)
{
    json_t *shape = json_array(), *planes = json_array();
    for (int i = 0; i < e->rank; i++)
        json_array_append_new(shape, json_integer(e->dims[i]));
    for (int i = 0; i < e->n_planes; i++)
        json_array_append_new(planes,
                              json_pack("{s:I, s:s}", "bytes", (json_int_t)e->plane_bytes[i],
                                        "packing", e->plane_deflated[i] ? "deflate" : "stored"));
    return json_pack("{s:s, s:s, s:o, s:I, s:I, s:I, s:o}", "name", e->name, "dtype",
                     dtype_name(e->dtype), "shape", shape, "offset", (json_int_t)e->offset,
                     "stored", (json_int_t)e->stored, "crc32", (json_int_t)e->crc, "planes",
                     planes);
}

/* json_dumps() fails on a tree in which something is missing: on a text that is not UTF-8 (or on
 * no memory) the setter gives up, so each one is checked here. */
static bool header_fill(json_t *head, const struct checkpoint_content *content,
                        const struct checkpoint_entry *entries)
{
    int bad = json_object_set_new(head, "format", json_integer(CHECKPOINT_FORMAT));
    bad |= json_object_set_new(head, "version", json_string(PACKAGE_VERSION));
    bad |= json_object_set_new(head, "fingerprint", json_string(content->fingerprint));
    if (content->data)
        bad |= json_object_set_new(head, "data", json_string(content->data));
    bad |= json_object_set_new(head, "progress", progress_json(&content->progress));

    json_t *names = json_array(), *tensors = json_array();
    bad |= json_object_set_new(head, "class_names", names);
    bad |= json_object_set_new(head, "tensors", tensors);
    for (int i = 0; i < content->n_class_names; i++)
        bad |= json_array_append_new(names, json_string(content->class_names[i]));
    for (int i = 0; i < content->n_tensors; i++)
        bad |= json_array_append_new(tensors, entry_json(&entries[i]));
    bad |= json_object_set_new(head, "config", json_string(content->config));
    return bad == 0;
}

enum rc checkpoint_format_text(const struct checkpoint_content *content,
                               const struct checkpoint_entry *entries, char **text, struct diag *d)
{
    json_t *head = json_object();
    *text = NULL;
    if (head && header_fill(head, content, entries))
        *text = json_dumps(head, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(head);
    if (!*text)
        return diag_error(d, RC_FAILED, NOWHERE,
                          "cannot describe the checkpoint: a name or the config is not UTF-8 text, "
                          "or memory is out");
    return RC_OK;
}
