/* report.h: from a run's log to what a person wants to know. */
#ifndef REPORT_H
#define REPORT_H

#include "base/diag.h"
#include "log/log_file.h"

/* One run, its log condensed: of a step that was run twice (after a kill), the last one counts. */
struct report_run {
    const char *name;           /* folder, as given; borrowed */
    struct log_records records;
};

MUST_USE enum rc report_run_load(struct report_run *out, const char *folder, struct diag *d);
void report_run_release(struct report_run *r);

/* Tables (run, result, skips with cause, scale changes, evaluations) and small line charts of loss
 * and log2 of the loss scale, skips marked. Several runs: side by side, a column a run, numbers
 * with their difference from the first run. width: of the terminal. ascii: nothing but ASCII. */
MUST_USE enum rc report_terminal(struct report_run *runs, int n, int width, bool ascii,
                                 FILE *to, struct diag *d);

#endif
