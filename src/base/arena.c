/* arena.c: see arena.h. Fresh pages come from mmap: zeroed, and not touched before they are used.
 */
#include "config.h"

#include "base/arena.h"

#include <sys/mman.h>

enum rc arena_init(struct arena *a, size_t size)
{
    a->base = NULL;
    a->size = 0;
    if (size == 0)
        return RC_OK;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return RC_FAILED;
    /* Large pages spare the GEMMs most of their TLB misses; refusing is harmless. */
    (void)madvise(at, size, MADV_HUGEPAGE);
    a->base = at;
    a->size = size;
    return RC_OK;
}

void arena_release(struct arena *a)
{
    if (a->base)
        munmap(a->base, a->size);
    a->base = NULL;
    a->size = 0;
}

size_t arena_round(size_t size)
{
    return (size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
}
