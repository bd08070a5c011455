/* cmd_list.c: `mptrain list TOPIC`: what this program has, from the tables that it works by.
 *
 * To add a topic: a function and a row in `topics`. */
#include "config.h"

#include "cmd/cmd.h"

#include "base/cpu.h"
#include "base/str.h"
#include "cmd/key_text.h"
#include "cmd/wrap.h"
#include "dataset/dataset.h"
#include "op/op.h"
#include "optim/optim.h"

#include <string.h>

struct list_opts {
    bool verbose;
    const char *isa;
};

struct topic {
    const char *name, *help;
    enum rc (*print)(const struct list_opts *o, const char *name, struct diag *d);
};

static void print_keys(const struct key *rows, int indent)
{
    for (const struct key *row = rows; row && row->name; row++) {
        char type[KEY_TEXT_ROOM], range[KEY_TEXT_ROOM];
        const char *limits = key_text_range(row, range);
        printf("%*s%s: %s", indent, "", row->name, key_text_type(row, type));
        if (limits[0])
            printf(", %s", limits);
        const char *given = key_text_default(row);
        if (given[0])
            printf(" (%s%s)", row->def ? "default " : "", given);
        putchar('\n');
        char help[KEY_TEXT_HELP_ROOM];
        printf("%*s", indent + 4, "");
        wrap_print(stdout, key_text_sentence(row->help, help), indent + 4);
    }
}

static enum rc print_ops(const struct list_opts *o, const char *name, struct diag *d)
{
    const struct op *op;
    (void)name;
    (void)d;
    for (int i = 0; (op = op_at(i)) != NULL; i++) {
        if (op->kind == OP_INTERNAL)
            continue;
        printf("%-16s %-6s %-6s %s\n", op->name, op->kind == OP_LOSS ? "loss" : "layer",
               op_class_name(op->class), op->help);
        if (o->verbose)
            print_keys(op->keys, 4);
    }
    return RC_OK;
}

static enum rc print_optimizers(const struct list_opts *o, const char *name, struct diag *d)
{
    const struct optim *optim;
    (void)name;
    (void)d;
    for (int i = 0; (optim = optim_at(i)) != NULL; i++) {
        printf("%-16s %s\n", optim->name, optim->help);
        if (o->verbose)
            print_keys(optim->keys, 4);
    }
    return RC_OK;
}

static enum rc print_datasets(const struct list_opts *o, const char *name, struct diag *d)
{
    const struct reader *reader;
    (void)name;
    (void)d;
    for (int i = 0; (reader = dataset_reader_at(i)) != NULL; i++) {
        printf("%-16s %s\n", reader->name, reader->help);
        if (o->verbose)
            print_keys(reader->keys, 4);
    }
    return RC_OK;
}

static void print_levels(void)
{
    printf("CPU: %s\n", cpu_name());
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const char *missing = cpu_missing((enum isa)isa);
        printf("  %-14s %-3s %s%s%s\n", isa_name((enum isa)isa), missing ? "no" : "yes",
               isa_help((enum isa)isa), missing ? ": " : "", missing ? missing : "");
    }
}

/* A row is tried with a plain product in each type. What it says when it takes none of them is the
 * reason; rows that a CPU cannot run say the same each time. */
static void print_row(const char *row, const char *help)
{
    static const enum dtype types[] = {DTYPE_F32, DTYPE_BF16, DTYPE_F16};
    const char *reason = NULL, *last = NULL;
    char takes[32] = "";
    size_t at = 0;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        struct gemm_plan plan;
        struct gemm_desc desc = {.m = 64,
                                 .n = 64,
                                 .k = 64,
                                 .a = types[i],
                                 .b = types[i],
                                 .c = DTYPE_F32,
                                 .compute = types[i],
                                 .b_is_weight = true};
        if (kern_gemm_plan_row(&plan, &desc, row, &last))
            at += (size_t)snprintf(takes + at, sizeof(takes) - at, "%s%s", at ? " " : "",
                                   dtype_name(types[i]));
        else
            reason = last;
    }
    printf("  %-14s %-14s %s%s%s\n", row, at ? takes : "no", help, at ? "" : ": ",
           at ? "" : reason);
}

