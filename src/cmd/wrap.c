/* wrap.c: see wrap.h. */
#include "config.h"

#include "cmd/wrap.h"

#include <string.h>

void wrap_print(FILE *to, const char *text, int indent)
{
    int column = indent;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > WRAP_WIDTH) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', to);
            column++;
        }
        fwrite(text, 1, (size_t)length, to);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', to);
}
