/* report_chart.h: small line charts of the loss and of log2 of the loss scale. */
#ifndef REPORT_CHART_H
#define REPORT_CHART_H

#include "report/report_stats.h"

/* Several runs: one below the other, on common axes. A chart with nothing to show is left out. */
MUST_USE enum rc report_chart_print(const struct report_stats *runs, int n, int width, bool ascii,
                                    FILE *to, struct diag *d);

#endif
