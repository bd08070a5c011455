/* kern_cast_row.h: one row of the conversion table; for kern_cast.c and the rows themselves.
 *
 * Each row converts by other means and must give the bits of base/half.h: tests/kern compares every
 * row with it, over all 2^32 FP32 patterns in `make check-long`. */
#ifndef KERN_CAST_ROW_H
#define KERN_CAST_ROW_H

#include "base/cpu.h"

#include <stdint.h>

struct cast_row {
    const char *name;
    enum isa needs;
    void (*f32_to_bf16)(int64_t n, const float *x, uint16_t *out);
    void (*f32_to_f16)(int64_t n, const float *x, uint16_t *out);
    void (*bf16_to_f32)(int64_t n, const uint16_t *x, float *out);
    void (*f16_to_f32)(int64_t n, const uint16_t *x, float *out);
    /* how many elements have all bits of `mask`, the exponent field, set */
    int64_t (*count32)(int64_t n, const void *x, uint32_t mask);
    int64_t (*count16)(int64_t n, const void *x, uint16_t mask);
};

extern const struct cast_row kern_cast_scalar;
extern const struct cast_row kern_cast_avx2;
extern const struct cast_row kern_cast_avx512;

#endif
