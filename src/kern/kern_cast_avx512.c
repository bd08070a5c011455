/* kern_cast_avx512.c: the row of kern_cast for AVX-512. BF16 by integer operations: VCVTNEPS2BF16
 * would flush subnormals. The last elements are read and written under a mask. */
#include "config.h"

#include "kern/kern_cast_row.h"

#include <immintrin.h>

enum { LANES = 16 };

/* The lanes that hold elements, where `left` elements are to come. */
static inline __mmask16 lanes(int64_t left)
{
    return _cvtu32_mask16(left >= LANES ? 0xFFFFu : (1u << left) - 1u);
}

static inline __m256i round_bf16(__m512i u)
{
    __m512i top = _mm512_srli_epi32(u, 16);
    __m512i odd = _mm512_and_si512(top, _mm512_set1_epi32(1));
    __m512i sum = _mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
    __m512i size = _mm512_and_si512(u, _mm512_set1_epi32(0x7FFFFFFF));
    __mmask16 is_nan = _mm512_cmpgt_epi32_mask(size, _mm512_set1_epi32(0x7F800000));
    __m512i h = _mm512_srli_epi32(sum, 16);
    return _mm512_cvtepi32_epi16(_mm512_mask_or_epi32(h, is_nan, top, _mm512_set1_epi32(0x40)));
}

/* A whole vector: the compiler drops the mask. */
static const __mmask16 whole = 0xFFFF;

static inline void f32_to_bf16_step(__mmask16 k, const float *x, uint16_t *out)
{
    _mm256_mask_storeu_epi16(out, k, round_bf16(_mm512_maskz_loadu_epi32(k, x)));
}

static void f32_to_bf16(int64_t n, const float *x, uint16_t *out)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        f32_to_bf16_step(whole, x + i, out + i);
    f32_to_bf16_step(lanes(n - i), x + i, out + i);
}

static inline void f32_to_f16_step(__mmask16 k, const float *x, uint16_t *out)
{
    __m512 v = _mm512_maskz_loadu_ps(k, x);
    _mm256_mask_storeu_epi16(out, k, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

static void f32_to_f16(int64_t n, const float *x, uint16_t *out)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        f32_to_f16_step(whole, x + i, out + i);
    f32_to_f16_step(lanes(n - i), x + i, out + i);
}

static inline void bf16_to_f32_step(__mmask16 k, const uint16_t *x, float *out)
{
    __m512i u = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(k, x));
    _mm512_mask_storeu_epi32(out, k, _mm512_slli_epi32(u, 16));
}

static void bf16_to_f32(int64_t n, const uint16_t *x, float *out)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        bf16_to_f32_step(whole, x + i, out + i);
    bf16_to_f32_step(lanes(n - i), x + i, out + i);
}

static inline void f16_to_f32_step(__mmask16 k, const uint16_t *x, float *out)
{
    _mm512_mask_storeu_ps(out, k, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(k, x)));
}

static void f16_to_f32(int64_t n, const uint16_t *x, float *out)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        f16_to_f32_step(whole, x + i, out + i);
    f16_to_f32_step(lanes(n - i), x + i, out + i);
}

static int64_t count32(int64_t n, const void *x, uint32_t mask)
{
    const float *p = x;
    const __m512i all = _mm512_set1_epi32((int)mask);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i += LANES) {
        __m512i u = _mm512_maskz_loadu_epi32(lanes(n - i), p + i);
        __mmask16 hit = _mm512_cmpeq_epi32_mask(_mm512_and_si512(u, all), all);
        count += __builtin_popcount(hit);
    }
    return count;
}

static int64_t count16(int64_t n, const void *x, uint16_t mask)
{
    const uint16_t *p = x;
    const __m256i all = _mm256_set1_epi16((short)mask);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i += LANES) {
        __m256i u = _mm256_maskz_loadu_epi16(lanes(n - i), p + i);
        __mmask16 hit = _mm256_cmpeq_epi16_mask(_mm256_and_si256(u, all), all);
        count += __builtin_popcount(hit);
    }
    return count;
}

const struct cast_row kern_cast_avx512 = {"avx512",    ISA_AVX512, f32_to_bf16, f32_to_f16,
                                          bf16_to_f32, f16_to_f32, count32,     count16};
