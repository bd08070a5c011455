/* checkpoint_read.c: a checkpoint is opened, checked and unpacked (see checkpoint.h).
 *
 * Invariant: the file is hostile until its sizes and checksums have been compared; memory is taken
 * only for what the file really holds. */
#include "config.h"

#include "checkpoint/checkpoint_format.h"
#include "checkpoint/checkpoint_plane.h"

#include "base/par.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static enum rc refuse(const struct checkpoint *c, struct diag *d, const char *why)
{
    return diag_error(d, RC_DATA, (struct loc){c->path, 0, 0}, "%s", why);
}

/* Exactly n bytes; false: the file is shorter, or cannot be read (then errno is set). */
static bool get(int fd, uint64_t offset, void *out, size_t n)
{
    unsigned char *to = out;
    for (size_t have = 0; have < n;) {
        ssize_t got = pread(fd, to + have, n - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got < 0 ? errno : 0;
            return false;
        }
        have += (size_t)got;
    }
    return true;
}

static uint32_t get_u32(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static enum rc read_header(struct checkpoint *c, uint64_t size, struct diag *d)
{
    unsigned char preamble[CHECKPOINT_PREAMBLE];
    if (size < sizeof(preamble) || !get(c->fd, 0, preamble, sizeof(preamble)) ||
        memcmp(preamble, CHECKPOINT_MAGIC, 8) != 0)
        return refuse(c, d, "not a checkpoint: it does not begin with " CHECKPOINT_MAGIC);
    uint64_t length = get_u32(preamble + 8);
    if (length > CHECKPOINT_MAX_HEADER || length > size - CHECKPOINT_PREAMBLE)
        return diag_error(d, RC_DATA, (struct loc){c->path, 0, 0},
                          "damaged: the header should have %" PRIu64
                          " bytes, the file has %" PRIu64,
                          length, size);
    char *text = malloc(length ? (size_t)length : 1);
    TRY_ALLOC(text, d);
    enum rc rc;
    if (!get(c->fd, CHECKPOINT_PREAMBLE, text, (size_t)length))
        rc = refuse(c, d, errno ? strerror(errno) : "the file became shorter while it was read");
    else if (crc32_z(0, (const Bytef *)text, (size_t)length) != get_u32(preamble + 12))
        rc = refuse(c, d, "damaged: the header does not match its checksum");
    else
        rc =
            checkpoint_format_parse(c, text, (size_t)length, CHECKPOINT_PREAMBLE + length, size, d);
    free(text);
    return rc;
}

static enum rc open_file(struct checkpoint *c, const char *path, struct diag *d)
{
    struct stat info;
    c->path = pool_strdup(&c->pool, path);
    TRY_ALLOC(c->path, d);
    c->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not make us wait */
    if (c->fd < 0 || fstat(c->fd, &info) != 0)
        return diag_error(d, RC_DATA, (struct loc){path, 0, 0}, "cannot open the checkpoint: %s",
                          strerror(errno));
    if (!S_ISREG(info.st_mode))
        return refuse(c, d,
                      S_ISDIR(info.st_mode) ? "not a checkpoint: it is a folder"
                                            : "not a checkpoint: it is no regular file");
    return read_header(c, (uint64_t)info.st_size, d);
}

enum rc checkpoint_open(struct checkpoint *c, const char *path, struct diag *d)
{
    *c = (struct checkpoint){.fd = -1};
    pool_init(&c->pool);
    enum rc rc = open_file(c, path, d);
    if (rc != RC_OK)
        checkpoint_close(c);
    return rc;
}

void checkpoint_close(struct checkpoint *c)
{
    if (c->fd >= 0)
        close(c->fd);
    pool_release(&c->pool);
    *c = (struct checkpoint){.fd = -1};
}

static int compare_name(const void *name, const void *entry)
{
    const struct checkpoint_entry *const *e = entry;
    return strcmp(name, (*e)->name);
}

const struct checkpoint_entry *checkpoint_find(const struct checkpoint *c, const char *name)
{
    if (c->n_tensors == 0)
        return NULL;
    const struct checkpoint_entry **found =
        bsearch(name, c->by_name, (size_t)c->n_tensors, sizeof(const struct checkpoint_entry *),
                compare_name);
    return found ? *found : NULL;
}

/* dst NULL: only checks. NULL, or what is wrong. */
static const char *unpack(const struct checkpoint *c, const struct checkpoint_entry *e, void *dst)
{
    uint64_t n = e->bytes / (uint64_t)e->n_planes, offset = e->offset;
    uLong crc = 0;
    for (int i = 0; i < e->n_planes; i++) {
        struct checkpoint_plane plane = {dst, dtype_size(e->dtype), i, n};
        struct checkpoint_packed packed = {e->plane_bytes[i], e->plane_deflated[i], 0};
        const char *problem = checkpoint_plane_unpack(&plane, c->fd, offset, &packed);
        if (problem)
            return problem;
        crc = crc32_combine(crc, packed.crc, (z_off_t)n);
        offset += packed.bytes;
    }
    return crc == e->crc ? NULL : "its data do not match their checksum";
}

static enum rc told(const struct checkpoint *c, const struct checkpoint_entry *e,
                    const char *problem, struct diag *d)
{
    if (!problem)
        return RC_OK;
    return diag_error(d, RC_DATA, (struct loc){c->path, 0, 0}, "damaged tensor '%s': %s", e->name,
                      problem);
}

enum rc checkpoint_read(const struct checkpoint *c, const struct checkpoint_entry *entry, void *dst,
                        struct diag *d)
{
    return told(c, entry, unpack(c, entry, dst), d);
}

struct verify {
    const struct checkpoint *c;
    const char **problems;
};

static void verify_block(void *context, int64_t block)
{
    const struct verify *v = context;
    v->problems[block] = unpack(v->c, &v->c->entries[block], NULL);
}

enum rc checkpoint_verify(const struct checkpoint *c, struct diag *d)
{
    if (c->n_tensors == 0)
        return RC_OK;
    struct verify v = {c, calloc((size_t)c->n_tensors, sizeof(*v.problems))};
    TRY_ALLOC(v.problems, d);
    enum rc rc = RC_OK;
    par_for(c->n_tensors, verify_block, &v);
    for (int i = 0; i < c->n_tensors && !diag_is_full(d); i++)
        if (told(c, &c->entries[i], v.problems[i], d) != RC_OK)
            rc = RC_DATA;
    free(v.problems);
    return rc;
}
