/* checkpoint_plane.c: byte planes. The exponent bytes of weights are alike and deflate well, the
 * low bytes of the mantissa are noise: kept apart, each gets what suits it.
 *
 * Invariant: a plane's bytes depend on its content and the level only, never on threads or time. */
#include "config.h"

#include "checkpoint/checkpoint_plane.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    PIECE = 32 * 1024, /* bytes gathered or read at a time */
    TRIAL = 8 * PIECE, /* after so many bytes deflate must have begun to pay */
    SAVES_ONE_IN = 64, /* what "pays" means */
};

/* Byte of the element in memory that holds plane `index`. */
static size_t byte_of(const struct checkpoint_plane *p)
{
    bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    return big_endian ? p->size - 1 - (size_t)p->index : (size_t)p->index;
}

static void gather(const struct checkpoint_plane *p, uint64_t first, size_t n, unsigned char *out)
{
    const unsigned char *from = p->data + first * p->size + byte_of(p);
    for (size_t i = 0; i < n; i++)
        out[i] = from[i * p->size];
}

static void scatter(const struct checkpoint_plane *p, uint64_t first, size_t n,
                    const unsigned char *in)
{
    if (!p->data)
        return;
    unsigned char *to = p->data + first * p->size + byte_of(p);
    for (size_t i = 0; i < n; i++)
        to[i * p->size] = in[i];
}

static size_t piece_at(uint64_t n, uint64_t first)
{
    return n - first < PIECE ? (size_t)(n - first) : PIECE;
}

/* Gives up (false) as soon as it is clear that it does not pay. */
static bool deflate_plane(const struct checkpoint_plane *p, z_stream *z, unsigned char *out,
                          struct checkpoint_packed *packed)
{
    unsigned char piece[PIECE];
    uint64_t limit = p->n - p->n / SAVES_ONE_IN, in = 0, made = 0;
    int status = Z_OK;
    while (status != Z_STREAM_END) {
        size_t n = piece_at(p->n, in);
        gather(p, in, n, piece);
        in += n;
        z->next_in = piece;
        z->avail_in = (uInt)n;
        do {
            uint64_t room = limit - made < PIECE ? limit - made : PIECE;
            z->next_out = out + made;
            z->avail_out = (uInt)room;
            status = deflate(z, in == p->n ? Z_FINISH : Z_NO_FLUSH);
            made += room - z->avail_out;
            if (made == limit)
                return false;
        } while (z->avail_out == 0);
        if (in >= TRIAL && made > in - in / SAVES_ONE_IN)
            return false;
    }
    packed->bytes = made;
    return true;
}

bool checkpoint_plane_pack(const struct checkpoint_plane *p, int level, unsigned char *out,
                           struct checkpoint_packed *packed)
{
    packed->deflated = false;
    if (level > 0) {
        z_stream z = {.next_in = NULL};
        if (deflateInit(&z, level) != Z_OK)
            return false;
        packed->deflated = deflate_plane(p, &z, out, packed);
        deflateEnd(&z);
    }
    if (!packed->deflated) {
        gather(p, 0, (size_t)p->n, out);
        packed->bytes = p->n;
        packed->crc = (uint32_t)crc32_z(0, out, (size_t)p->n);
        return true;
    }
    unsigned char piece[PIECE];
    uLong crc = 0;
    for (uint64_t at = 0; at < p->n; at += PIECE) {
        size_t n = piece_at(p->n, at);
        gather(p, at, n, piece);
        crc = crc32_z(crc, piece, n);
    }
    packed->crc = (uint32_t)crc;
    return true;
}

/* NULL, or why the bytes cannot be had. */
static const char *read_piece(int fd, uint64_t offset, unsigned char *out, size_t n)
{
    for (size_t have = 0; have < n;) {
        ssize_t got = pread(fd, out + have, n - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return strerror(errno);
        if (got == 0)
            return "the file became shorter while it was read";
        have += (size_t)got;
    }
    return NULL;
}

static const char *unpack_stored(const struct checkpoint_plane *p, int fd, uint64_t offset,
                                 struct checkpoint_packed *packed)
{
    unsigned char piece[PIECE];
    uLong crc = 0;
    for (uint64_t at = 0; at < p->n; at += PIECE) {
        size_t n = piece_at(p->n, at);
        const char *problem = read_piece(fd, offset + at, piece, n);
        if (problem)
            return problem;
        crc = crc32_z(crc, piece, n);
        scatter(p, at, n, piece);
    }
    packed->crc = (uint32_t)crc;
    return NULL;
}

static const char *const bad_stream = "its packed bytes are damaged";

/* Takes what the stream gives for the input at hand. */
static const char *inflate_piece(const struct checkpoint_plane *p, z_stream *z, int *status,
                                 uint64_t *made, uLong *crc)
{
    unsigned char piece[PIECE];
    do {
        z->next_out = piece;
        z->avail_out = PIECE;
        *status = inflate(z, Z_NO_FLUSH);
        size_t n = PIECE - z->avail_out;
        if (*status != Z_OK && *status != Z_STREAM_END && *status != Z_BUF_ERROR)
            return *status == Z_MEM_ERROR ? "out of memory" : bad_stream;
        if (n > p->n - *made)
            return bad_stream;
        *crc = crc32_z(*crc, piece, n);
        scatter(p, *made, n, piece);
        *made += n;
    } while (z->avail_out == 0 && *status != Z_STREAM_END);
    return NULL;
}

static const char *inflate_plane(const struct checkpoint_plane *p, int fd, uint64_t offset,
                                 struct checkpoint_packed *packed, z_stream *z)
{
    unsigned char piece[PIECE];
    uint64_t made = 0, in = 0;
    uLong crc = 0;
    int status = Z_OK;
    while (in < packed->bytes && status != Z_STREAM_END) {
        size_t n = piece_at(packed->bytes, in);
        const char *problem = read_piece(fd, offset + in, piece, n);
        if (problem)
            return problem;
        in += n;
        z->next_in = piece;
        z->avail_in = (uInt)n;
        problem = inflate_piece(p, z, &status, &made, &crc);
        if (problem)
            return problem;
    }
    if (status != Z_STREAM_END || in != packed->bytes || z->avail_in != 0 || made != p->n)
        return bad_stream;
    packed->crc = (uint32_t)crc;
    return NULL;
}

const char *checkpoint_plane_unpack(const struct checkpoint_plane *p, int fd, uint64_t offset,
                                    struct checkpoint_packed *packed)
{
    if (!packed->deflated)
        return unpack_stored(p, fd, offset, packed);
    z_stream z = {.next_in = NULL};
    if (inflateInit(&z) != Z_OK)
        return "out of memory";
    const char *problem = inflate_plane(p, fd, offset, packed, &z);
    inflateEnd(&z);
    return problem;
}
