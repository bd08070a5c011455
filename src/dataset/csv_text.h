/* csv_text.h: the records and fields of a delimited text file, read as a stream.
 *
 * Between data_file and reader_csv. RFC 4180 with these additions: other delimiters, blanks around
 * fields do not count, lines may end in LF, a byte-order mark at the start is passed over. */
#ifndef CSV_TEXT_H
#define CSV_TEXT_H

#include "dataset/data_file.h"

struct csv_field {
    char *text; /* terminated, unquoted; lives until the next record is read */
    int column; /* its place in the line, from 1 */
};

struct csv_text {
    struct data_file *f; /* borrowed */
    char delimiter;      /* ' ': runs of blanks and tabs; 0: tell from the first record */
    int line;            /* of the record read last, from 1 */
    int next_line;
    char *buffer; /* owned */
    size_t at, filled, room;
    bool at_end;
    struct csv_field *fields; /* owned */
    int n_fields, field_room;
};

/* Passes over skip_lines lines. On failure nothing is left to release. */
MUST_USE enum rc csv_text_init(struct csv_text *t, struct data_file *f, char delimiter,
                               int64_t skip_lines, struct diag *d);
void csv_text_release(struct csv_text *t);

/* Reads the next record into fields; *got false at the end. Blank lines may stand at the end only.
 * A record with broken quotes is reported and *got is true with n_fields 0. */
MUST_USE enum rc csv_text_next(struct csv_text *t, bool *got, struct diag *d);

#endif
