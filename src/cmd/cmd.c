/* cmd.c: the program from its command line to its exit code.
 *
 * Finds the command in the table made of cmd.list, lets opt.c fill its options, runs it and prints
 * what went wrong. What commands print on standard output is checked here, once, at the end. */
#include "config.h"

#include "cmd/cmd.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CMD(name) extern const struct cmd cmd_##name;
#include "cmd/cmd.list"
#undef CMD

static const struct cmd *const commands[] = {
#define CMD(name) &cmd_##name,
#include "cmd/cmd.list"
#undef CMD
};

const struct cmd *cmd_at(int i)
{
    return i >= 0 && (size_t)i < COUNT_OF(commands) ? commands[i] : NULL;
}

const struct cmd *cmd_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static const char *next_command(const void *context, int i)
{
    (void)context;
    const struct cmd *c = cmd_at(i);
    return c ? c->name : NULL;
}

static const struct cmd *find_or_say(const char *name, struct diag *d)
{
    const struct cmd *c = cmd_find(name);
    if (c)
        return c;
    diag_error(d, RC_USAGE, NOWHERE, "unknown %s '%.60s'", name[0] == '-' ? "option" : "command",
               name);
    const char *near = str_nearest(name, next_command, NULL);
    if (near)
        diag_note(d, NOWHERE, "did you mean '%s'?", near);
    diag_note(d, NOWHERE, "see: mptrain help");
    return NULL;
}

static void print_commands(FILE *to)
{
    fputs("usage: mptrain COMMAND [ARGUMENT]...\n\n"
          "Trains neural networks on the CPU in mixed precision, from one YAML file.\n\n"
          "commands:\n",
          to);
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        fprintf(to, "  %-12s %s\n", commands[i]->name, commands[i]->help);
    fputs("  help         Print this, or the help of a command.\n\n"
          "'mptrain help COMMAND' and 'mptrain COMMAND --help' tell more; --version tells the "
          "version.\n",
          to);
}

/* mptrain help [COMMAND] */
static enum rc run_help(int argc, char **argv, struct diag *d)
{
    bool plain = argc == 0 || argv[0][0] == '-' || strcmp(argv[0], "help") == 0;
    if (plain) {
        print_commands(stdout);
        return RC_OK;
    }
    const struct cmd *c = find_or_say(argv[0], d);
    if (!c)
        return RC_USAGE;
    opt_help(c, stdout);
    return RC_OK;
}

static enum rc run_command(const struct cmd *c, int argc, char **argv, struct diag *d)
{
    void *opts = calloc(1, c->opts_size + 1);
    TRY_ALLOC(opts, d);
    if (c->defaults)
        memcpy(opts, c->defaults, c->opts_size);
    struct cmd_args args;
    enum rc rc = opt_parse(c, argc, argv, opts, &args, d);
    if (rc == RC_OK && args.help)
        opt_help(c, stdout);
    else if (rc == RC_OK)
        rc = c->run(&args, d);
    opt_release(c, opts);
    free(opts);
    return rc;
}

static enum rc dispatch(int argc, char **argv, struct diag *d)
{
    if (argc < 2) {
        print_commands(stderr);
        return RC_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) {
        puts(PACKAGE_NAME " " PACKAGE_VERSION);
        return RC_OK;
    }
    if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return run_help(argc - 2, argv + 2, d);
    const struct cmd *c = find_or_say(word, d);
    return c ? run_command(c, argc - 2, argv + 2, d) : RC_USAGE;
}

/* A closed standard stream would lend its number to the next file opened, the log or a checkpoint,
 * and messages would end up in it. Opened the wrong way round, so that using it fails. */
static void hold_standard_streams(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
            return;
}

static enum rc check_stdout(enum rc rc, struct diag *d)
{
    bool before = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !before)
        return rc;
    const char *why = errno ? strerror(errno) : "write error";
    enum rc failed = diag_error(d, RC_FAILED, NOWHERE, "cannot write to standard output: %s", why);
    return rc == RC_OK ? failed : rc;
}

void cmd_tell(const struct diag *d)
{
    static int n_told;
    fflush(stdout);
    n_told = diag_print(d, n_told, stderr);
}

int cmd_main(int argc, char **argv)
{
    static struct diag d;
    hold_standard_streams();
    diag_init(&d);
    enum rc rc = dispatch(argc, argv, &d);
    rc = check_stdout(rc, &d);
    cmd_tell(&d);
    return (int)rc;
}
