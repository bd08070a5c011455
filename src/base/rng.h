/* rng.h: counter-based random numbers: Philox4x32-10 (Salmon et al., SC 2011).
 *
 * A number is a function of its key and its index, with no state: threads may ask in any order, a
 * resumed run asks the same questions, and a skipped draw costs nothing. */
#ifndef RNG_H
#define RNG_H

#include <stdint.h>

/* What a stream of random numbers is for: streams with different names never meet. */
enum rng_stream { RNG_INIT, RNG_SHUFFLE, RNG_DROPOUT, RNG_SYNTHETIC, RNG_HOLDOUT, RNG_AUGMENT };

struct rng_key {
    uint32_t key[2];
    uint32_t upper[2]; /* the upper half of the counter */
};

/* a, b: what distinguishes this use (step, node, epoch, tensor, ...) */
struct rng_key rng_key(uint64_t seed, enum rng_stream stream, uint64_t a, uint64_t b);

/* A number for a name (FNV-1a), as a or b above. */
uint64_t rng_name(const char *name);

/* Four random words, for counter i of the key. */
void rng_words(struct rng_key k, uint64_t i, uint32_t out[4]);
/* The same for counters first .. first+n-1, 4 n words in order; faster for many. */
void rng_many(struct rng_key k, uint64_t first, int64_t n, uint32_t *out);

/* n uniform numbers in [0, 1), multiples of 2^-24, numbers first .. first+n-1 of the stream. */
void rng_uniform(struct rng_key k, uint64_t first, int64_t n, float *out);
/* n standard normal numbers (Box-Muller, in FP64, rounded once). */
void rng_normal(struct rng_key k, uint64_t first, int64_t n, float *out);
/* An integer in 0 .. bound-1 without bias worth naming (64-bit multiply-high). */
uint64_t rng_below(struct rng_key k, uint64_t i, uint64_t bound);

#endif
