/* kern_cast_avx2.c: the row of kern_cast for AVX2: FP16 by the F16C instructions, BF16 by integer
 * operations. What is left over at the end goes through base/half.h, which gives the same bits. */
#include "config.h"

#include "kern/kern_cast_row.h"

#include "base/half.h"

#include <immintrin.h>

/* BF16 bits in the low half of each of 8 lanes, zeros above. */
static inline __m256i round_bf16(__m256i u)
{
    __m256i top = _mm256_srli_epi32(u, 16);
    __m256i odd = _mm256_and_si256(top, _mm256_set1_epi32(1));
    __m256i sum = _mm256_add_epi32(u, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
    __m256i size = _mm256_and_si256(u, _mm256_set1_epi32(0x7FFFFFFF));
    __m256i is_nan = _mm256_cmpgt_epi32(size, _mm256_set1_epi32(0x7F800000));
    __m256i quiet = _mm256_or_si256(top, _mm256_set1_epi32(0x40));
    return _mm256_blendv_epi8(_mm256_srli_epi32(sum, 16), quiet, is_nan);
}

static void f32_to_bf16(int64_t n, const float *x, uint16_t *out)
{
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256i low = round_bf16(_mm256_loadu_si256((const __m256i *)(const void *)(x + i)));
        __m256i high = round_bf16(_mm256_loadu_si256((const __m256i *)(const void *)(x + i + 8)));
        __m256i both = _mm256_packus_epi32(low, high); /* works within 128 bits: 0 2 1 3 */
        _mm256_storeu_si256((__m256i *)(void *)(out + i), _mm256_permute4x64_epi64(both, 0xD8));
    }
    for (; i < n; i++)
        out[i] = half_f32_to_bf16(x[i]);
}

static void f32_to_f16(int64_t n, const float *x, uint16_t *out)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)(out + i), h);
    }
    for (; i < n; i++)
        out[i] = half_f32_to_f16(x[i]);
}

static void bf16_to_f32(int64_t n, const uint16_t *x, float *out)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i h = _mm_loadu_si128((const __m128i *)(const void *)(x + i));
        __m256i u = _mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16);
        _mm256_storeu_si256((__m256i *)(void *)(out + i), u);
    }
    for (; i < n; i++)
        out[i] = half_bf16_to_f32(x[i]);
}

static void f16_to_f32(int64_t n, const uint16_t *x, float *out)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i h = _mm_loadu_si128((const __m128i *)(const void *)(x + i));
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(h));
    }
    for (; i < n; i++)
        out[i] = half_f16_to_f32(x[i]);
}

static int64_t count32(int64_t n, const void *x, uint32_t mask)
{
    const float *p = x;
    const __m256i all = _mm256_set1_epi32((int)mask);
    int64_t count = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i u = _mm256_loadu_si256((const __m256i *)(const void *)(p + i));
        __m256i hit = _mm256_cmpeq_epi32(_mm256_and_si256(u, all), all);
        count += __builtin_popcount((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(hit)));
    }
    for (; i < n; i++)
        count += (half_float_bits(p[i]) & mask) == mask;
    return count;
}

static int64_t count16(int64_t n, const void *x, uint16_t mask)
{
    const uint16_t *p = x;
    const __m256i all = _mm256_set1_epi16((short)mask);
    int64_t count = 0, i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256i u = _mm256_loadu_si256((const __m256i *)(const void *)(p + i));
        __m256i hit = _mm256_cmpeq_epi16(_mm256_and_si256(u, all), all);
        count += __builtin_popcount((unsigned)_mm256_movemask_epi8(hit)) / 2;
    }
    for (; i < n; i++)
        count += (p[i] & mask) == mask;
    return count;
}

const struct cast_row kern_cast_avx2 = {"avx2",      ISA_AVX2,   f32_to_bf16, f32_to_f16,
                                        bf16_to_f32, f16_to_f32, count32,     count16};
