/* wrap.h: running text in lines of a terminal's usual width. */
#ifndef WRAP_H
#define WRAP_H

#include <stdio.h>

enum { WRAP_WIDTH = 80 };

/* Prints text and a newline; each line but the first stands behind `indent` blanks, and the first
 * is taken to start at that column. */
void wrap_print(FILE *to, const char *text, int indent);

#endif
