/* run_log.c: what a run tells while it goes: records of the log, evaluations, checkpoints, the line
 * on the terminal. */
#include "config.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "base/par.h"
#include "base/str.h"
#include "train/saved.h"
#include "train/trainer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static struct record begin(const struct trainer *t, enum record_type type)
{
    return (struct record){
        .type = type, .segment = t->step.progress.segment, .step = t->step.progress.step};
}

/* The kernel rows in use, each once. */
static void list_rows(const struct plan *p, struct str *out)
{
    for (int i = 0; i < p->graph.n_nodes; i++)
        for (int s = 0; s < p->graph.nodes[i].n_gemms; s++) {
            const struct gemm_plan *g = p->graph.nodes[i].gemm[s];
            if (g && (!out->text || !strstr(out->text, kern_gemm_name(g))))
                str_printf(out, "%s%s", out->length ? " " : "", kern_gemm_name(g));
        }
}

enum rc run_log_header(struct trainer *t, struct diag *d)
{
    struct record r = begin(t, RECORD_HEADER);
    struct str config, rows;
    char started[32];
    time_t now = time(NULL);
    struct tm utc;
    str_init(&config);
    str_init(&rows);
    config_write(t->spec, &config);
    list_rows(&t->plan, &rows);
    strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    r.version = PACKAGE_VERSION;
    r.config = config.text;
    r.cpu = cpu_name();
    r.isa = isa_name(cpu_isa());
    r.rows = rows.text ? rows.text : "";
    r.fingerprint = t->plan.fingerprint;
    r.started = started;
    r.seed = t->spec->seed;
    r.threads = par_threads();
    r.parameters = t->plan.totals.parameters;
    r.resumed_from = t->resumed_from;
    enum rc rc = config.failed || rows.failed ? diag_no_memory(d) : log_file_write(&t->log, &r, d);
    str_release(&config);
    str_release(&rows);
    return rc;
}

static enum rc log_overflow(struct trainer *t, const struct step_result *s, struct diag *d)
{
    struct record r = begin(t, RECORD_OVERFLOW);
    r.tensor = s->blame.tensor;
    r.node = s->blame.node;
    r.kind = s->blame.kind;
    r.where = s->blame.forward ? "forward" : "gradient";
    r.count = s->blame.count;
    r.max_finite = s->blame.max_finite;
    r.micro_batch = s->blame.micro_batch;
    r.loss_scale = s->scale;
    r.action = s->change.new_scale < s->change.old_scale ? "skip, scale lowered"
               : s->blame.forward                        ? "skip, scale kept: not its fault"
                                                         : "skip, scale kept";
    return log_file_write(&t->log, &r, d);
}

enum rc run_log_step(struct trainer *t, const struct step_result *s, double ms, struct diag *d)
{
    const struct progress *p = &t->step.progress;
    struct record r = begin(t, RECORD_STEP);
    enum rc rc = RC_OK;
    r.epoch = p->position == 0 ? p->epoch - 1 : p->epoch; /* of its rows */
    r.applied = p->applied;
    r.committed = s->outcome == STEP_APPLIED;
    r.loss = s->loss;
    r.lr = s->lr;
    r.loss_scale = s->scale;
    r.next_scale = p->loss_scale;
    r.good_steps = p->good_steps;
    r.skipped_total = p->skipped;
    r.grad_norm = s->outcome == STEP_APPLIED ? s->grad_norm : s->outcome == STEP_EMPTY ? 0 : NAN;
    r.clip_factor = s->clip_factor;
    r.zero_grads = s->zero_grads;
    r.examples = s->examples;
    r.step_ms = ms;
    if (p->step % t->spec->log.every == 0 || s->outcome != STEP_APPLIED ||
        p->step == t->total_steps)
        rc = log_file_write(&t->log, &r, d);
    if (s->outcome == STEP_SKIPPED && rc == RC_OK)
        rc = log_overflow(t, s, d);
    if (s->change.reason && rc == RC_OK) {
        struct record c = begin(t, RECORD_SCALE);
        c.old_scale = s->change.old_scale;
        c.new_scale = s->change.new_scale;
        c.reason = s->change.reason;
        rc = log_file_write(&t->log, &c, d);
    }
    return rc;
}

