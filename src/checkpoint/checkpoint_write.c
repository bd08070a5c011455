/* checkpoint_write.c: a checkpoint goes to disk (see checkpoint.h).
 *
 * Invariant: whatever fails or kills, under `path` stands the old file or the whole new one. The
 * new one is built under another name in the same folder, and takes the place only when it is on
 * disk.
 *
 * The header stands first but tells sizes that are known last: its room is taken with the largest
 * numbers it could hold, and it is written into place at the end, filled up with blanks. */
#include "config.h"

#include "checkpoint/checkpoint_format.h"
#include "checkpoint/checkpoint_plane.h"

#include "base/par.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* Packed bytes that wait for the disk: tensors are packed in groups of about this size, so that
 * there is work for all threads; a larger tensor is a group of its own. */
enum { GROUP_BYTES = 64 * 1024 * 1024 };

/* One plane to pack. */
struct job {
    struct checkpoint_plane plane;
    struct checkpoint_entry *entry;
    unsigned char *out;
    struct checkpoint_packed packed;
    int level;
    bool failed;
};

struct writer {
    const char *path; /* what the user calls it */
    const struct checkpoint_content *content;
    struct pool *pool;
    struct diag *d;
    int fd, level;
    struct checkpoint_entry *entries;
    uint64_t at; /* where the next chunk goes */
    unsigned char *room;
};

static enum rc cannot(const struct writer *w, const char *what, int error)
{
    return diag_error(w->d, RC_FAILED, (struct loc){w->path, 0, 0},
                      "cannot %s the checkpoint: %s; no file was replaced", what, strerror(error));
}

static enum rc put(const struct writer *w, const void *bytes, size_t n, uint64_t offset)
{
    const unsigned char *from = bytes;
    for (size_t done = 0; done < n;) {
        ssize_t put_now = pwrite(w->fd, from + done, n - done, (off_t)(offset + done));
        if (put_now < 0 && errno == EINTR)
            continue;
        if (put_now <= 0)
            return cannot(w, "write", put_now < 0 ? errno : ENOSPC);
        done += (size_t)put_now;
    }
    return RC_OK;
}

static uint64_t tensor_bytes(const struct checkpoint_tensor *t)
{
    uint64_t bytes = dtype_size(t->dtype);
    for (int i = 0; i < t->rank; i++)
        bytes *= (uint64_t)t->dims[i];
    return bytes;
}

static void entry_init(struct checkpoint_entry *e, const struct checkpoint_tensor *t)
{
    *e = (struct checkpoint_entry){.name = t->name, .dtype = t->dtype, .rank = t->rank};
    memcpy(e->dims, t->dims, sizeof(e->dims));
    e->bytes = tensor_bytes(t);
    e->n_planes = (int)dtype_size(t->dtype);
}

/* Fills the entries with the largest numbers there can be. */
static void entries_worst(struct writer *w)
{
    uint64_t end = CHECKPOINT_PREAMBLE + CHECKPOINT_MAX_HEADER;
    for (int i = 0; i < w->content->n_tensors; i++) {
        struct checkpoint_entry *e = &w->entries[i];
        entry_init(e, &w->content->tensors[i]);
        end += e->bytes;
    }
    for (int i = 0; i < w->content->n_tensors; i++) {
        struct checkpoint_entry *e = &w->entries[i];
        e->offset = end;
        e->stored = e->bytes;
        e->crc = UINT32_MAX;
        for (int p = 0; p < e->n_planes; p++) {
            e->plane_bytes[p] = e->bytes / (uint64_t)e->n_planes;
            e->plane_deflated[p] = true; /* "deflate" is longer than "stored" */
        }
    }
}

static enum rc header_room(struct writer *w, size_t *length)
{
    char *text;
    entries_worst(w);
    TRY(checkpoint_format_text(w->content, w->entries, &text, w->d));
    *length = strlen(text);
    free(text);
    if (*length > CHECKPOINT_MAX_HEADER)
        return diag_error(w->d, RC_FAILED, (struct loc){w->path, 0, 0},
                          "cannot write the checkpoint: its header has %zu bytes, at most %d are "
                          "possible (too many tensors or class names)",
                          *length, CHECKPOINT_MAX_HEADER);
    w->at = CHECKPOINT_PREAMBLE + *length;
    return RC_OK;
}

static void put_u32(unsigned char *to, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(x >> (8 * i));
}

static enum rc put_header(struct writer *w, size_t length)
{
    char *text;
    unsigned char preamble[CHECKPOINT_PREAMBLE];
    TRY(checkpoint_format_text(w->content, w->entries, &text, w->d));
    size_t used = strlen(text);
    BUG_IF(used > length);
    char *padded = realloc(text, length + 1);
    if (!padded) {
        free(text);
        return diag_no_memory(w->d);
    }
    memset(padded + used, ' ', length - used);
    memcpy(preamble, CHECKPOINT_MAGIC, 8);
    put_u32(preamble + 8, (uint32_t)length);
    put_u32(preamble + 12, (uint32_t)crc32_z(0, (const Bytef *)padded, length));
    enum rc rc = put(w, preamble, sizeof(preamble), 0);
    if (rc == RC_OK)
        rc = put(w, padded, length, CHECKPOINT_PREAMBLE);
    free(padded);
    return rc;
}

static void pack_block(void *context, int64_t block)
{
    struct job *job = (struct job *)context + block;
    job->failed = !checkpoint_plane_pack(&job->plane, job->level, job->out, &job->packed);
}

