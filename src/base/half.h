/* half.h: one value at a time between FP32 and the two half types, by integer operations, so that
 * neither the rounding mode nor FTZ/DAZ can change a bit. In bulk: kern/kern_cast.h, whose rows all
 * give the same bits as these functions.
 *
 * The rule: round to nearest even; overflow becomes inf, never the largest finite value; subnormals
 * are kept both ways. NaN stays NaN with its sign: narrowing keeps the top payload bits and sets
 * the quiet bit, as the F16C instructions do; FP16 to FP32 sets the quiet bit too; BF16 to FP32 is
 * a plain shift and changes nothing. The header may hold bodies: the design lets this one do so. */
#ifndef HALF_H
#define HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t half_float_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof(u));
    return u;
}

static inline float half_bits_float(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof(x));
    return x;
}

static inline uint16_t half_f32_to_bf16(float x)
{
    uint32_t u = half_float_bits(x);
    /* a NaN must not reach the addition: it could carry into inf, or into the sign */
    if ((u & 0x7FFFFFFFu) > 0x7F800000u)
        return (uint16_t)(u >> 16 | 0x0040u);
    return (uint16_t)((u + 0x7FFFu + (u >> 16 & 1u)) >> 16);
}

static inline float half_bf16_to_f32(uint16_t h)
{
    return half_bits_float((uint32_t)h << 16);
}

/* bits: of an FP32 number below 2^-14, the smallest normal FP16; counts it in units of 2^-24. */
static inline uint32_t half_round_subnormal(uint32_t bits)
{
    uint32_t exponent = bits >> 23;
    if (exponent < 102) /* below 2^-25, half of the smallest */
        return 0;
    uint32_t mantissa = (bits & 0x7FFFFFu) | 0x800000u;
    uint32_t shift = 126 - exponent; /* 14 .. 24 */
    uint32_t below_half = (1u << (shift - 1)) - 1;
    return (mantissa + below_half + (mantissa >> shift & 1u)) >> shift;
}

static inline uint16_t half_f32_to_f16(float x)
{
    uint32_t u = half_float_bits(x);
    uint32_t sign = u >> 16 & 0x8000u, size = u & 0x7FFFFFFFu;
    if (size > 0x7F800000u)
        return (uint16_t)(sign | 0x7E00u | (size >> 13 & 0x3FFu));
    if (size >= 0x47800000u) /* 2^16; from 65520 on, rounding below carries into inf by itself */
        return (uint16_t)(sign | 0x7C00u);
    if (size < 0x38800000u)
        return (uint16_t)(sign | half_round_subnormal(size));
    size -= 0x38000000u; /* bias 127 to bias 15 */
    return (uint16_t)(sign | (size + 0xFFFu + (size >> 13 & 1u)) >> 13);
}

static inline float half_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, mantissa = h & 0x3FFu;
    uint32_t exponent = h >> 10 & 0x1Fu;
    if (exponent == 0x1F)
        return half_bits_float(sign | 0x7F800000u | mantissa << 13 | (mantissa ? 0x400000u : 0));
    if (exponent == 0)
        return half_bits_float(sign | half_float_bits((float)mantissa * 0x1p-24f));
    return half_bits_float(sign | (exponent + 112) << 23 | mantissa << 13);
}

#endif
