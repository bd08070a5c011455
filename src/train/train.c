/* train.c: the loop. Everything that can be wrong is found before the first step; afterwards only
 * the disk and the numbers can fail. */
#include "config.h"

#include "train/train.h"

#include "base/clock.h"
#include "kern/kern_gemm.h"
#include "op/init.h"
#include "train/signals.h"
#include "train/trainer.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

void train_start_weights(const struct plan *p)
{
    for (int i = 0; i < p->graph.n_tensors; i++) {
        const struct tensor *t = graph_tensor(&p->graph, i);
        if (t->role == ROLE_PARAM || t->role == ROLE_STATISTIC)
            init_fill(t, (uint64_t)p->spec->seed, t->data);
    }
    plan_pack_shadows(p);
}

static void count_steps(struct trainer *t)
{
    const struct train_spec *s = &t->spec->train;
    int64_t window = s->batch * s->accumulate;
    t->steps_per_epoch = (t->data.train.rows + window - 1) / window;
    t->total_steps = s->steps > 0 ? s->steps : s->epochs * t->steps_per_epoch;
    t->step.planned = (double)t->total_steps; /* the schedule's end; --steps only cuts the run */
    if (t->options->steps > 0 && t->options->steps < t->total_steps)
        t->total_steps = t->options->steps;
}

static enum rc prepare(struct trainer *t, struct diag *d)
{
    int64_t rows = t->spec->train.batch;
    TRY(run_data_open(&t->data, t->spec, d));
    TRY(plan_make(&t->plan, t->spec, &t->data.shape, true, d));
    t->has_plan = true;
    TRY(run_data_check(&t->data, &t->plan, d));
    TRY(plan_bind(&t->plan, d));
    TRY(step_init(&t->step, &t->plan, &t->data.train, &t->data.normalizer, &t->pool, d));
    const struct dataset *all[] = {&t->data.train, &t->data.validation, &t->data.test};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        rows = all[i]->rows > rows ? all[i]->rows : rows;
    t->eval_order = pool_array(&t->pool, (size_t)rows, sizeof(*t->eval_order));
    TRY_ALLOC(t->eval_order, d);
    count_steps(t);
    TRY(run_folder_make(t, d));
    train_start_weights(&t->plan);
    t->last_saved = -1;
    if (t->options->resume)
        TRY(run_folder_resume(t, d));
    TRY(run_folder_config(t, d));
    scaler_init(&t->step.scaler, &t->plan, &t->step.progress, t->resumed_from == 0);
    /* past every start that the log has: one may have been killed before it saved anything */
    if (t->step.progress.segment < t->log.starts)
        t->step.progress.segment = t->log.starts;
    t->step.progress.segment++;
    return run_log_header(t, d);
}

static bool is_due(int64_t every_steps, int64_t every_epochs, const struct progress *p)
{
    if (every_steps > 0)
        return p->step % every_steps == 0;
    return every_epochs > 0 && p->position == 0 && p->epoch % every_epochs == 0;
}

static enum rc save(struct trainer *t, struct diag *d)
{
    const char *path = checkpoint_path(&t->pool, t->checkpoints, t->step.progress.step);
    TRY_ALLOC(path, d);
    TRY(run_log_save(t, path, d));
    t->last_saved = t->step.progress.step;
    t->saved_applied = t->step.progress.applied;
    checkpoint_prune(t->checkpoints, t->spec->checkpoint.keep);
    return RC_OK;
}

/* Why the run must stop after this step, or NULL. */
static const char *persistent(const struct trainer *t, const struct step_result *r)
{
    if (t->step.progress.skips_in_a_row < t->spec->train.max_skips)
        return NULL;
    if (r->blame.forward)
        return "non-finite forward";
    return scaler_at_floor(&t->step.scaler, &t->step.progress) ? "scale floor"
           : t->step.scaler.type == SCALE_NONE                 ? "diverged"
                                                               : "too many skips";
}

