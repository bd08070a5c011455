/* pool.h: many small objects that are freed together (a spec's strings, a graph's arrays).
 * Everything comes zeroed and 16-byte aligned. NULL means out of memory. */
#ifndef POOL_H
#define POOL_H

#include "base/rc.h"

#include <stddef.h>

struct pool_chunk;

struct pool {
    struct pool_chunk *newest;
};

void pool_init(struct pool *p);
void pool_release(struct pool *p);

void *pool_zalloc(struct pool *p, size_t size);
/* n elements of size bytes; NULL too where the product overflows. */
void *pool_array(struct pool *p, size_t n, size_t size);
/* A larger copy of an array of n_old elements; the old one stays until the pool goes. */
void *pool_grow(struct pool *p, const void *old, size_t n_old, size_t n_new, size_t size);
char *pool_strdup(struct pool *p, const char *text);
char *pool_strndup(struct pool *p, const char *text, size_t length);
char *pool_printf(struct pool *p, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
