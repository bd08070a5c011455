/* rng.c: see rng.h. */
#include "config.h"

#include "base/rng.h"

#include <math.h>

enum { ROUNDS = 10 };

/* SplitMix64's finaliser (Steele et al. 2014): spreads small integers over all bits. */
static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

struct rng_key rng_key(uint64_t seed, enum rng_stream stream, uint64_t a, uint64_t b)
{
    uint64_t k = mix(mix(seed) + (uint64_t)stream);
    uint64_t u = mix(mix(a + 1) ^ (b + 0x5851F42D4C957F2Du));
    struct rng_key key = {{(uint32_t)k, (uint32_t)(k >> 32)}, {(uint32_t)u, (uint32_t)(u >> 32)}};
    return key;
}

uint64_t rng_name(const char *name)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (const char *p = name; *p; p++)
        h = (h ^ (unsigned char)*p) * 0x100000001B3u;
    return h;
}

void rng_words(struct rng_key k, uint64_t i, uint32_t out[4])
{
    uint32_t c[4] = {(uint32_t)i, (uint32_t)(i >> 32), k.upper[0], k.upper[1]};
    uint32_t k0 = k.key[0], k1 = k.key[1];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c[0];
        uint64_t p1 = (uint64_t)0xCD9E8D57u * c[2];
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;
        uint32_t n2 = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
        c[0] = n0;
        c[1] = (uint32_t)p1;
        c[2] = n2;
        c[3] = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    for (int j = 0; j < 4; j++)
        out[j] = c[j];
}

/* The rounds of rng_words, side by side for several counters, so that the compiler can vectorise.
 */
enum { BATCH = 32 };

static void words_batch(struct rng_key k, uint64_t first, uint32_t out[4 * BATCH])
{
    uint32_t c0[BATCH], c1[BATCH], c2[BATCH], c3[BATCH];
    for (int j = 0; j < BATCH; j++) {
        c0[j] = (uint32_t)(first + (uint64_t)j);
        c1[j] = (uint32_t)((first + (uint64_t)j) >> 32);
        c2[j] = k.upper[0];
        c3[j] = k.upper[1];
    }
    uint32_t k0 = k.key[0], k1 = k.key[1];
    for (int round = 0; round < ROUNDS; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u)
        for (int j = 0; j < BATCH; j++) {
            uint64_t p0 = (uint64_t)0xD2511F53u * c0[j];
            uint64_t p1 = (uint64_t)0xCD9E8D57u * c2[j];
            c0[j] = (uint32_t)(p1 >> 32) ^ c1[j] ^ k0;
            c1[j] = (uint32_t)p1;
            c2[j] = (uint32_t)(p0 >> 32) ^ c3[j] ^ k1;
            c3[j] = (uint32_t)p0;
        }
    for (int j = 0; j < BATCH; j++) {
        out[4 * j] = c0[j];
        out[4 * j + 1] = c1[j];
        out[4 * j + 2] = c2[j];
        out[4 * j + 3] = c3[j];
    }
}

void rng_many(struct rng_key k, uint64_t first, int64_t n, uint32_t *out)
{
    for (; n >= BATCH; n -= BATCH, first += BATCH, out += 4 * BATCH)
        words_batch(k, first, out);
    for (; n > 0; n--, first++, out += 4)
        rng_words(k, first, out);
}

void rng_uniform(struct rng_key k, uint64_t first, int64_t n, float *out)
{
    uint32_t words[4];
    for (int64_t i = 0; i < n; i++) {
        uint64_t at = first + (uint64_t)i;
        if (i == 0 || at % 4 == 0)
            rng_words(k, at / 4, words);
        out[i] = (float)(words[at % 4] >> 8) * 0x1p-24f;
    }
}

void rng_normal(struct rng_key k, uint64_t first, int64_t n, float *out)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t words[4];
        rng_words(k, first + (uint64_t)i, words);
        /* 53 bits in the middle of their cells: never 0, never 1 */
        double u = ((double)words[0] + ((double)(words[1] >> 12) + 0.5) * 0x1p-20) * 0x1p-32;
        double v = (double)words[2] * 0x1p-32;
        out[i] = (float)(sqrt(-2.0 * log(u)) * cos(2.0 * 3.14159265358979323846 * v));
    }
}

uint64_t rng_below(struct rng_key k, uint64_t i, uint64_t bound)
{
    uint32_t words[4];
    rng_words(k, i, words);
    uint64_t r = (uint64_t)words[1] << 32 | words[0];
    return (uint64_t)(((unsigned __int128)r * bound) >> 64);
}