static enum rc tell_persistent(const struct trainer *t, const struct step_result *r,
                               const char *reason, struct diag *d)
{
    (void)diag_error(d, RC_NUMERIC, NOWHERE,
                     "%s: %" PRId64 " steps in a row were skipped; %s first in '%s' (tensor '%s', "
                     "%s pass), loss scale %g",
                     reason, t->step.progress.skips_in_a_row, r->blame.kind, r->blame.node,
                     r->blame.tensor, r->blame.forward ? "forward" : "backward", r->scale);
    if (r->blame.forward)
        diag_note(d, NOWHERE,
                  "no loss scale cures a forward pass: run that layer in another type, for "
                  "example --set 'precision.fp32.allow=[%s]'",
                  r->blame.node);
    return RC_NUMERIC;
}

static enum rc after_step(struct trainer *t, bool *stop, struct diag *d)
{
    const struct spec *s = t->spec;
    const struct progress *p = &t->step.progress;
    if (is_due(s->train.eval.every_steps, s->train.eval.every_epochs, p))
        TRY(run_log_eval(t, stop, d));
    /* a row of skipped steps must not push out the checkpoints of before it */
    if (is_due(s->checkpoint.every_steps, s->checkpoint.every_epochs, p) &&
        p->applied > t->saved_applied)
        TRY(save(t, d));
    return RC_OK;
}

/* Between two steps, or before the first one: what there is is saved. */
static enum rc interrupted(struct trainer *t, const char **reason, struct diag *d)
{
    *reason = "interrupted";
    if (t->step.progress.step > 0 && t->last_saved != t->step.progress.step)
        TRY(save(t, d));
    return RC_INTERRUPTED;
}

static enum rc loop(struct trainer *t, const char **reason, struct diag *d)
{
    struct progress *p = &t->step.progress;
    bool stop = false;
    *reason = "done";
    while (p->step < t->total_steps && !stop) {
        struct step_result r;
        if (signals_stop())
            return interrupted(t, reason, d);
        double start = clock_seconds();
        if (p->position == 0) {
            p->epoch_loss = 0;
            p->epoch_count = 0;
        }
        step_run(&t->step, &r);
        double ms = 1e3 * (clock_seconds() - start);
        TRY(run_log_step(t, &r, ms, d));
        run_log_show(t, &r, ms);
        const char *why = r.outcome == STEP_SKIPPED ? persistent(t, &r) : NULL;
        if (why) {
            *reason = why;
            return tell_persistent(t, &r, why, d);
        }
        TRY(after_step(t, &stop, d));
        if (stop)
            *reason = "no gain for 'patience' evaluations";
    }
    return RC_OK;
}

static enum rc finish(struct trainer *t, struct diag *d)
{
    const struct progress *p = &t->step.progress;
    if (p->applied == 0)
        diag_warning(d, NOWHERE,
                     "nothing was learnt: applied 0, skipped %" PRId64
                     ", without a valid target %" PRId64,
                     p->skipped, p->empty);
    if (t->last_saved != p->step && p->applied > 0)
        return save(t, d);
    return RC_OK;
}

static void say_end(const struct trainer *t, const char *reason)
{
    const struct progress *p = &t->step.progress;
    if (!t->options->quiet)
        printf("%s%s after step %" PRId64 ": applied %" PRId64 ", skipped %" PRId64
               ", loss scale %g; run in %s\n",
               t->live ? "\n" : "", reason, p->step, p->applied, p->skipped, p->loss_scale,
               t->folder);
}

enum rc train_run(const struct spec *spec, const struct train_options *o, struct diag *d)
{
    struct trainer t = {.spec = spec, .options = o, .log = {.fd = -1}};
    const char *reason = "failed";
    pool_init(&t.pool);
    t.started = clock_seconds();
    t.live = !o->quiet && isatty(STDOUT_FILENO);
    signals_catch();
    enum rc rc = prepare(&t, d);
    if (rc == RC_OK) {
        rc = loop(&t, &reason, d);
        if (rc == RC_OK)
            rc = finish(&t, d);
        say_end(&t, reason);
        enum rc end = run_log_end(&t, reason, rc, d);
        rc = rc == RC_OK ? end : rc;
    }
    enum rc closed = log_file_close(&t.log, d);
    if (t.has_plan)
        plan_release(&t.plan);
    run_data_release(&t.data);
    pool_release(&t.pool);
    return rc == RC_OK ? closed : rc;
}
