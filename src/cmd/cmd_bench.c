/* cmd_bench.c: `mptrain bench TOPIC`: how fast the parts are on this machine (bench/bench.h).
 *
 * To add a topic: a row in `topics`; an option that not all topics take: a row in `given`. */
#include "config.h"

#include "cmd/cmd.h"

#include "base/cpu.h"
#include "base/par.h"
#include "base/str.h"
#include "bench/bench.h"

#include <string.h>

struct cmd_bench_opts {
    struct bench_opts bench;
    struct opt_texts sets, rows;
    const char *isa;
    int64_t threads;
};

enum topic_id { GEMM = 1, CAST = 2, OP = 4, STEP = 8 };

enum { DEFAULT_SIDE = 1024, DEFAULT_STEPS = 20, DEFAULT_WARMUP = 3, DEFAULT_MS = 300 };

static enum rc run_gemm(const struct cmd_bench_opts *o, const char *name, struct str *out,
                        struct diag *d)
{
    (void)name;
    return bench_gemm(&o->bench, out, d);
}

static enum rc run_cast(const struct cmd_bench_opts *o, const char *name, struct str *out,
                        struct diag *d)
{
    (void)name;
    return bench_cast(&o->bench, out, d);
}

static enum rc run_op(const struct cmd_bench_opts *o, const char *name, struct str *out,
                      struct diag *d)
{
    return bench_op(&o->bench, name, out, d);
}

static enum rc run_step(const struct cmd_bench_opts *o, const char *name, struct str *out,
                        struct diag *d)
{
    struct spec spec;
    TRY(config_load(&spec, name, o->sets.at, o->sets.n, d));
    enum rc rc = bench_step(&o->bench, &spec, out, d);
    spec_release(&spec);
    return rc;
}

static const struct topic {
    const char *name;
    enum topic_id id;
    const char *word; /* that must stand behind it, or NULL */
    enum rc (*run)(const struct cmd_bench_opts *o, const char *name, struct str *out,
                   struct diag *d);
} topics[] = {
    {"gemm", GEMM, NULL, run_gemm},
    {"cast", CAST, NULL, run_cast},
    {"op", OP, "NAME", run_op},
    {"step", STEP, "CONFIG", run_step},
};

/* An option with no effect on this topic is a mistake, not a wish to pass over. */
static enum rc check_options(const struct topic *t, const struct cmd_bench_opts *o, struct diag *d)
{
    const struct bench_opts *b = &o->bench;
    const struct {
        const char *name;
        bool given;
        unsigned topics;
    } given[] = {
        {"m", b->m > 0, GEMM},
        {"n", b->n > 0, GEMM},
        {"k", b->k > 0, GEMM},
        {"pack", b->pack, GEMM},
        {"row", o->rows.n > 0, GEMM | CAST},
        {"dtype", b->dtype != NULL, GEMM | OP},
        {"shape", b->shape != NULL, OP},
        {"attrs", b->attrs != NULL, OP},
        {"set", o->sets.n > 0, STEP},
        {"steps", b->steps > 0, STEP},
        {"warmup", b->warmup >= 0, STEP},
    };
    enum rc rc = RC_OK;
    for (size_t i = 0; i < COUNT_OF(given); i++)
        if (given[i].given && !(given[i].topics & t->id))
            rc = diag_error(d, RC_USAGE, NOWHERE, "bench %s: --%s does not belong to it", t->name,
                            given[i].name);
    if (rc == RC_USAGE)
        diag_note(d, NOWHERE, "see: mptrain bench --help");
    return rc;
}

static enum rc run_topic(const struct topic *t, const struct cmd_args *args, struct diag *d)
{
    struct cmd_bench_opts o = *(const struct cmd_bench_opts *)args->opts;
    struct bench_opts *b = &o.bench;
    struct str out;
    if (t->word && args->n < 2)
        return diag_error(d, RC_USAGE, NOWHERE,
                          "bench %s: something is missing: mptrain bench %s "
                          "%s",
                          t->name, t->name, t->word);
    if (!t->word && args->n > 1)
        return diag_error(d, RC_USAGE, NOWHERE, "bench %s: one word too many: '%.60s'", t->name,
                          args->words[1]);
    TRY(check_options(t, &o, d));
    b->m = b->m > 0 ? b->m : DEFAULT_SIDE;
    b->n = b->n > 0 ? b->n : DEFAULT_SIDE;
    b->k = b->k > 0 ? b->k : DEFAULT_SIDE;
    b->n_rows = o.rows.n;
    b->rows = o.rows.at;
    b->steps = b->steps > 0 ? b->steps : DEFAULT_STEPS;
    b->warmup = b->warmup >= 0 ? b->warmup : DEFAULT_WARMUP;
    TRY(cpu_init(o.isa, d));
    par_set_threads((int)o.threads);
    str_init(&out);
    enum rc rc = t->run(&o, args->n > 1 ? args->words[1] : NULL, &out, d);
    if (rc == RC_OK && out.failed)
        rc = diag_no_memory(d);
    if (rc == RC_OK)
        fputs(out.text, stdout);
    str_release(&out);
    return rc;
}

