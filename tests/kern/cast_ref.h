/* cast_ref.h: narrowing by exact arithmetic in FP64, sharing nothing with base/half.h: the value is
 * divided by the unit in the last place of the target (a power of two: exact), rounded to nearest
 * even by hand, and the bits are put together again. For test_cast.c and long_cast.c. */
#ifndef CAST_REF_H
#define CAST_REF_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct cast_format {
    int mantissa_bits, min_exponent; /* of the smallest normal */
    int max_exponent;
};

#define CAST_FP16 ((struct cast_format){10, -14, 15})
#define CAST_BF16 ((struct cast_format){7, -126, 127})

static inline uint16_t cast_ref(struct cast_format f, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t inf = (uint32_t)(f.max_exponent - f.min_exponent + 2) << f.mantissa_bits;
    if (isnan(x)) /* the top bits of the payload, quiet */
        return (uint16_t)(sign | inf | 1u << (f.mantissa_bits - 1) |
                          (bits & 0x7FFFFFu) >> (23 - f.mantissa_bits));
    double size = fabs((double)x);
    if (isinf(x))
        return (uint16_t)(sign | inf);
    int exponent = f.min_exponent;
    if (size >= ldexp(1.0, f.min_exponent))
        exponent = ilogb(size);
    double units = ldexp(size, f.mantissa_bits - exponent), whole = floor(units);
    double rest = units - whole;
    if (rest > 0.5 || (rest == 0.5 && fmod(whole, 2.0) == 1.0))
        whole += 1.0;
    /* a subnormal has no hidden bit; rounding up to the next power carries by itself */
    uint32_t h = (uint32_t)whole + ((uint32_t)(exponent - f.min_exponent) << f.mantissa_bits);
    return (uint16_t)(sign | (h > inf ? inf : h));
}

/* The value of a half, from its fields. */
static inline double cast_ref_value(struct cast_format f, uint16_t h)
{
    int exponent = (h & 0x7FFF) >> f.mantissa_bits;
    int mantissa = h & ((1 << f.mantissa_bits) - 1);
    double sign = h & 0x8000 ? -1.0 : 1.0;
    if (exponent == f.max_exponent - f.min_exponent + 2)
        return mantissa ? NAN : sign * INFINITY;
    if (exponent > 0)
        mantissa += 1 << f.mantissa_bits;
    else
        exponent = 1;
    return sign * ldexp(mantissa, exponent - 1 + f.min_exponent - f.mantissa_bits);
}

#endif