static enum rc print_kernels(const struct list_opts *o, const char *name, struct diag *d)
{
    (void)name;
    TRY(cpu_init(o->isa, d));
    print_levels();
    puts("rows of kern_gemm, best first, and the types they compute in here:");
    const char *row;
    for (int i = 0; (row = kern_gemm_row_name(i)) != NULL; i++)
        print_row(row, kern_gemm_row_help(i));
    return RC_OK;
}

static enum rc print_commands(const struct list_opts *o, const char *name, struct diag *d)
{
    const struct cmd *c;
    (void)name;
    (void)d;
    for (int i = 0; (c = cmd_at(i)) != NULL; i++) {
        printf("%-12s %s\n", c->name, c->help);
        for (const struct opt *opt = o->verbose ? c->opts : NULL; opt && opt->name; opt++)
            printf("    --%s%s%s\n        %s\n", opt->name, opt->value ? " " : "",
                   opt->value ? opt->value : "", opt->help);
    }
    return RC_OK;
}

static const char *next_table(const void *context, int i)
{
    (void)context;
    return key_text_at(i).name;
}

static enum rc print_tables(const struct list_opts *o, const char *name, struct diag *d)
{
    struct key_text_table table;
    bool found = false;
    (void)o;
    for (int i = 0; (table = key_text_at(i)).name != NULL; i++) {
        if (name && strcmp(name, table.name) != 0)
            continue;
        printf("%s (%s): %s\n", table.name, table.kind, table.help);
        print_keys(table.rows, 4);
        found = true;
    }
    if (found)
        return RC_OK;
    diag_error(d, RC_USAGE, NOWHERE, "list keys: nothing is named '%.60s'", name);
    const char *near = str_nearest(name, next_table, NULL);
    if (near)
        diag_note(d, NOWHERE, "did you mean '%s'?", near);
    return RC_USAGE;
}

static const struct topic topics[] = {
    {"ops", "layers and losses, with the precision class of each", print_ops},
    {"optimizers", "optimizers", print_optimizers},
    {"datasets", "data formats", print_datasets},
    {"kernels", "kernel rows, and which of them this CPU can run", print_kernels},
    {"commands", "commands of mptrain", print_commands},
    {"keys", "config keys, of everything or of NAME", print_tables},
};

static const char *next_topic(const void *context, int i)
{
    (void)context;
    return (size_t)i < COUNT_OF(topics) ? topics[i].name : NULL;
}

static enum rc run(const struct cmd_args *args, struct diag *d)
{
    const char *word = args->words[0];
    for (size_t i = 0; i < COUNT_OF(topics); i++) {
        if (strcmp(topics[i].name, word) != 0)
            continue;
        if (args->n > 1 && topics[i].print != print_tables)
            return diag_error(d, RC_USAGE, NOWHERE, "list: one word too many: '%.60s'",
                              args->words[1]);
        return topics[i].print(args->opts, args->n > 1 ? args->words[1] : NULL, d);
    }
    diag_error(d, RC_USAGE, NOWHERE, "list: unknown topic '%.60s'", word);
    const char *near = str_nearest(word, next_topic, NULL);
    if (near)
        diag_note(d, NOWHERE, "did you mean '%s'?", near);
    diag_note(d, NOWHERE, "topics: ops, optimizers, datasets, kernels, commands, keys");
    return RC_USAGE;
}

static const struct opt opts[] = {
    {"verbose", 'v', OPT_FLAG, offsetof(struct list_opts, verbose), NULL, 0, 0,
     "Print the keys or options of each item too."},
    {"isa", 0, OPT_TEXT, offsetof(struct list_opts, isa), "NAME", 0, 0,
     "List kernels as if the CPU had no more than this: scalar, avx2, avx512, avx512_bf16 or amx."},
    {0}};

const struct cmd cmd_list = {
    .name = "list",
    .help = "List what there is: ops, optimizers, datasets, kernels, commands, keys.",
    .usage = "ops|optimizers|datasets|kernels|commands|keys [NAME] [OPTION]...",
    .about =
        "Prints one line for each item. 'list keys' prints the config keys of every section, op, "
        "optimizer and data format, or only those of NAME.",
    .opts = opts,
    .opts_size = sizeof(struct list_opts),
    .words_min = 1,
    .words_max = 2,
    .run = run,
};
