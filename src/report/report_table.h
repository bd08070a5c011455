/* report_table.h: the runs in a table, a column a run, and the causes of skipped steps. */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "report/report_stats.h"

MUST_USE enum rc report_table_print(const struct report_stats *runs, int n, int width, bool ascii,
                                    FILE *to, struct diag *d);

#endif
