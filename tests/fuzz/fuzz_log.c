/* fuzz_log.c: hostile logs, read and reported: words for what is refused, and a report of what is
 * accepted, with one run and with two. */
#include "config.h"

#include "fuzz.h"

#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void report(struct report_run runs[2], struct diag *d)
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    BUG_IF(!to);
    BUG_IF(report_terminal(runs, 1, 80, false, to, d) != RC_OK);
    BUG_IF(report_terminal(runs, 2, 40, true, to, d) != RC_OK);
    BUG_IF(fclose(to) != 0 || !str_is_utf8(text, size));
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char folder[] = "/tmp/fuzz_log-XXXXXX", path[64];
    static struct diag d;
    struct report_run runs[2];
    if (!path[0]) {
        BUG_IF(!mkdtemp(folder));
        snprintf(path, sizeof(path), "%s/log.jsonl", folder);
    } else {
        BUG_IF(mkdir(folder, 0700) != 0);
    }
    FILE *f = fopen(path, "wb");
    BUG_IF(!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0);
    diag_init(&d);
    enum rc rc = report_run_load(&runs[0], folder, &d);
    BUG_IF((rc == RC_OK) != (d.n_errors == 0));
    if (rc == RC_OK) {
        BUG_IF(report_run_load(&runs[1], folder, &d) != RC_OK);
        report(runs, &d);
        report_run_release(&runs[0]);
        report_run_release(&runs[1]);
    }
    unlink(path);
    rmdir(folder);
    return 0;
}
