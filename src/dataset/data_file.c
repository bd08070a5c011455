/* data_file.c: see data_file.h. zlib checks each member's CRC-32 and length; what it does not
 * check is that the last member ended and that nothing else follows: that is done here. */
#include "config.h"

#include "dataset/data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUFFER_BYTES = 256 * 1024,
    GZIP_WINDOW = 15 + 16, /* zlib: largest window, gzip framing only */
    FIRST_GROWTH = 1024 * 1024,
};

static struct loc whole(const struct data_file *f)
{
    return (struct loc){f->name, 0, 0};
}

/* Moves what is left to the front of the buffer and reads on behind it. */
static enum rc fill(struct data_file *f, struct diag *d)
{
    size_t left = f->filled - f->at;
    memmove(f->buffer, f->buffer + f->at, left);
    f->at = 0;
    f->filled = left;
    size_t room = BUFFER_BYTES - left;
    if (f->fd < 0) {
        size_t n = f->memory_left < room ? f->memory_left : room;
        if (n > 0)
            memcpy(f->buffer + left, f->memory, n);
        f->memory += n;
        f->memory_left -= n;
        f->filled += n;
        return RC_OK;
    }
    ssize_t n;
    do
        n = read(f->fd, f->buffer + left, room);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return diag_error(d, RC_DATA, whole(f), "cannot be read: %s", strerror(errno));
    f->filled += (size_t)n;
    return RC_OK;
}

/* Makes at least n bytes available at the front, unless the file ends before. */
static enum rc peek(struct data_file *f, size_t n, struct diag *d)
{
    for (;;) {
        size_t before = f->filled - f->at;
        if (before >= n)
            return RC_OK;
        TRY(fill(f, d));
        if (f->filled - f->at == before)
            return RC_OK;
    }
}

static bool at_gzip_magic(const struct data_file *f)
{
    return f->filled - f->at >= 2 && f->buffer[f->at] == 0x1F && f->buffer[f->at + 1] == 0x8B;
}

static enum rc start(struct data_file *f, struct diag *d)
{
    f->buffer = malloc(BUFFER_BYTES);
    TRY_ALLOC(f->buffer, d);
    TRY(peek(f, 2, d));
    if (!at_gzip_magic(f))
        return RC_OK;
    if (inflateInit2(&f->z, GZIP_WINDOW) != Z_OK)
        return diag_no_memory(d);
    f->gzip = f->open_member = true;
    f->plain_bytes = -1;
    return RC_OK;
}

enum rc data_file_open(struct data_file *f, const char *path, struct diag *d)
{
    memset(f, 0, sizeof(*f));
    f->name = path;
    f->plain_bytes = -1;
    do
        f->fd = open(path, O_RDONLY | O_CLOEXEC);
    while (f->fd < 0 && errno == EINTR);
    if (f->fd < 0)
        return diag_error(d, RC_DATA, whole(f), "cannot be opened: %s", strerror(errno));
    struct stat status;
    if (fstat(f->fd, &status) == 0 && S_ISREG(status.st_mode))
        f->plain_bytes = status.st_size;
    enum rc rc = start(f, d);
    if (rc != RC_OK)
        data_file_close(f);
    return rc;
}

enum rc data_file_open_memory(struct data_file *f, const char *name, const void *bytes, size_t n,
                              struct diag *d)
{
    memset(f, 0, sizeof(*f));
    f->name = name;
    f->fd = -1;
    f->memory = bytes;
    f->memory_left = n;
    f->plain_bytes = (int64_t)n;
    enum rc rc = start(f, d);
    if (rc != RC_OK)
        data_file_close(f);
    return rc;
}

void data_file_close(struct data_file *f)
{
    if (f->gzip)
        inflateEnd(&f->z);
    if (f->fd >= 0)
        close(f->fd);
    free(f->buffer);
    memset(f, 0, sizeof(*f));
    f->fd = -1;
}

static enum rc read_plain(struct data_file *f, unsigned char *to, size_t n, size_t *got,
                          struct diag *d)
{
    while (*got < n) {
        TRY(peek(f, 1, d));
        size_t have = f->filled - f->at;
        if (have == 0)
            break;
        size_t take = have < n - *got ? have : n - *got;
        memcpy(to + *got, f->buffer + f->at, take);
        f->at += take;
        *got += take;
    }
    return RC_OK;
}

