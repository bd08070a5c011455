/* cmd.h: what a command is. One command is one file, cmd_<verb>.c, and one line in cmd.list.
 * Help, parsing, completion and the man page's option table come from the same records.
 *
 * To add a command: write cmd_<verb>.c ending in `const struct cmd cmd_<verb>`, add CMD(<verb>) to
 * cmd.list and the file to Makefile.am, and write man/mptrain-<verb>.1. */
#ifndef CMD_H
#define CMD_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_type {
    OPT_FLAG,  /* bool */
    OPT_INT,   /* int64_t */
    OPT_TEXT,  /* const char * */
    OPT_TEXTS, /* struct opt_texts: may be given several times */
    OPT_MAYBE, /* const char *: --name or --name=VALUE; "" where no value is given */
};

struct opt_texts {
    int n;
    const char **at;
};

struct opt {
    const char *name; /* long name, without the dashes */
    char letter;      /* short form, or 0 */
    enum opt_type type;
    size_t offset;     /* in the command's options struct */
    const char *value; /* "FILE", "N": what help calls it; NULL for a flag */
    int64_t min, max;  /* OPT_INT; both 0: no limit */
    const char *help;
};

/* What a command gets: its options struct, filled, and the words that are no options. */
struct cmd_args {
    const void *opts;
    int n;
    const char *const *words;
    bool help; /* -h or --help was given; the rest was not looked at */
};

struct cmd {
    const char *name, *help;
    const char *usage;      /* "CONFIG [OPTION]...": behind the name */
    const char *about;      /* a paragraph for --help, or NULL */
    const struct opt *opts; /* ends with name NULL; may be NULL */
    size_t opts_size;
    const void *defaults;     /* an options struct, or NULL for zeros */
    int words_min, words_max; /* max -1: any number */
    enum rc (*run)(const struct cmd_args *args, struct diag *d);
};

const struct cmd *cmd_find(const char *name); /* NULL: none */
const struct cmd *cmd_at(int i);              /* NULL behind the last */

/* The whole program: finds the command, parses its options, runs it, prints what went wrong.
 * Returns the exit code. */
int cmd_main(int argc, char **argv);

/* Prints the items of d that were not printed yet: for warnings that should be seen at once.
 * cmd_main does it at the end. */
void cmd_tell(const struct diag *d);

/* Parses the words behind the command's name into opts (opts_size bytes, defaults already in).
 * argv is put in another order: out->words points into it. RC_USAGE with suggestions; all mistakes
 * are told. OPT_TEXTS own memory: opt_release, whatever was returned. */
MUST_USE enum rc opt_parse(const struct cmd *c, int argc, char **argv, void *opts,
                           struct cmd_args *out, struct diag *d);
void opt_release(const struct cmd *c, void *opts);
/* What --help prints. */
void opt_help(const struct cmd *c, FILE *to);

#endif
