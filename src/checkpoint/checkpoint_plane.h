/* checkpoint_plane.h: one byte of every element of a tensor, packed and unpacked.
 * For checkpoint_write.c and checkpoint_read.c only. */
#ifndef CHECKPOINT_PLANE_H
#define CHECKPOINT_PLANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Byte number `index` (0: the lowest) of each of n elements of `size` bytes. */
struct checkpoint_plane {
    unsigned char *data; /* the tensor; NULL when unpacking only to check */
    size_t size;
    int index;
    uint64_t n;
};

/* A packed plane. */
struct checkpoint_packed {
    uint64_t bytes;
    bool deflated;
    uint32_t crc; /* of the unpacked bytes */
};

/* Packs into out, which has room for n bytes; level: of zlib, 0 stores. False: out of memory. */
bool checkpoint_plane_pack(const struct checkpoint_plane *p, int level, unsigned char *out,
                           struct checkpoint_packed *packed);

/* Unpacks what stands at `offset` of fd, and fills packed->crc.
 * Returns NULL, or what is wrong (static text). */
const char *checkpoint_plane_unpack(const struct checkpoint_plane *p, int fd, uint64_t offset,
                                    struct checkpoint_packed *packed);

#endif
