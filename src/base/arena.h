/* arena.h: one large 64-byte aligned block for tensor bytes, sized by the plan, allocated once. */
#ifndef ARENA_H
#define ARENA_H

#include "base/rc.h"

#include <stddef.h>

enum { ARENA_ALIGN = 64 };

struct arena {
    unsigned char *base; /* NULL while size is 0 */
    size_t size;         /* bytes */
};

/* Zeroed. RC_FAILED when the memory cannot be had; the caller knows the words. */
MUST_USE enum rc arena_init(struct arena *a, size_t size);
void arena_release(struct arena *a);

/* size rounded up to the alignment: the stride between slots */
size_t arena_round(size_t size);

#endif
