/* checkpoint_plane.c: byte planes. The exponent bytes of weights are alike and deflate well, the
 * low bytes of the mantissa are noise: kept apart, each gets what suits it.
 *
 * Invariant: a plane's bytes depend on its content and the level only, never on threads or time. */
#include "config.h"

#include "checkpoint/checkpoint_plane.h"

#include "base/rc.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    PIECE = 32 * 1024, /* bytes gathered or read at a time */
    TRIAL = 8 * PIECE, /* bytes that decide how a plane is packed */
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

/* What zlib can be told to look for. Weights repeat no words: run lengths with Huffman codes pack
 * their exponents better than LZ77 does, and ten times as fast. */
static const int strategies[] = {Z_RLE, Z_DEFAULT_STRATEGY};

enum { STORE = -1, NO_MEMORY = -2 };

/* Deflates the first n bytes into out. The packed bytes, or 0 where they reach `limit`. */
static uint64_t deflate_stream(const struct checkpoint_plane *p, uint64_t n, z_stream *z,
                               unsigned char *out, uint64_t limit)
{
    unsigned char piece[PIECE];
    uint64_t in = 0, made = 0;
    int status = Z_OK;
    while (status != Z_STREAM_END) {
        size_t now = piece_at(n, in);
        gather(p, in, now, piece);
        in += now;
        z->next_in = piece;
        z->avail_in = (uInt)now;
        do {
            uint64_t room = limit - made < PIECE ? limit - made : PIECE;
            z->next_out = out + made;
            z->avail_out = (uInt)room;
            status = deflate(z, in == n ? Z_FINISH : Z_NO_FLUSH);
            made += room - z->avail_out;
            if (made == limit)
                return 0;
        } while (z->avail_out == 0);
    }
    return made;
}

static uint64_t worth(uint64_t n)
{
    return n - n / SAVES_ONE_IN;
}

/* False: out of memory. *made: as deflate_stream() says. */
static bool deflate_plane(const struct checkpoint_plane *p, uint64_t n, int level, int strategy,
                          unsigned char *out, uint64_t *made)
{
    enum { WINDOW_BITS = 15, MEMORY = 9 };
    z_stream z = {.next_in = NULL};
    if (deflateInit2(&z, level, Z_DEFLATED, WINDOW_BITS, MEMORY, strategy) != Z_OK)
        return false;
    *made = deflate_stream(p, n, &z, out, worth(n));
    deflateEnd(&z);
    return true;
}

/* The strategy that packs the plane's beginning best, STORE, or NO_MEMORY. */
static int pick(const struct checkpoint_plane *p, int level, unsigned char *out)
{
    uint64_t n = p->n < TRIAL ? p->n : TRIAL, best = worth(n), made;
    int picked = STORE;
    if (level == 0)
        return STORE;
    for (size_t i = 0; i < COUNT_OF(strategies); i++) {
        if (!deflate_plane(p, n, level, strategies[i], out, &made))
            return NO_MEMORY;
        if (made > 0 && made < best) {
            best = made;
            picked = strategies[i];
        }
    }
    return picked;
}

static uint32_t crc_of(const struct checkpoint_plane *p)
{
    unsigned char piece[PIECE];
    uLong crc = 0;
    for (uint64_t at = 0; at < p->n; at += PIECE) {
        size_t n = piece_at(p->n, at);
        gather(p, at, n, piece);
        crc = crc32_z(crc, piece, n);
    }
    return (uint32_t)crc;
}

bool checkpoint_plane_pack(const struct checkpoint_plane *p, int level, unsigned char *out,
                           struct checkpoint_packed *packed)
{
    uint64_t made = 0;
    int strategy = pick(p, level, out);
    if (strategy == NO_MEMORY ||
        (strategy != STORE && !deflate_plane(p, p->n, level, strategy, out, &made)))
        return false;
    packed->crc = crc_of(p);
    packed->deflated = made > 0;
    packed->bytes = made;
    if (!packed->deflated) {
        gather(p, 0, (size_t)p->n, out);
        packed->bytes = p->n;
    }
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
