/* report_text.h: text for terminals. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "base/str.h"

/* Appends text that came from a file: a control character, which could play tricks on the terminal,
 * becomes '?', and with `ascii` so does every character beyond ASCII. */
void report_text_safe(struct str *out, const char *text, bool ascii);

/* Columns on the screen: UTF-8 characters. */
int report_text_width(const char *text);

/* Shortens to at most `width` columns, with ".." at the end where something was cut. */
void report_text_cut(struct str *s, int width);

/* 203530 -> "203,530" */
void report_text_count(struct str *out, int64_t n);

#endif
