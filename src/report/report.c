/* report.c: a run's log is read and condensed, and told on the terminal: first the table, then why
 * steps were skipped and what to do about it, then the charts (see report.h). */
#include "config.h"

#include "report/report.h"

#include "report/report_advice.h"
#include "report/report_chart.h"
#include "report/report_stats.h"
#include "report/report_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

/* A resumed run has done some steps twice. Walks backwards: behind a start that went on from step
 * R, whatever came before it about later steps is void. */
static void condense(struct log_records *records)
{
    int64_t limit = INT64_MAX, kept = records->n;
    for (int64_t i = records->n - 1; i >= 0; i--) {
        const struct record *r = &records->at[i];
        if (r->type != RECORD_HEADER && r->step > limit)
            continue;
        if (r->type == RECORD_HEADER && r->resumed_from < limit)
            limit = r->resumed_from;
        records->at[--kept] = *r;
    }
    records->at += kept;
    records->n -= kept;
}

enum rc report_run_load(struct report_run *out, const char *folder, struct diag *d)
{
    struct stat info;
    struct pool pool;
    out->name = folder;
    if (stat(folder, &info) == 0 && !S_ISDIR(info.st_mode))
        return diag_error(d, RC_DATA, (struct loc){folder, 0, 0},
                          "not a run: a run's folder is expected, the one that holds log.jsonl");
    pool_init(&pool);
    const char *path = pool_printf(&pool, "%s/log.jsonl", folder);
    enum rc rc = RC_OK;
    if (!path)
        rc = diag_no_memory(d);
    else if (stat(path, &info) != 0)
        rc = diag_error(d, RC_DATA, (struct loc){folder, 0, 0},
                        "not a run: there is no log.jsonl in it");
    else
        rc = log_file_read(&out->records, path, d);
    if (rc == RC_OK && out->records.n == 0) {
        rc = diag_error(d, RC_DATA, (struct loc){path, 0, 0}, "the log holds no record yet");
        log_records_release(&out->records);
    }
    if (rc == RC_OK)
        condense(&out->records);
    pool_release(&pool);
    return rc;
}

void report_run_release(struct report_run *r)
{
    log_records_release(&r->records);
}

enum rc report_terminal(struct report_run *runs, int n, int width, bool ascii, FILE *to,
                        struct diag *d)
{
    struct report_stats *stats = calloc((size_t)n, sizeof(*stats));
    TRY_ALLOC(stats, d);
    enum rc rc = RC_OK;
    for (int i = 0; i < n && rc == RC_OK; i++)
        rc = report_stats_make(&stats[i], &runs[i], d);
    if (rc == RC_OK)
        rc = report_table_print(stats, n, width, ascii, to, d);
    for (int i = 0; i < n && rc == RC_OK; i++)
        rc = report_advice_print(&stats[i], n > 1, ascii, to, d);
    if (rc == RC_OK)
        rc = report_chart_print(stats, n, width, ascii, to, d);
    free(stats);
    return rc;
}
