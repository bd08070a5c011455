/* data_file.h: the bytes of a data file, plain or gzip, as one checked stream.
 *
 * Between the file system (or memory, in tests and fuzzing) and the readers. gzip is told by the
 * first two bytes, never by the name. Invariant: a short count from data_file_read means the true
 * end: a cut, damaged or overlong gzip file is an error that names the file, never a shorter one.
 */
#ifndef DATA_FILE_H
#define DATA_FILE_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

struct data_file {
    const char *name; /* borrowed: for messages */
    int fd;           /* -1: reads from memory */
    bool gzip, open_member, ended;
    int64_t plain_bytes;         /* size of a plain regular file or of memory; -1: not known */
    uint64_t passed;             /* bytes handed out so far */
    const unsigned char *memory; /* borrowed: what is left of it */
    size_t memory_left;
    unsigned char *buffer; /* owned; raw bytes of the file */
    size_t at, filled;     /* in buffer */
    z_stream z;
};

/* On failure nothing is left to close. */
MUST_USE enum rc data_file_open(struct data_file *f, const char *path, struct diag *d);
MUST_USE enum rc data_file_open_memory(struct data_file *f, const char *name, const void *bytes,
                                       size_t n, struct diag *d);
void data_file_close(struct data_file *f);

/* Reads n bytes, or fewer at the end of the data. */
MUST_USE enum rc data_file_read(struct data_file *f, void *to, size_t n, size_t *got,
                                struct diag *d);

/* Reads exactly n more bytes, and the data must end there. *out is allocated as bytes arrive, so
 * that a header cannot ask for memory that the file does not fill; free() it. */
MUST_USE enum rc data_file_read_rest(struct data_file *f, size_t n, void **out, struct diag *d);

#endif