/* Books the jobs of one tensor, whose packed planes go to `out`. */
static void book(const struct writer *w, int tensor, unsigned char *out, struct job *jobs)
{
    const struct checkpoint_tensor *t = &w->content->tensors[tensor];
    struct checkpoint_entry *e = &w->entries[tensor];
    uint64_t n = e->bytes / (uint64_t)e->n_planes;
    for (int i = 0; i < e->n_planes; i++)
        jobs[i] = (struct job){.plane = {t->data, dtype_size(t->dtype), i, n},
                               .entry = e,
                               .out = out + (uint64_t)i * n,
                               .level = w->level};
}

/* Packs and writes tensors first .. last-1. */
static enum rc put_group(struct writer *w, int first, int last, struct job *jobs)
{
    int n = 0;
    uint64_t used = 0;
    for (int i = first; i < last; i++) {
        book(w, i, w->room + used, jobs + n);
        n += w->entries[i].n_planes;
        used += w->entries[i].bytes;
    }
    par_for(n, pack_block, jobs);
    for (int i = 0; i < n; i++) {
        struct checkpoint_entry *e = jobs[i].entry;
        const struct checkpoint_packed *packed = &jobs[i].packed;
        int plane = jobs[i].plane.index;
        if (jobs[i].failed)
            return diag_no_memory(w->d);
        if (plane == 0) {
            e->offset = w->at;
            e->stored = 0;
            e->crc = 0;
        }
        TRY(put(w, jobs[i].out, (size_t)packed->bytes, w->at));
        e->plane_bytes[plane] = packed->bytes;
        e->plane_deflated[plane] = packed->deflated;
        e->crc = (uint32_t)crc32_combine(e->crc, packed->crc, (z_off_t)jobs[i].plane.n);
        e->stored += packed->bytes;
        w->at += packed->bytes;
    }
    return RC_OK;
}

/* One behind the last tensor of the group that begins with `first`. */
static int group_end(const struct writer *w, int first, uint64_t *bytes)
{
    int last = first;
    *bytes = 0;
    do {
        *bytes += w->entries[last].bytes;
        last++;
    } while (last < w->content->n_tensors && *bytes + w->entries[last].bytes <= GROUP_BYTES);
    return last;
}

static enum rc put_tensors(struct writer *w)
{
    int n = w->content->n_tensors;
    uint64_t room = 0, bytes;
    for (int first = 0; first < n; first = group_end(w, first, &bytes)) {
        group_end(w, first, &bytes);
        room = bytes > room ? bytes : room;
    }
    struct job *jobs = pool_array(w->pool, (size_t)n * 8, sizeof(*jobs));
    TRY_ALLOC(jobs, w->d);
    w->room = malloc(room ? (size_t)room : 1);
    TRY_ALLOC(w->room, w->d);
    enum rc rc = RC_OK;
    for (int first = 0; first < n && rc == RC_OK;) {
        int last = group_end(w, first, &bytes);
        rc = put_group(w, first, last, jobs);
        first = last;
    }
    free(w->room);
    return rc;
}

/* Everything into the open file, and the file onto the disk. */
static enum rc put_file(struct writer *w)
{
    size_t length;
    w->entries = pool_array(w->pool, (size_t)w->content->n_tensors, sizeof(*w->entries));
    TRY_ALLOC(w->entries, w->d);
    TRY(header_room(w, &length));
    TRY(put_tensors(w));
    TRY(put_header(w, length));
    while (fsync(w->fd) != 0)
        if (errno != EINTR)
            return cannot(w, "flush", errno);
    return RC_OK;
}

/* A rename is on disk once its folder is. */
static enum rc sync_folder(const struct writer *w)
{
    const char *slash = strrchr(w->path, '/');
    size_t length = slash ? (size_t)(slash - w->path) : 0;
    const char *folder = !slash ? "." : length ? pool_strndup(w->pool, w->path, length) : "/";
    TRY_ALLOC(folder, w->d);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return RC_OK; /* a folder that may be written but not read: nothing to be done */
    int error = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    if (error == EIO)
        return diag_error(w->d, RC_FAILED, (struct loc){w->path, 0, 0},
                          "cannot flush the checkpoint's folder: %s", strerror(error));
    return RC_OK; /* EINVAL: this file system has no such thing */
}

static enum rc write_temporary(struct writer *w, const char *temporary)
{
    unlink(temporary); /* of a killed process that had our number */
    w->fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (w->fd < 0)
        return cannot(w, "create", errno);
    enum rc rc = put_file(w);
    if (close(w->fd) != 0 && rc == RC_OK)
        rc = cannot(w, "write", errno);
    if (rc == RC_OK && rename(temporary, w->path) != 0)
        rc = cannot(w, "rename", errno);
    if (rc != RC_OK)
        unlink(temporary);
    return rc;
}

enum rc checkpoint_write(const char *path, const struct checkpoint_content *content, int level,
                         struct diag *d)
{
    struct pool pool;
    struct writer w = {.path = path, .content = content, .pool = &pool, .d = d, .level = level};
    pool_init(&pool);
    enum rc rc = RC_OK;
    const char *temporary = pool_printf(&pool, "%s.tmp-%ld", path, (long)getpid());
    if (!temporary)
        rc = diag_no_memory(d);
    if (rc == RC_OK)
        rc = write_temporary(&w, temporary);
    if (rc == RC_OK)
        rc = sync_folder(&w);
    pool_release(&pool);
    return rc;
}
