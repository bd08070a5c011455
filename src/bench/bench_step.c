/* bench_step.c: `mptrain bench step CONFIG`: whole training steps, by phase, and what they are to
 * be measured by: the row's own GEMM peak and the machine's copy bandwidth, in the same run.
 *
 * The step is the one of a training run (train/step.c), its log line included, without evaluations
 * and checkpoints. Only applied steps of a full batch count. */
#include "config.h"

#include "bench/bench.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "base/par.h"
#include "bench/bench_copy.h"
#include "bench/bench_product.h"
#include "bench/bench_time.h"
#include "train/trainer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LOG = STEP_PHASE_COUNT, STEP, SERIES }; /* series: the phases, the log, the whole step */

static const char *const names[SERIES] = {
    [STEP_DATA] = "data",   [STEP_FORWARD] = "forward", [STEP_BACKWARD] = "backward",
    [STEP_CHECK] = "check", [STEP_UPDATE] = "update",   [LOG] = "log",
    [STEP] = "step",
};

struct result {
    const struct bench_opts *o;
    struct trainer t;
    double *seconds[SERIES]; /* (steps) */
    int n;                   /* steps that count */
    int64_t left_out;        /* skipped, or of a short batch */
    struct bench_times times[SERIES];
    double rss_mib;
    const char *row;  /* that does most of the work; NULL: no GEMM */
    enum dtype dtype; /* that it computes in */
    double peak;      /* FLOP/s */
    int64_t peak_side;
    double update_bytes, copy_rate;
};

/* A log that nobody can open, so that a killed benchmark leaves no file behind. */
static enum rc open_log(struct result *r, struct diag *d)
{
    const char *folder = getenv("TMPDIR");
    char *path = (char *)pool_printf(&r->t.pool, "%s/mptrain-bench-XXXXXX",
                                     folder && folder[0] ? folder : "/tmp");
    TRY_ALLOC(path, d);
    int fd = mkstemp(path);
    if (fd < 0)
        return diag_error(d, RC_FAILED, NOWHERE,
                          "bench step: cannot make a file for the log in '%.200s' (TMPDIR)",
                          folder && folder[0] ? folder : "/tmp");
    close(fd);
    enum rc rc = log_file_open(&r->t.log, path, d);
    unlink(path);
    return rc;
}

static enum rc prepare(struct result *r, struct diag *d)
{
    struct trainer *t = &r->t;
    const struct train_spec *s = &t->spec->train;
    TRY(run_data_open(&t->data, t->spec, d));
    TRY(plan_make(&t->plan, t->spec, &t->data.shape, true, d));
    t->has_plan = true;
    TRY(run_data_check(&t->data, &t->plan, d));
    TRY(plan_bind(&t->plan, d));
    TRY(step_init(&t->step, &t->plan, &t->data.train, &t->data.normalizer, &t->pool, d));
    if (t->data.train.rows < s->batch * s->accumulate)
        return diag_error(d, RC_CONFIG, NOWHERE,
                          "bench step: the data has %lld rows, a step takes %lld: lower "
                          "train.batch or train.accumulate",
                          (long long)t->data.train.rows, (long long)(s->batch * s->accumulate));
    int64_t per_epoch = t->data.train.rows / (s->batch * s->accumulate);
    t->step.planned = (double)(s->steps > 0 ? s->steps : s->epochs * per_epoch);
    t->total_steps = INT64_MAX;
    train_start_weights(&t->plan);
    scaler_init(&t->step.scaler, &t->plan, &t->step.progress, true);
    for (int i = 0; i < SERIES; i++) {
        r->seconds[i] = pool_array(&t->pool, (size_t)r->o->steps, sizeof(double));
        TRY_ALLOC(r->seconds[i], d);
    }
    return open_log(r, d);
}

/* One step; true in *counts where it is a full and applied one. series[i]: seconds. */
static enum rc take_step(struct result *r, double series[SERIES], bool *counts, struct diag *d)
{
    const struct train_spec *s = &r->t.spec->train;
    struct step_result step;
    double start = clock_seconds();
    step_run(&r->t.step, &step);
    double ran = clock_seconds();
    TRY(run_log_step(&r->t, &step, 1e3 * (ran - start), d));
    double end = clock_seconds();
    memcpy(series, r->t.step.clock.seconds, sizeof(r->t.step.clock.seconds));
    series[LOG] = end - ran;
    series[STEP] = end - start;
    *counts = step.outcome == STEP_APPLIED && step.examples == s->batch * s->accumulate;
    return RC_OK;
}

static enum rc run_steps(struct result *r, struct diag *d)
{
    double series[SERIES];
    bool counts;
    for (int64_t i = 0; i < r->o->warmup; i++)
        TRY(take_step(r, series, &counts, d));
    int64_t patience = 10 * r->o->steps + 100;
    while (r->n < r->o->steps && r->left_out < patience) {
        TRY(take_step(r, series, &counts, d));
        for (int i = 0; i < SERIES && counts; i++)
            r->seconds[i][r->n] = series[i];
        if (counts)
            r->n++;
        else
            r->left_out++;
    }
    if (r->n < r->o->steps)
        return diag_error(d, RC_NUMERIC, NOWHERE,
                          "bench step: of %lld steps only %d were applied: the run does not train",
                          (long long)(r->n + r->left_out), r->n);
    for (int i = 0; i < SERIES; i++)
        r->times[i] = bench_time_sort(r->seconds[i], r->n);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage); /* before the yardsticks take memory */
    r->rss_mib = (double)usage.ru_maxrss / 1024;
    return RC_OK;
}

