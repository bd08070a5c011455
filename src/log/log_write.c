/* log_write.c: log.jsonl grows by one line at a time (see log_file.h).
 *
 * Invariant: the file holds whole lines only. A line goes out in one write(2); where only a part of
 * it fits, that part is cut off again; a part that a kill left behind is cut off at the next open.
 */
#include "config.h"

#include "log/log_file.h"
#include "log/log_text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINE_ROOM = 8192, /* for any line of the step loop */
    LOOK_BACK = 4096,
};

static enum rc fail(struct log_file *l, const char *what, int error, struct diag *d)
{
    if (!l->failed)
        diag_error(d, RC_FAILED, (struct loc){l->path, 0, 0}, "cannot %s the log: %s", what,
                   strerror(error));
    l->failed = true;
    return RC_FAILED;
}

/* Where the last whole line ends; -1: cannot be read. */
static off_t whole_lines(int fd, off_t size)
{
    char piece[LOOK_BACK];
    for (off_t end = size; end > 0;) {
        off_t start = end > LOOK_BACK ? end - LOOK_BACK : 0;
        ssize_t n = pread(fd, piece, (size_t)(end - start), start);
        if (n != end - start)
            return -1;
        for (off_t i = n; i > 0; i--)
            if (piece[i - 1] == '\n')
                return start + i;
        end = start;
    }
    return 0;
}

/* Lines that begin as a header record does; -1: cannot be read. */
static int64_t count_starts(int fd)
{
    static const char begin[] = "{\"type\":\"header\"";
    char piece[LOOK_BACK];
    int64_t found = 0;
    size_t match = 0; /* so much of `begin` has come since the last newline; beyond: not a header */
    ssize_t n;
    for (off_t at = 0; (n = pread(fd, piece, sizeof(piece), at)) != 0; at += n) {
        if (n < 0)
            return -1;
        for (ssize_t i = 0; i < n; i++) {
            if (piece[i] == '\n')
                match = 0;
            else if (match < sizeof(begin) - 1)
                match = piece[i] == begin[match] ? match + 1 : sizeof(begin);
            else
                continue;
            found += match == sizeof(begin) - 1;
        }
    }
    return found;
}

static enum rc cut_half_line(struct log_file *l, struct diag *d)
{
    struct stat info;
    if (fstat(l->fd, &info) != 0)
        return fail(l, "open", errno, d);
    l->regular = S_ISREG(info.st_mode);
    if (!l->regular)
        return RC_OK;
    off_t end = whole_lines(l->fd, info.st_size);
    if (end < 0)
        return fail(l, "read", errno, d);
    if (end < info.st_size && ftruncate(l->fd, end) != 0)
        return fail(l, "cut the half-written last line of", errno, d);
    l->starts = count_starts(l->fd);
    return l->starts < 0 ? fail(l, "read", errno, d) : RC_OK;
}

enum rc log_file_open(struct log_file *l, const char *path, struct diag *d)
{
    static const char blanks[LINE_ROOM] = {0};
    *l = (struct log_file){.fd = -1, .path = path};
    str_init(&l->line);
    str_append(&l->line, blanks, sizeof(blanks) - 1); /* takes the room now */
    if (l->line.failed) {
        str_release(&l->line);
        return diag_no_memory(d);
    }
    l->fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    enum rc rc = l->fd < 0 ? fail(l, "open", errno, d) : cut_half_line(l, d);
    if (rc != RC_OK) {
        if (l->fd >= 0)
            close(l->fd);
        l->fd = -1;
        str_release(&l->line);
    }
    return rc;
}

enum rc log_file_write(struct log_file *l, const struct record *r, struct diag *d)
{
    str_clear(&l->line);
    log_text_line(&l->line, r);
    if (l->line.failed) {
        l->line.failed = false;
        return fail(l, "write", ENOMEM, d);
    }
    struct stat before;
    bool can_cut = l->regular && fstat(l->fd, &before) == 0;
    ssize_t n;
    do
        n = write(l->fd, l->line.text, l->line.length);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)l->line.length)
        return l->failed ? RC_FAILED : RC_OK;
    int error = n < 0 ? errno : ENOSPC;
    if (n > 0 && can_cut && ftruncate(l->fd, before.st_size) != 0)
        error = errno;
    return fail(l, "write", error, d);
}

enum rc log_file_close(struct log_file *l, struct diag *d)
{
    enum rc rc = l->failed ? RC_FAILED : RC_OK;
    if (l->fd >= 0) {
        if (l->regular && fsync(l->fd) != 0 && errno == EIO)
            rc = fail(l, "flush", errno, d);
        if (close(l->fd) != 0)
            rc = fail(l, "close", errno, d);
    }
    l->fd = -1;
    str_release(&l->line);
    return rc;
}