static const char *next_topic(const void *context, int i)
{
    (void)context;
    return (size_t)i < COUNT_OF(topics) ? topics[i].name : NULL;
}

static enum rc run(const struct cmd_args *args, struct diag *d)
{
    const char *word = args->words[0];
    for (size_t i = 0; i < COUNT_OF(topics); i++)
        if (strcmp(topics[i].name, word) == 0)
            return run_topic(&topics[i], args, d);
    diag_error(d, RC_USAGE, NOWHERE, "bench: unknown topic '%.60s'", word);
    const char *near = str_nearest(word, next_topic, NULL);
    if (near)
        diag_note(d, NOWHERE, "did you mean '%s'?", near);
    diag_note(d, NOWHERE, "topics: gemm, cast, op NAME, step CONFIG");
    return RC_USAGE;
}

#define AT(field) offsetof(struct cmd_bench_opts, field)
static const struct opt opts[] = {
    {"m", 0, OPT_INT, AT(bench.m), "M", 1, 1 << 20, "gemm: rows of A and C. Default 1024."},
    {"n", 0, OPT_INT, AT(bench.n), "N", 1, 1 << 20, "gemm: columns of B and C. Default 1024."},
    {"k", 0, OPT_INT, AT(bench.k), "K", 1, 1 << 20,
     "gemm: columns of A and rows of B. Default 1024."},
    {"dtype", 0, OPT_TEXT, AT(bench.dtype), "TYPE", 0, 0,
     "gemm, op: only fp32, bf16 or fp16. Default: each that can run."},
    {"row", 0, OPT_TEXTS, AT(rows), "NAME", 0, 0,
     "gemm, cast: only this kernel row; may be given several times. Default: each that can run."},
    {"pack", 0, OPT_FLAG, AT(bench.pack), NULL, 0, 0,
     "gemm: pack B anew for each product and count that too. Otherwise B is a weight that was "
     "packed before, as in a step."},
    {"shape", 0, OPT_TEXT, AT(bench.shape), "B,...", 0, 0,
     "op: shape of its inputs, the batch first, such as 256,1024. Default: the shapes of the op's "
     "own tests with a larger batch."},
    {"attrs", 0, OPT_TEXT, AT(bench.attrs), "YAML", 0, 0,
     "op: its keys, such as '{units: 1024}'. Default: those of its own tests."},
    {"set", 's', OPT_TEXTS, AT(sets), "KEY=VALUE", 0, 0,
     "step: change a key of the config, by its dotted path. May be given several times."},
    {"steps", 0, OPT_INT, AT(bench.steps), "N", 1, 1000000, "step: steps to time. Default 20."},
    {"warmup", 0, OPT_INT, AT(bench.warmup), "N", 0, 1000000,
     "step: steps before that. Default 3."},
    {"ms", 0, OPT_INT, AT(bench.ms), "N", 1, 600000,
     "Least time of one measurement, milliseconds. Default 300."},
    {"json", 0, OPT_FLAG, AT(bench.json), NULL, 0, 0, "Print one JSON object."},
    {"threads", 't', OPT_INT, AT(threads), "N", 0, PAR_MAX_THREADS, "Threads; 0 means all cores."},
    {"isa", 0, OPT_TEXT, AT(isa), "NAME", 0, 0,
     "Use no instructions above NAME: scalar, avx2, avx512, avx512_bf16 or amx."},
    {0}};

static const struct cmd_bench_opts defaults = {.bench = {.warmup = -1, .ms = DEFAULT_MS}};

const struct cmd cmd_bench = {
    .name = "bench",
    .help = "Measure how fast matrix products, conversions, ops and whole steps are here.",
    .usage = "gemm|cast|op|step [NAME|CONFIG] [OPTION]...",
    .about = "gemm: one matrix product on every kernel row. cast: conversions between the float "
             "types. op NAME: a layer or loss by itself. step CONFIG: training steps, phase by "
             "phase. Each measure is repeated; the best and the median are told.",
    .opts = opts,
    .opts_size = sizeof(struct cmd_bench_opts),
    .defaults = &defaults,
    .words_min = 1,
    .words_max = 2,
    .run = run,
};