/* The row of the node with the most FLOPs. */
static void find_row(struct result *r)
{
    const struct graph *g = &r->t.plan.graph;
    double most = 0;
    for (int i = 0; i < g->n_nodes; i++) {
        const struct node *n = &g->nodes[i];
        if (n->n_gemms == 0 || !n->gemm[0] || n->flops <= most)
            continue;
        most = n->flops;
        r->row = kern_gemm_name(n->gemm[0]);
        r->dtype = n->gemm[0]->desc.compute;
    }
}

/* What one pass must move: the gradient is read, master and state are read and written, the
 * shadows are written. */
static double update_bytes(const struct plan_totals *t)
{
    double params = (double)t->param_bytes, state = (double)t->state_bytes;
    return (double)t->parameters * sizeof(float) + 2 * params + 2 * state + (double)t->shadow_bytes;
}

static enum rc measure_yardsticks(struct result *r, struct diag *d)
{
    const struct plan_totals *t = &r->t.plan.totals;
    size_t footprint = t->param_bytes + t->grad_bytes + t->state_bytes + t->shadow_bytes;
    find_row(r);
    if (r->row)
        TRY(bench_product_peak(r->dtype, r->row, r->o->ms, &r->peak_side, &r->peak, d));
    r->update_bytes = update_bytes(t);
    return bench_copy(footprint, r->o->ms, &r->copy_rate, d);
}

/* FLOP/s of the passes through the model, at the median. */
static double model_rate(const struct result *r)
{
    return r->t.plan.totals.flops_per_step /
           (r->times[STEP_FORWARD].median + r->times[STEP_BACKWARD].median);
}

static double update_rate(const struct result *r)
{
    return r->update_bytes / r->times[STEP_UPDATE].median;
}

static json_t *as_json(const struct result *r)
{
    const struct spec *spec = r->t.spec;
    json_t *phases = json_object();
    for (int i = 0; i < STEP; i++)
        json_object_set_new(phases, names[i], json_real(1e3 * r->times[i].median));
    json_t *all =
        json_pack("{s:s, s:s, s:i, s:f, s:f, s:f, s:o}", "config", spec->path, "precision",
                  dtype_name(precision_dtype(&spec->precision)), "threads", par_threads(),
                  "median_step_ms", 1e3 * r->times[STEP].median, "best_step_ms",
                  1e3 * r->times[STEP].best, "peak_rss_mib", r->rss_mib, "phases", phases);
    json_t *more = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:f, s:f, s:I, s:f, s:f, s:f}", "cpu", cpu_name(), "row",
        r->row ? r->row : "", "parameters", (json_int_t)r->t.plan.totals.parameters, "steps",
        (json_int_t)r->n, "left_out", (json_int_t)r->left_out, "gflops", 1e-9 * model_rate(r),
        "peak_gflops", 1e-9 * r->peak, "peak_side", (json_int_t)r->peak_side, "update_bytes",
        r->update_bytes, "update_gbs", 1e-9 * update_rate(r), "copy_gbs", 1e-9 * r->copy_rate);
    if (all && more)
        json_object_update(all, more);
    json_decref(more);
    return all;
}

static void as_text(const struct result *r, struct str *out)
{
    const struct spec *spec = r->t.spec;
    bench_time_machine(out);
    str_printf(out, "%s: %s, %lld parameters, batch %lld", spec->path,
               dtype_name(precision_dtype(&spec->precision)),
               (long long)r->t.plan.totals.parameters, (long long)spec->train.batch);
    if (spec->train.accumulate > 1)
        str_printf(out, " x %lld", (long long)spec->train.accumulate);
    str_printf(out, "; %d steps", r->n);
    if (r->left_out > 0)
        str_printf(out, " (%lld skipped or short ones left out)", (long long)r->left_out);
    str_printf(out, "\n\n%-10s %10s %10s %7s\n", "phase", "median ms", "best ms", "share");
    for (int i = 0; i < SERIES; i++)
        str_printf(out, "%-10s %10.3f %10.3f %5.1f %%\n", names[i], 1e3 * r->times[i].median,
                   1e3 * r->times[i].best, 100 * r->times[i].median / r->times[STEP].median);
    str_printf(out, "\nforward and backward  %.1f GFLOP/s", 1e-9 * model_rate(r));
    if (r->row)
        str_printf(out, ", %.0f %% of the peak of %s: %.1f GFLOP/s, %lld^3",
                   100 * model_rate(r) / r->peak, r->row, 1e-9 * r->peak, (long long)r->peak_side);
    str_printf(
        out,
        "\nupdate                %.1f MB at least, %.2f GB/s, %.0f %% of the copy bandwidth: "
        "%.2f GB/s\n",
        1e-6 * r->update_bytes, 1e-9 * update_rate(r), 100 * update_rate(r) / r->copy_rate,
        1e-9 * r->copy_rate);
    str_printf(out, "peak resident memory  %.0f MiB\n", r->rss_mib);
}

enum rc bench_step(const struct bench_opts *o, const struct spec *spec, struct str *out,
                   struct diag *d)
{
    struct train_options quiet = {.quiet = true};
    struct result r = {.o = o, .t = {.spec = spec, .options = &quiet, .log = {.fd = -1}}};
    pool_init(&r.t.pool);
    enum rc rc = prepare(&r, d);
    if (rc == RC_OK)
        rc = run_steps(&r, d);
    if (rc == RC_OK)
        rc = measure_yardsticks(&r, d);
    if (rc == RC_OK && o->json)
        rc = bench_time_json(as_json(&r), out, d);
    else if (rc == RC_OK)
        as_text(&r, out);
    enum rc closed = log_file_close(&r.t.log, d);
    if (r.t.has_plan)
        plan_release(&r.t.plan);
    run_data_release(&r.t.data);
    pool_release(&r.t.pool);
    return rc == RC_OK ? closed : rc;
}