enum rc run_log_end(struct trainer *t, const char *reason, enum rc rc, struct diag *d)
{
    struct record r = begin(t, RECORD_END);
    r.applied = t->step.progress.applied;
    r.skipped_total = t->step.progress.skipped;
    r.reason = reason;
    r.exit_code = rc;
    r.seconds = clock_seconds() - t->started;
    return log_file_write(&t->log, &r, d);
}

enum rc run_log_save(struct trainer *t, const char *path, struct diag *d)
{
    double start = clock_seconds();
    struct stat status;
    TRY(saved_write(&t->plan, &t->data, &t->step.progress, path, d));
    struct record r = begin(t, RECORD_CHECKPOINT);
    r.path = path;
    r.write_ms = 1e3 * (clock_seconds() - start);
    r.bytes = stat(path, &status) == 0 ? (int64_t)status.st_size : 0;
    return log_file_write(&t->log, &r, d);
}

/* Higher is better. */
static double merit(const struct trainer *t, const struct record *r)
{
    return t->spec->train.eval.metric == METRIC_ACCURACY ? r->accuracy : -r->loss;
}

enum rc run_log_eval(struct trainer *t, bool *stop, struct diag *d)
{
    struct progress *p = &t->step.progress;
    const struct op *loss = t->plan.graph.nodes[t->plan.loss].op;
    struct record r = begin(t, RECORD_EVAL);
    const struct dataset *ds = run_data_eval(&t->data, t->spec, &r.split);
    double start = clock_seconds();
    struct op_loss sums = step_evaluate(&t->plan, ds, &t->data.normalizer, 0, t->eval_order);
    double count = sums.count > 0 ? (double)sums.count : 1;
    r.seconds = clock_seconds() - start;
    r.applied = p->applied;
    r.epoch = p->epoch;
    r.loss = sums.sum / count;
    r.examples = ds->rows;
    r.has_accuracy = loss->has_accuracy;
    r.accuracy = (double)sums.correct / count;
    r.best = isfinite(r.loss) && (!p->has_best || merit(t, &r) > p->best_metric);
    if (r.best) {
        p->has_best = true;
        p->best_metric = merit(t, &r);
        p->best_step = p->step;
        p->evals_without_gain = 0;
    } else {
        p->evals_without_gain++;
    }
    *stop = t->spec->train.eval.patience > 0 &&
            p->evals_without_gain >= t->spec->train.eval.patience;
    if (!t->options->quiet) {
        printf("%sstep %lld  %s loss %.5g", t->live ? "\r\033[K" : "", (long long)p->step, r.split,
               str_plain_nan(r.loss));
        if (r.has_accuracy)
            printf("  accuracy %.4f", r.accuracy);
        printf("%s\n", r.best ? "  (best)" : "");
        fflush(stdout);
    }
    TRY(log_file_write(&t->log, &r, d));
    if (!r.best || !t->spec->checkpoint.best)
        return RC_OK;
    const char *path = pool_printf(&t->pool, "%s/best.mpt", t->checkpoints);
    TRY_ALLOC(path, d);
    return run_log_save(t, path, d);
}

void run_log_show(struct trainer *t, const struct step_result *s, double ms)
{
    const struct progress *p = &t->step.progress;
    static const char *const outcomes[] = {"", "  skipped", "  no valid target"};
    double left = (double)(t->total_steps - p->step) * ms / 1e3;
    if (t->options->quiet)
        return;
    if (!t->live) {
        if (s->outcome != STEP_SKIPPED)
            return;
        printf("step %lld  skipped: %s in '%s' (%s), scale %g -> %g\n", (long long)p->step,
               s->blame.kind, s->blame.node, s->blame.forward ? "forward" : "gradient", s->scale,
               p->loss_scale);
    } else {
        printf("\r\033[Kstep %lld/%lld  loss %.4g  lr %.3g  scale %g  skips %lld  %.0f examples/s"
               "  ETA %d:%02d%s",
               (long long)p->step, (long long)t->total_steps, str_plain_nan(s->loss), s->lr,
               p->loss_scale, (long long)p->skipped, 1e3 * (double)s->examples / ms,
               (int)(left / 60), (int)left % 60, outcomes[s->outcome]);
    }
    fflush(stdout);
}
