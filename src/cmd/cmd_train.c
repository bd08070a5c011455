/* cmd_train.c: `mptrain train CONFIG`: loads the config and runs it (train/train.c). */
#include "config.h"

#include "cmd/cmd.h"

#include "base/cpu.h"
#include "base/par.h"
#include "config/spec.h"
#include "train/train.h"

struct train_opts {
    struct opt_texts sets;
    const char *resume, *out, *isa;
    int64_t threads, steps;
    bool overwrite, quiet;
};

static enum rc run(const struct cmd_args *args, struct diag *d)
{
    const struct train_opts *o = args->opts;
    struct train_options options = {o->out, o->resume, o->overwrite, o->quiet, o->steps};
    struct spec spec;
    if (o->resume && o->overwrite)
        return diag_error(d, RC_USAGE, NOWHERE, "--resume and --overwrite exclude each other");
    TRY(cpu_init(o->isa, d));
    par_set_threads((int)o->threads);
    TRY(config_load(&spec, args->words[0], o->sets.at, o->sets.n, d));
    cmd_tell(d);
    enum rc rc = train_run(&spec, &options, d);
    spec_release(&spec);
    return rc;
}

#define AT(field) offsetof(struct train_opts, field)
static const struct opt opts[] = {
    {"set", 's', OPT_TEXTS, AT(sets), "KEY=VALUE", 0, 0,
     "Change a key of the config, by its dotted path. May be given several times."},
    {"resume", 0, OPT_MAYBE, AT(resume), "FILE", 0, 0,
     "Go on from the newest whole checkpoint of the run folder, or from FILE. Starts at the first "
     "step where there is none."},
    {"out", 'o', OPT_TEXT, AT(out), "DIR", 0, 0, "The run folder. Default: runs/<config name>."},
    {"overwrite", 0, OPT_FLAG, AT(overwrite), NULL, 0, 0,
     "Replace an earlier run in the folder."},
    {"threads", 't', OPT_INT, AT(threads), "N", 0, PAR_MAX_THREADS,
     "Threads; 0 means all cores. Every number gives the same bits."},
    {"isa", 0, OPT_TEXT, AT(isa), "NAME", 0, 0,
     "Use no instructions above NAME: scalar, avx2, avx512, avx512_bf16 or amx. Default: "
     "MPTRAIN_ISA, else the best there is."},
    {"steps", 0, OPT_INT, AT(steps), "N", 0, INT64_MAX,
     "End after step N, without changing the schedule; 0 means as the config says."},
    {"quiet", 'q', OPT_FLAG, AT(quiet), NULL, 0, 0, "Print errors and warnings only."},
    {0}};

const struct cmd cmd_train = {
    .name = "train",
    .help = "Train a network as a config file says.",
    .usage = "CONFIG [OPTION]...",
    .about = "Writes config.yaml, log.jsonl and checkpoints into the run folder.",
    .opts = opts,
    .opts_size = sizeof(struct train_opts),
    .words_min = 1,
    .words_max = 1,
    .run = run,
};
