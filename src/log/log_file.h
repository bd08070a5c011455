/* log_file.h: log.jsonl, written and read. One JSON object a line, one write() a line. */
#ifndef LOG_FILE_H
#define LOG_FILE_H

#include "base/diag.h"
#include "base/pool.h"
#include "base/str.h"
#include "log/record.h"


struct log_file {
    int fd;           /* -1: closed */
    const char *path; /* borrowed */
    bool failed;      /* a write failed: told once; the run's exit code will say so */
    bool regular;     /* a file that can be cut, no pipe or device */
    int64_t starts;   /* header records that were in it when it was opened */
    struct str line;  /* kept between lines, so that writing a step allocates nothing */
};

/* Opens for appending; a last line without its end (a kill in mid-write) is cut off first. */
MUST_USE enum rc log_file_open(struct log_file *l, const char *path, struct diag *d);
/* Writes one line. A failure is an error in d the first time only; from then on the answer is
 * RC_FAILED, but each line is still tried (the disk may have been freed). */
MUST_USE enum rc log_file_write(struct log_file *l, const struct record *r, struct diag *d);
/* RC_FAILED too where a write had failed. A file that was never opened (fd -1) is fine. */
MUST_USE enum rc log_file_close(struct log_file *l, struct diag *d);

/* A whole log in memory. Unknown types and fields are passed over (a newer version wrote them);
 * a line that is no JSON object is an error with its number. */
struct log_records {
    struct pool pool;
    int64_t n;
    struct record *at;
};
MUST_USE enum rc log_file_read(struct log_records *out, const char *path, struct diag *d);
void log_records_release(struct log_records *r);

#endif
