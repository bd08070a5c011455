/* cmd_report.c: `mptrain report RUN...`: what happened in one run or several (report/report.h). */
#include "config.h"

#include "cmd/cmd.h"

#include "base/str.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEFAULT_WIDTH = 80, MIN_WIDTH = 40, MAX_WIDTH = 400 };

struct report_opts {
    bool ascii;
};

/* Of the terminal; where there is none, of COLUMNS. */
static int screen_width(void)
{
    struct winsize size;
    int64_t width = DEFAULT_WIDTH;
    const char *columns = getenv("COLUMNS");
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    else if (columns && !str_to_int(columns, &width))
        width = DEFAULT_WIDTH;
    return width < MIN_WIDTH ? MIN_WIDTH : width > MAX_WIDTH ? MAX_WIDTH : (int)width;
}

/* Whether the environment promises UTF-8. By its text: setlocale() would change more than this. */
static bool speaks_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *value = getenv(names[i]);
        if (!value || !value[0])
            continue;
        for (; *value; value++)
            if (strncasecmp(value, "utf-8", 5) == 0 || strncasecmp(value, "utf8", 4) == 0)
                return true;
        return false;
    }
    return false;
}

static enum rc run(const struct cmd_args *args, struct diag *d)
{
    const struct report_opts *o = args->opts;
    struct report_run *runs = calloc((size_t)args->n, sizeof(*runs));
    enum rc rc = RC_OK;
    int n = 0;
    TRY_ALLOC(runs, d);
    for (int i = 0; i < args->n; i++) {
        enum rc of_run = report_run_load(&runs[n], args->words[i], d);
        n += of_run == RC_OK;
        rc = rc == RC_OK ? of_run : rc;
    }
    if (rc == RC_OK)
        rc = report_terminal(runs, n, screen_width(), o->ascii || !speaks_utf8(), stdout, d);
    for (int i = 0; i < n; i++)
        report_run_release(&runs[i]);
    free(runs);
    return rc;
}

static const struct opt opts[] = {
    {"ascii", 0, OPT_FLAG, offsetof(struct report_opts, ascii), NULL, 0, 0,
     "Draw with ASCII only. The default where LC_ALL, LC_CTYPE or LANG does not name UTF-8."},
    {0}};

const struct cmd cmd_report = {
    .name = "report",
    .help = "Tell what happened in a run: result, loss, skipped steps and why, loss scale, speed.",
    .usage = "RUN... [OPTION]...",
    .about = "Reads log.jsonl of each run folder, also of a run that is still going. Several runs "
             "stand side by side, with their difference from the first.",
    .opts = opts,
    .opts_size = sizeof(struct report_opts),
    .words_min = 1,
    .words_max = -1,
    .run = run,
};
