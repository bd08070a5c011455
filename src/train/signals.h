/* signals.h: SIGINT and SIGTERM: the first asks for a stop after the step, the second ends at once
 * with code 130 (nothing is half written: files change by rename only). */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>

void signals_catch(void);
bool signals_stop(void);

#endif
