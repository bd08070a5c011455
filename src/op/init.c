/* init.c: see init.h. */
#include "config.h"

#include "op/init.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

static void fill_constant(int64_t n, float value, float *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = value;
}

/* Uniform in [-bound, bound). */
static void fill_uniform(struct rng_key key, int64_t n, double bound, float *out)
{
    rng_uniform(key, 0, n, out);
    for (int64_t i = 0; i < n; i++)
        out[i] = (float)((2 * (double)out[i] - 1) * bound);
}

static void fill_normal(struct rng_key key, int64_t n, double deviation, float *out)
{
    rng_normal(key, 0, n, out);
    for (int64_t i = 0; i < n; i++)
        out[i] = (float)((double)out[i] * deviation);
}

void init_fill(const struct tensor *t, uint64_t seed, float *out)
{
    struct rng_key key = rng_key(seed, RNG_INIT, rng_name(t->name), 0);
    const struct init *init = &t->init;
    int64_t n = tensor_elements(t);
    switch (init->kind) {
    case INIT_KAIMING:
        fill_uniform(key, n, init->scale * sqrt(3.0 / (double)init->fan_in), out);
        break;
    case INIT_XAVIER:
        fill_uniform(key, n, init->scale * sqrt(6.0 / (double)(init->fan_in + init->fan_out)), out);
        break;
    case INIT_NORMAL:
        fill_normal(key, n, init->scale, out);
        break;
    case INIT_UNIFORM:
        fill_uniform(key, n, init->scale, out);
        break;
    case INIT_CONSTANT:
        fill_constant(n, (float)init->scale, out);
        break;
    case INIT_ZEROS:
        memset(out, 0, (size_t)n * sizeof(*out));
        break;
    }
}
