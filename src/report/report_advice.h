/* report_advice.h: what to do about a run, where the log leaves no doubt. */
#ifndef REPORT_ADVICE_H
#define REPORT_ADVICE_H

#include "report/report_stats.h"

/* named: say which run it is about. */
MUST_USE enum rc report_advice_print(const struct report_stats *s, bool named, bool ascii, FILE *to,
                                     struct diag *d);

#endif
