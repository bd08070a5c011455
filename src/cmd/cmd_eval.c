/* cmd_eval.c: `mptrain eval RUN|CHECKPOINT`: loss and accuracy of a trained model on a split. */
#include "config.h"

#include "cmd/cmd.h"

#include "base/cpu.h"
#include "base/par.h"
#include "base/str.h"
#include "train/restore.h"
#include "train/run_data.h"
#include "train/step.h"

#include <stdlib.h>
#include <string.h>

struct eval_opts {
    struct opt_texts sets;
    const char *split, *isa;
    int64_t threads;
    bool best;
};

static enum rc pick_split(const struct run_data *data, const struct spec *spec, const char *word,
                          const struct dataset **ds, const char **name, struct diag *d)
{
    const struct {
        const char *name;
        const struct dataset *ds;
    } splits[] = {{"train", &data->train},
                  {"validation", data->has_validation ? &data->validation : NULL},
                  {"test", data->has_test ? &data->test : NULL}};
    *ds = run_data_eval(data, spec, name);
    if (!word)
        return RC_OK;
    for (size_t i = 0; i < COUNT_OF(splits); i++) {
        if (strcmp(word, splits[i].name) != 0)
            continue;
        *ds = splits[i].ds;
        *name = splits[i].name;
        return *ds ? RC_OK
                   : diag_error(d, RC_CONFIG, NOWHERE, "the config has no %s split: give it with "
                                "--set data.%s...", word, word);
    }
    return diag_error(d, RC_USAGE, NOWHERE, "--split %s: it is train, validation or test", word);
}

static enum rc evaluate(struct restore *r, const struct eval_opts *o, struct run_data *data,
                        struct diag *d)
{
    const struct dataset *ds;
    const char *name;
    TRY(pick_split(data, &r->spec, o->split, &ds, &name, d));
    TRY(restore_plan(r, &data->shape, d));
    TRY(run_data_check(data, &r->plan, d));
    int64_t *order = malloc((size_t)ds->rows * sizeof(*order));
    TRY_ALLOC(order, d);
    struct op_loss sums = step_evaluate(&r->plan, ds, &r->normalizer, 0, order);
    double count = sums.count > 0 ? (double)sums.count : 1;
    free(order);
    printf("%s: %s, step %lld\n", r->checkpoint.path, name,
           (long long)r->checkpoint.progress.step);
    printf("rows      %lld\nloss      %.9g\n", (long long)ds->rows,
           str_plain_nan(sums.sum / count));
    if (r->plan.graph.nodes[r->plan.loss].op->has_accuracy)
        printf("accuracy  %.6f\n", (double)sums.correct / count);
    return RC_OK;
}

static enum rc run(const struct cmd_args *args, struct diag *d)
{
    const struct eval_opts *o = args->opts;
    struct restore r;
    struct run_data data;
    TRY(cpu_init(o->isa, d));
    par_set_threads((int)o->threads);
    TRY(restore_open(&r, args->words[0], o->best, o->sets.at, o->sets.n, d));
    enum rc rc = run_data_open(&data, &r.spec, d);
    if (rc == RC_OK) {
        rc = evaluate(&r, o, &data, d);
        run_data_release(&data);
    }
    restore_release(&r);
    return rc;
}

#define AT(field) offsetof(struct eval_opts, field)
static const struct opt opts[] = {
    {"split", 0, OPT_TEXT, AT(split), "NAME", 0, 0,
     "train, validation or test. Default: as train.eval.split says."},
    {"best", 0, OPT_FLAG, AT(best), NULL, 0, 0,
     "Of a run folder, take best.mpt instead of the newest checkpoint."},
    {"set", 's', OPT_TEXTS, AT(sets), "KEY=VALUE", 0, 0,
     "Change a key of the saved config, such as data.test.inputs."},
    {"threads", 't', OPT_INT, AT(threads), "N", 0, PAR_MAX_THREADS,
     "Threads; 0 means all cores."},
    {"isa", 0, OPT_TEXT, AT(isa), "NAME", 0, 0, "Use no instructions above NAME."},
    {0}};

const struct cmd cmd_eval = {
    .name = "eval",
    .help = "Compute loss and accuracy of a trained model on a split of its data.",
    .usage = "RUN|CHECKPOINT [OPTION]...",
    .about = "The config comes out of the checkpoint.",
    .opts = opts,
    .opts_size = sizeof(struct eval_opts),
    .words_min = 1,
    .words_max = 1,
    .run = run,
};
