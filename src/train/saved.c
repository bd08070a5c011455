/* saved.c: see saved.h. */
#include "config.h"

#include "train/saved.h"

#include <stdlib.h>
#include <string.h>

static const char shift_name[] = "data.shift", factor_name[] = "data.factor";

static bool is_saved(const struct tensor *t)
{
    return t->role == ROLE_PARAM || t->role == ROLE_STATE || t->role == ROLE_STATISTIC;
}

static struct checkpoint_tensor constants(const char *name, float *data, int64_t n)
{
    return (struct checkpoint_tensor){
        .name = name, .dtype = DTYPE_F32, .rank = 1, .dims = {n}, .data = data};
}

enum rc saved_write(const struct plan *plan, const struct run_data *data,
                    const struct progress *progress, const char *path, struct diag *d)
{
    const struct graph *g = &plan->graph;
    const struct normalizer *norm = &data->normalizer;
    struct checkpoint_tensor *tensors = calloc((size_t)g->n_tensors + 2, sizeof(*tensors));
    struct str config;
    int n = 0;
    TRY_ALLOC(tensors, d);
    for (int i = 0; i < g->n_tensors; i++) {
        const struct tensor *t = graph_tensor(g, i);
        if (!is_saved(t))
            continue;
        struct checkpoint_tensor *to = &tensors[n++];
        *to = (struct checkpoint_tensor){t->name, t->dtype, t->rank, {0}, t->data};
        memcpy(to->dims, t->dims, sizeof(to->dims));
    }
    tensors[n++] = constants(shift_name, norm->shift, norm->columns);
    tensors[n++] = constants(factor_name, norm->factor, norm->columns);
    str_init(&config);
    config_write(plan->spec, &config);
    struct checkpoint_content content = {
        .config = config.text,
        .fingerprint = plan->fingerprint,
        .data = data->fingerprint,
        .progress = *progress,
        .n_class_names = data->train.n_class_names,
        .class_names = (const char *const *)data->train.class_names,
        .n_tensors = n,
        .tensors = tensors};
    enum rc rc = config.failed ? diag_no_memory(d)
                               : checkpoint_write(path, &content,
                                                  (int)plan->spec->checkpoint.level, d);
    str_release(&config);
    free(tensors);
    return rc;
}

static bool same_shape(const struct checkpoint_entry *e, const struct tensor *t)
{
    if (e->rank != t->rank || e->dtype != t->dtype)
        return false;
    for (int i = 0; i < t->rank; i++)
        if (e->dims[i] != t->dims[i])
            return false;
    return true;
}

static const char *entry_shape(char out[TENSOR_SHAPE_ROOM], const struct checkpoint_entry *e)
{
    struct tensor t = {.rank = e->rank};
    memcpy(t.dims, e->dims, sizeof(t.dims));
    return tensor_shape(out, &t);
}

/* Tells every tensor that is missing, too many or of another shape. */
static enum rc compare(const struct checkpoint *c, const struct plan *plan, struct diag *d)
{
    const struct graph *g = &plan->graph;
    struct loc loc = {c->path, 0, 0};
    char want[TENSOR_SHAPE_ROOM], have[TENSOR_SHAPE_ROOM];
    enum rc rc = RC_OK;
    for (int i = 0; i < g->n_tensors; i++) {
        const struct tensor *t = graph_tensor(g, i);
        const struct checkpoint_entry *e = is_saved(t) ? checkpoint_find(c, t->name) : NULL;
        if (is_saved(t) && !e)
            rc = diag_error(d, RC_DATA, loc, "tensor '%s' %s is not in the checkpoint", t->name,
                            tensor_shape(want, t));
        else if (e && !same_shape(e, t))
            rc = diag_error(d, RC_DATA, loc, "tensor '%s': the model has %s, the checkpoint %s",
                            t->name, tensor_shape(want, t), entry_shape(have, e));
    }
    for (int i = 0; plan->training && i < c->n_tensors; i++) {
        const struct checkpoint_entry *e = &c->entries[i];
        bool known = strcmp(e->name, shift_name) == 0 || strcmp(e->name, factor_name) == 0;
        for (int j = 0; j < g->n_tensors && !known; j++)
            known = is_saved(&g->tensors[j]) && strcmp(g->tensors[j].name, e->name) == 0;
        if (!known)
            rc = diag_error(d, RC_DATA, loc, "tensor '%s' %s is not in the model", e->name,
                            entry_shape(have, e));
    }
    if (rc == RC_OK && strcmp(c->fingerprint, plan->fingerprint) != 0)
        rc = diag_error(d, RC_DATA, loc,
                        "the model differs from the one that was saved, in a layer without "
                        "weights or in a layer's keys (fingerprint %s, the checkpoint's %s)",
                        plan->fingerprint, c->fingerprint);
    return rc;
}

static enum rc read_constants(const struct checkpoint *c, struct normalizer *n, struct diag *d)
{
    const struct checkpoint_entry *shift = checkpoint_find(c, shift_name);
    const struct checkpoint_entry *factor = checkpoint_find(c, factor_name);
    size_t bytes = (size_t)n->columns * sizeof(float);
    if (!shift || !factor || shift->bytes != bytes || factor->bytes != bytes)
        return diag_error(d, RC_DATA, (struct loc){c->path, 0, 0},
                          "its constants of the inputs do not fit the data: data.normalize or the "
                          "shape of the rows has changed");
    TRY(checkpoint_read(c, shift, n->shift, d));
    return checkpoint_read(c, factor, n->factor, d);
}

enum rc saved_read(const struct checkpoint *c, const struct plan *plan,
                   struct normalizer *normalizer, struct diag *d)
{
    TRY(compare(c, plan, d));
    for (int i = 0; i < plan->graph.n_tensors; i++) {
        const struct tensor *t = graph_tensor(&plan->graph, i);
        if (is_saved(t))
            TRY(checkpoint_read(c, checkpoint_find(c, t->name), t->data, d));
    }
    TRY(read_constants(c, normalizer, d));
    plan_pack_shadows(plan);
    return RC_OK;
}
