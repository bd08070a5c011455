/* run_data.c: see run_data.h. */
#include "config.h"

#include "train/run_data.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum dataset_target wanted_target(const struct spec *spec)
{
    if (spec->data.reconstruct)
        return DATASET_NO_TARGET;
    switch (spec->loss.op->target) {
    case TARGET_CLASS:
        return DATASET_CLASSES;
    case TARGET_REAL:
        return DATASET_VALUES;
    default:
        return DATASET_NO_TARGET;
    }
}

/* Rows of another shape than those of the training set cannot go through the same model. */
static enum rc check_shape(const struct dataset *ds, const struct dataset *train, struct diag *d)
{
    bool same = ds->rank == train->rank && ds->target_columns == train->target_columns;
    for (int i = 0; same && i < ds->rank; i++)
        same = ds->dims[i] == train->dims[i];
    if (same)
        return RC_OK;
    struct loc loc = {ds->source, 0, 0};
    return diag_error(d, RC_DATA, loc, "rows of the %s split differ in shape from those of train",
                      ds->name);
}

static enum rc open_split(struct run_data *r, const struct spec *spec, struct dataset *ds,
                          const char *name, const struct section *section, struct diag *d)
{
    struct dataset_want want = {wanted_target(spec), r->train.n_class_names,
                                (const char *const *)r->train.class_names, (uint64_t)spec->seed};
    TRY(dataset_open(ds, spec->data.reader, name, section, &want, d));
    if (spec->data.reconstruct)
        dataset_reconstruct(ds);
    enum rc rc = ds == &r->train ? RC_OK : check_shape(ds, &r->train, d);
    if (rc != RC_OK)
        dataset_release(ds);
    return rc;
}

static enum rc open_all(struct run_data *r, const struct spec *spec, struct diag *d)
{
    const struct data_spec *ds = &spec->data;
    if (ds->reconstruct && spec->loss.op->target != TARGET_REAL)
        return diag_error(d, RC_CONFIG, keys_origin(&spec->data_section, "reconstruct").loc,
                          "'data.reconstruct' needs a loss of numbers, such as mse; %s wants "
                          "classes",
                          spec->loss.op->name);
    if (!ds->has_train)
        return diag_error(d, RC_CONFIG, spec->data_section.loc, "data: 'train' is missing");
    TRY(open_split(r, spec, &r->train, "train", &ds->train, d));
    r->has_train = true;
    TRY(augment_check(&ds->augment, &r->train, spec->augment_section.loc, d));
    if (ds->hold_out > 0) {
        TRY(dataset_hold_out(&r->train, ds->hold_out, (uint64_t)spec->seed, &r->validation, d));
        r->has_validation = true;
    } else if (ds->has_validation) {
        TRY(open_split(r, spec, &r->validation, "validation", &ds->validation, d));
        r->has_validation = true;
    }
    if (ds->has_test) {
        TRY(open_split(r, spec, &r->test, "test", &ds->test, d));
        r->has_test = true;
    }
    snprintf(r->fingerprint, sizeof(r->fingerprint), "%08" PRIx32, dataset_crc(&r->train));
    r->shape.rank = r->train.rank;
    memcpy(r->shape.dims, r->train.dims, sizeof(r->shape.dims));
    r->shape.target_columns = r->train.target == DATASET_VALUES ? r->train.target_columns : 1;
    return normalizer_init(&r->normalizer, &r->train, ds->divide, (enum normalize)ds->normalize,
                           (enum normalize_by)ds->normalize_by, d);
}

enum rc run_data_open(struct run_data *r, const struct spec *spec, struct diag *d)
{
    memset(r, 0, sizeof(*r));
    enum rc rc = open_all(r, spec, d);
    if (rc != RC_OK)
        run_data_release(r);
    return rc;
}

void run_data_release(struct run_data *r)
{
    if (r->has_train)
        dataset_release(&r->train);
    if (r->has_validation)
        dataset_release(&r->validation);
    if (r->has_test)
        dataset_release(&r->test);
    normalizer_release(&r->normalizer);
    memset(r, 0, sizeof(*r));
}

/* Statistics over a batch need two values of a channel. */
static enum rc check_statistics(const struct plan *plan, struct diag *d)
{
    const struct graph *g = &plan->graph;
    for (int i = 0; plan->training && i < g->n_nodes; i++) {
        const struct node *n = &g->nodes[i];
        const struct tensor *in = graph_tensor(g, n->in[0]);
        if (n->n_statistics > 0 && tensor_elements(in) == tensor_columns(in))
            return diag_error(d, RC_CONFIG, n->loc,
                              "%s '%s': a batch has one value of each channel, and so no variance: "
                              "raise train.batch",
                              n->op->name, n->name);
    }
    return RC_OK;
}

enum rc run_data_check(const struct run_data *r, const struct plan *plan, struct diag *d)
{
    const struct node *loss = &plan->graph.nodes[plan->loss];
    TRY(check_statistics(plan, d));
    if (loss->op->target != TARGET_CLASS)
        return RC_OK;
    int64_t classes = tensor_columns(graph_tensor(&plan->graph, plan->output));
    int64_t ignored = loss->op->ignored_label ? loss->op->ignored_label(loss) : -1;
    enum rc rc = dataset_check_classes(&r->train, classes, ignored, d);
    if (r->has_validation && rc == RC_OK)
        rc = dataset_check_classes(&r->validation, classes, ignored, d);
    if (r->has_test && rc == RC_OK)
        rc = dataset_check_classes(&r->test, classes, ignored, d);
    return rc;
}

const struct dataset *run_data_eval(const struct run_data *r, const struct spec *spec,
                                    const char **name)
{
    int split = spec->train.eval.split;
    if (split == EVAL_AUTO)
        split = r->has_validation ? EVAL_VALIDATION : r->has_test ? EVAL_TEST : EVAL_TRAIN;
    const struct dataset *validation = r->has_validation ? &r->validation : NULL;
    const struct dataset *test = r->has_test ? &r->test : NULL;
    const struct dataset *ds = split == EVAL_VALIDATION ? validation
                               : split == EVAL_TEST     ? test
                                                        : &r->train;
    *name = split == EVAL_VALIDATION ? "validation" : split == EVAL_TEST ? "test" : "train";
    return ds;
}
