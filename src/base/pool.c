/* pool.c: see pool.h. A list of chunks; an object larger than a chunk gets one of its own. */
#include "config.h"

#include "base/pool.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 32 * 1024, ALIGN = 16 };

struct pool_chunk {
    struct pool_chunk *older;
    size_t used, size;
    _Alignas(ALIGN) unsigned char bytes[];
};

void pool_init(struct pool *p)
{
    p->newest = NULL;
}

void pool_release(struct pool *p)
{
    struct pool_chunk *chunk = p->newest;
    while (chunk) {
        struct pool_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
    p->newest = NULL;
}

void *pool_zalloc(struct pool *p, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    struct pool_chunk *chunk = p->newest;
    if (!chunk || chunk->size - chunk->used < size) {
        size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
        chunk = calloc(1, sizeof(*chunk) + room);
        if (!chunk)
            return NULL;
        chunk->size = room;
        chunk->older = p->newest;
        p->newest = chunk;
    }
    void *at = chunk->bytes + chunk->used;
    chunk->used += size;
    return at;
}

void *pool_array(struct pool *p, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size)
        return NULL;
    return pool_zalloc(p, n * size);
}

void *pool_grow(struct pool *p, const void *old, size_t n_old, size_t n_new, size_t size)
{
    void *at = pool_array(p, n_new, size);
    if (at && n_old)
        memcpy(at, old, n_old * size);
    return at;
}

char *pool_strndup(struct pool *p, const char *text, size_t length)
{
    char *at = pool_zalloc(p, length + 1);
    if (at)
        memcpy(at, text, length);
    return at;
}

char *pool_strdup(struct pool *p, const char *text)
{
    return pool_strndup(p, text, strlen(text));
}

char *pool_printf(struct pool *p, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *at = length < 0 ? NULL : pool_zalloc(p, (size_t)length + 1);
    if (!at)
        return NULL;
    va_start(args, fmt);
    vsnprintf(at, (size_t)length + 1, fmt, args);
    va_end(args);
    return at;
}
