/* cmd_plan.c: `mptrain plan CONFIG`: everything that a run would do, and why, without a step. */
#include "config.h"

#include "cmd/cmd.h"

#include "base/cpu.h"
#include "base/par.h"
#include "plan/plan.h"
#include "train/run_data.h"

struct plan_opts {
    struct opt_texts sets;
    const char *isa;
    int64_t threads;
    bool verbose, json;
};

static enum rc show(const struct spec *spec, const struct plan_opts *o, struct diag *d)
{
    struct run_data data;
    struct plan plan;
    struct str text;
    TRY(run_data_open(&data, spec, d));
    enum rc rc = plan_make(&plan, spec, &data.shape, true, d);
    if (rc == RC_OK) {
        str_init(&text);
        rc = run_data_check(&data, &plan, d);
        if (rc == RC_OK && o->json)
            rc = plan_show_json(&plan, &text);
        else if (rc == RC_OK)
            plan_show(&plan, o->verbose, &text);
        if (rc == RC_OK && text.failed)
            rc = diag_no_memory(d);
        if (rc == RC_OK)
            fputs(text.text, stdout);
        str_release(&text);
        plan_release(&plan);
    }
    run_data_release(&data);
    return rc;
}

static enum rc run(const struct cmd_args *args, struct diag *d)
{
    const struct plan_opts *o = args->opts;
    struct spec spec;
    TRY(cpu_init(o->isa, d));
    par_set_threads((int)o->threads);
    TRY(config_load(&spec, args->words[0], o->sets.at, o->sets.n, d));
    enum rc rc = show(&spec, o, d);
    spec_release(&spec);
    return rc;
}

#define AT(field) offsetof(struct plan_opts, field)
static const struct opt opts[] = {
    {"set", 's', OPT_TEXTS, AT(sets), "KEY=VALUE", 0, 0,
     "Change a key of the config, by its dotted path. May be given several times."},
    {"verbose", 'v', OPT_FLAG, AT(verbose), NULL, 0, 0,
     "Also the kernel rows that were refused for each GEMM, and why."},
    {"json", 0, OPT_FLAG, AT(json), NULL, 0, 0, "Print one JSON object."},
    {"threads", 't', OPT_INT, AT(threads), "N", 0, PAR_MAX_THREADS,
     "Threads that scratch memory is planned for; 0 means all cores."},
    {"isa", 0, OPT_TEXT, AT(isa), "NAME", 0, 0,
     "Plan for no instructions above NAME: scalar, avx2, avx512, avx512_bf16 or amx."},
    {0}};

const struct cmd cmd_plan = {
    .name = "plan",
    .help = "Show the layers, their precision and the rule behind it, kernels and memory.",
    .usage = "CONFIG [OPTION]...",
    .about = "Reads the data too, so a config that passes here will start.",
    .opts = opts,
    .opts_size = sizeof(struct plan_opts),
    .words_min = 1,
    .words_max = 1,
    .run = run,
};
