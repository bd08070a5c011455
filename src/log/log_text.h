/* log_text.h: a record as a line of JSON. */
#ifndef LOG_TEXT_H
#define LOG_TEXT_H

#include "base/str.h"
#include "log/record.h"

/* Appends the line with its end. Allocates only where out has no room. */
void log_text_line(struct str *out, const struct record *r);

#endif