/* Behind a member comes the end of the file or another member, nothing else. */
static enum rc next_member(struct data_file *f, struct diag *d)
{
    TRY(peek(f, 2, d));
    if (f->filled == f->at) {
        f->ended = true;
        return RC_OK;
    }
    if (!at_gzip_magic(f))
        return diag_error(
            d, RC_DATA, whole(f),
            "has bytes behind the end of its gzip data: damaged, or two files in one");
    if (inflateReset(&f->z) != Z_OK)
        return diag_no_memory(d);
    f->open_member = true;
    return RC_OK;
}

static enum rc inflate_some(struct data_file *f, unsigned char *to, size_t n, size_t *got,
                            struct diag *d)
{
    TRY(peek(f, 1, d));
    size_t have = f->filled - f->at;
    if (have == 0)
        return diag_error(d, RC_DATA, whole(f),
                          "its gzip data is cut off: the end is missing; copy the file again");
    size_t room = n - *got;
    uInt chunk = room > 1u << 30 ? 1u << 30 : (uInt)room;
    f->z.next_in = f->buffer + f->at;
    f->z.avail_in = (uInt)have;
    f->z.next_out = to + *got;
    f->z.avail_out = chunk;
    int status = inflate(&f->z, Z_NO_FLUSH);
    f->at = f->filled - f->z.avail_in;
    *got += chunk - f->z.avail_out;
    if (status == Z_STREAM_END) {
        f->open_member = false;
        return RC_OK;
    }
    if (status == Z_MEM_ERROR)
        return diag_no_memory(d);
    /* Z_BUF_ERROR: no progress with this input and room; more input follows or the file is cut */
    if (status != Z_OK && status != Z_BUF_ERROR)
        return diag_error(d, RC_DATA, whole(f), "its gzip data is damaged (%s); copy it again",
                          f->z.msg ? f->z.msg : "invalid stream");
    return RC_OK;
}

enum rc data_file_read(struct data_file *f, void *to, size_t n, size_t *got, struct diag *d)
{
    *got = 0;
    if (!f->gzip)
        TRY(read_plain(f, to, n, got, d));
    while (f->gzip && *got < n && !f->ended) {
        if (f->open_member)
            TRY(inflate_some(f, to, n, got, d));
        else
            TRY(next_member(f, d));
    }
    f->passed += *got;
    return RC_OK;
}

static enum rc too_short(const struct data_file *f, size_t got, size_t n, struct diag *d)
{
    return diag_error(d, RC_DATA, whole(f),
                      "is cut off: its header asks for %zu bytes of data, and it holds %zu", n,
                      got);
}

static enum rc check_end(struct data_file *f, size_t n, struct diag *d)
{
    unsigned char extra;
    size_t got;
    TRY(data_file_read(f, &extra, 1, &got, d));
    if (got > 0)
        return diag_error(d, RC_DATA, whole(f),
                          "is longer than the %zu bytes of data that its header asks for", n);
    return RC_OK;
}

static enum rc read_growing(struct data_file *f, size_t n, unsigned char **bytes, struct diag *d)
{
    /* a plain file's size was compared with n before: allocate once */
    size_t room = f->plain_bytes < 0 && n > FIRST_GROWTH ? FIRST_GROWTH : n;
    for (size_t have = 0;;) {
        unsigned char *more = realloc(*bytes, room ? room : 1);
        TRY_ALLOC(more, d);
        *bytes = more;
        size_t got;
        TRY(data_file_read(f, more + have, room - have, &got, d));
        have += got;
        if (have < room)
            return too_short(f, have, n, d);
        if (have == n)
            return check_end(f, n, d);
        room = room > n / 2 ? n : room * 2;
    }
}

enum rc data_file_read_rest(struct data_file *f, size_t n, void **out, struct diag *d)
{
    unsigned char *bytes = NULL;
    *out = NULL;
    if (f->plain_bytes >= 0 && (uint64_t)f->plain_bytes < f->passed + n)
        return too_short(f, (size_t)((uint64_t)f->plain_bytes - f->passed), n, d);
    enum rc rc = read_growing(f, n, &bytes, d);
    if (rc != RC_OK) {
        free(bytes);
        return rc;
    }
    *out = bytes;
    return RC_OK;
}
