/* reader.h: the inner parts of the readers that take bytes from any struct data_file: what the
 * fuzzer drives from memory. */
#ifndef READER_H
#define READER_H

#include "dataset/data_array.h"
#include "dataset/data_file.h"
#include "dataset/dataset.h"

/* The keys of a split, as their reader's rows fill them. */
struct idx_attrs {
    const char *inputs, *targets; /* targets "": none */
};

struct npy_attrs {
    const char *inputs, *targets;
};

struct images_attrs {
    const char *folder;
    int channels;         /* auto, grey, rgb */
    struct key_list size; /* n 0: as they are */
};

struct csv_attrs {
    const char *file;
    int header;    /* enum csv_header */
    int delimiter; /* enum csv_delimiter */
    int64_t skip_lines;
    struct key_list features; /* names or numbers; n 0: all columns but the targets */
    struct key_list target;   /* n 0: the last column */
};

enum csv_header { CSV_HEADER_AUTO, CSV_HEADER_YES, CSV_HEADER_NO };
enum csv_delimiter { CSV_AUTO, CSV_COMMA, CSV_TAB, CSV_SEMICOLON, CSV_SPACE };

struct synthetic_attrs {
    struct key_list shape; /* of one row */
    int64_t rows, classes, target_columns;
    int distribution; /* enum synthetic_distribution */
};

data_array_header reader_idx_header, reader_npy_header;

/* Reads a whole CSV; split is filled by csv's keys. inputs_only: `predict`: there need be no target
 * column. */
MUST_USE enum rc reader_csv_load(struct dataset *out, struct data_file *f,
                                 const struct section *split, const struct dataset_want *want,
                                 bool inputs_only, struct diag *d);

#endif
