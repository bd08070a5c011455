/* kern_cast_scalar.c: the row of kern_cast that runs everywhere, and the yardstick of the others:
 * base/half.h in a loop. */
#include "config.h"

#include "kern/kern_cast_row.h"

#include "base/half.h"

static void f32_to_bf16(int64_t n, const float *x, uint16_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = half_f32_to_bf16(x[i]);
}

static void f32_to_f16(int64_t n, const float *x, uint16_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = half_f32_to_f16(x[i]);
}

static void bf16_to_f32(int64_t n, const uint16_t *x, float *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = half_bf16_to_f32(x[i]);
}

static void f16_to_f32(int64_t n, const uint16_t *x, float *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = half_f16_to_f32(x[i]);
}

static int64_t count32(int64_t n, const void *x, uint32_t mask)
{
    const float *p = x;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += (half_float_bits(p[i]) & mask) == mask;
    return count;
}

static int64_t count16(int64_t n, const void *x, uint16_t mask)
{
    const uint16_t *p = x;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += (p[i] & mask) == mask;
    return count;
}

const struct cast_row kern_cast_scalar = {"scalar",    ISA_SCALAR, f32_to_bf16, f32_to_f16,
                                          bf16_to_f32, f16_to_f32, count32,     count16};
