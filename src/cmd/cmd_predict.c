/* cmd_predict.c: `mptrain predict CHECKPOINT INPUT`: what a trained model says of each row of a
 * file, as CSV on standard output. */
#include "config.h"

#include "cmd/cmd.h"

#include "base/cpu.h"
#include "base/par.h"
#include "train/restore.h"
#include "train/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct predict_opts {
    struct opt_texts sets;
    const char *isa;
    int64_t threads;
    bool best;
};

static void print_class(const struct checkpoint *c, const float *logits, int64_t n)
{
    int64_t best = 0;
    double sum = 0;
    for (int64_t i = 1; i < n; i++)
        best = logits[i] > logits[best] ? i : best;
    for (int64_t i = 0; i < n; i++)
        sum += exp((double)logits[i] - (double)logits[best]);
    if (best < c->n_class_names)
        printf("%s,%.6f\n", c->class_names[best], str_plain_nan(1 / sum));
    else
        printf("%lld,%.6f\n", (long long)best, str_plain_nan(1 / sum));
}

static void print_values(const float *x, int64_t n)
{
    char text[STR_FLOAT_ROOM];
    for (int64_t i = 0; i < n; i++)
        printf("%s%s", i ? "," : "", str_float32(text, x[i]));
    printf("\n");
}

/* The output of one batch, row by row. */
static void print_batch(const struct restore *r, int64_t rows, float *row)
{
    const struct tensor *out = graph_tensor(&r->plan.graph, r->plan.output);
    bool classes = r->spec.loss.op->target == TARGET_CLASS;
    int64_t n = tensor_row_elements(out);
    for (int64_t i = 0; i < rows; i++) {
        const float *x = kern_load((struct view){out->data, out->dtype}, i * n, n, row);
        if (classes)
            print_class(&r->checkpoint, x, n);
        else
            print_values(x, n);
    }
}

static enum rc predict(struct restore *r, const struct dataset *ds, struct diag *d)
{
    struct plan_data shape = {.rank = ds->rank};
    memcpy(shape.dims, ds->dims, sizeof(shape.dims));
    TRY(restore_plan(r, &shape, d));
    const struct tensor *out = graph_tensor(&r->plan.graph, r->plan.output);
    int64_t *order = malloc((size_t)ds->rows * sizeof(*order));
    float *row = malloc((size_t)tensor_row_elements(out) * sizeof(*row));
    enum rc rc = order && row ? RC_OK : diag_no_memory(d);
    if (rc == RC_OK) {
        dataset_order(ds->rows, false, 0, 0, order);
        if (r->spec.loss.op->target == TARGET_CLASS)
            printf("class,probability\n");
        for (int64_t at = 0; at < ds->rows; at += r->plan.graph.batch) {
            int64_t left = ds->rows - at;
            int64_t n = left < r->plan.graph.batch ? left : r->plan.graph.batch;
            (void)step_forward_rows(&r->plan, ds, &r->normalizer, order + at, n);
            print_batch(r, n, row);
        }
    }
    free(order);
    free(row);
    return rc;
}

static enum rc run(const struct cmd_args *args, struct diag *d)
{
    const struct predict_opts *o = args->opts;
    struct restore r;
    struct dataset ds;
    TRY(cpu_init(o->isa, d));
    par_set_threads((int)o->threads);
    TRY(restore_open(&r, args->words[0], o->best, o->sets.at, o->sets.n, d));
    const struct data_spec *data = &r.spec.data;
    enum rc rc = dataset_open_inputs(&ds, data->reader, args->words[1], &data->train, d);
    if (rc == RC_OK) {
        rc = predict(&r, &ds, d);
        dataset_release(&ds);
    }
    restore_release(&r);
    return rc;
}

#define AT(field) offsetof(struct predict_opts, field)
static const struct opt opts[] = {
    {"best", 0, OPT_FLAG, AT(best), NULL, 0, 0,
     "Of a run folder, take best.mpt instead of the newest checkpoint."},
    {"set", 's', OPT_TEXTS, AT(sets), "KEY=VALUE", 0, 0, "Change a key of the saved config."},
    {"threads", 't', OPT_INT, AT(threads), "N", 0, PAR_MAX_THREADS,
     "Threads; 0 means all cores."},
    {"isa", 0, OPT_TEXT, AT(isa), "NAME", 0, 0, "Use no instructions above NAME."},
    {0}};

const struct cmd cmd_predict = {
    .name = "predict",
    .help = "Print what a trained model says of each row of a file, as CSV.",
    .usage = "RUN|CHECKPOINT INPUT [OPTION]...",
    .about = "INPUT is a file of inputs in the format that the model was trained on. Classifiers "
             "print class and probability, others the values.",
    .opts = opts,
    .opts_size = sizeof(struct predict_opts),
    .words_min = 2,
    .words_max = 2,
    .run = run,
};
