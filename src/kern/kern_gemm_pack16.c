/* kern_gemm_pack16.c: panels of BF16 for the rows that multiply BF16 (AVX512-BF16 and tiles);
 * layouts in kern_gemm_block.h. Compiled for AVX-512.
 *
 * An FP16 value has 11 significant bits and a BF16 value 8, with FP32's exponents: so a finite FP16
 * x is exactly high + low, with high = bf16(x) and low = x - high (at most 3 bits, a multiple of
 * 2^-24, hence a normal BF16 number). inf and NaN are inf + 0 and NaN + 0; they are reported,
 * because inf * 0 must not reach a sum. */
#include "config.h"

#include "kern/kern_gemm_avx512.h"

#include <string.h>

enum part { WHOLE, HIGH, LOW };

/* Elements of the stored matrix as BF16 bits, with what the lanes of bad values are or-ed into. */
ALWAYS_512 __m256i take(const struct gemm_operand *s, int64_t at, __mmask16 m, enum dtype from,
                        enum part part, __mmask16 *bad)
{
    if (part == WHOLE && from == DTYPE_BF16)
        return _mm256_maskz_loadu_epi16(m, (const uint16_t *)s->data + at);
    __m512 x = read_f32(s->data, at, m, from);
    if (part != WHOLE && from != DTYPE_F16)
        x = _mm512_cvtph_ps(f16_from_f32(x));
    __m256i high = bf16_from_f32(x);
    if (part != LOW)
        return high;
    __mmask16 finite = _mm512_cmp_ps_mask(_mm512_abs_ps(x), _mm512_set1_ps(__builtin_inff()),
                                          _CMP_LT_OQ);
    *bad |= (__mmask16)~finite;
    return bf16_from_f32(_mm512_maskz_sub_ps(finite, x, f32_from_bf16(high)));
}

/* Two rows of 16 as 16 pairs. */
ALWAYS_512 __m512 pairs(__m256i first, __m256i second)
{
    __m512i up = _mm512_slli_epi32(_mm512_cvtepu16_epi32(second), 16);
    return _mm512_castsi512_ps(_mm512_or_si512(_mm512_cvtepu16_epi32(first), up));
}

/* 16 pairs of k from k0 on (k counts from s->k), of columns or rows from w0 on: out[p] has pair p
 * of all 16 w. For operands whose stored rows run along w. */
ALWAYS_512 void pairs_of_rows(const struct gemm_operand *s, int64_t k0, int64_t w0, int n_pairs,
                              __m512 *out, enum dtype from, enum part part, __mmask16 *bad)
{
    __mmask16 m = first_lanes(s->n_w - w0);
    for (int p = 0; p < n_pairs; p++) {
        int64_t k = k0 + 2 * p, at = (s->k + k) * s->ld + s->w + w0;
        __m256i first = _mm256_setzero_si256(), second = first;
        if (k < s->n_k)
            first = take(s, at, m, from, part, bad);
        if (k + 1 < s->n_k)
            second = take(s, at + s->ld, m, from, part, bad);
        out[p] = pairs(first, second);
    }
}

/* The 32 k from k0 on of one w, 16 pairs. For operands whose stored rows run along k. */
ALWAYS_512 __m512 row_of_k(const struct gemm_operand *s, int64_t k0, int64_t w, enum dtype from,
                           enum part part, __mmask16 *bad)
{
    int64_t at = (s->w + w) * s->ld + s->k + k0, left = s->n_k - k0;
    __m256i zero = _mm256_setzero_si256();
    if (w >= s->n_w)
        return _mm512_setzero_ps();
    __m256i first = take(s, at, first_lanes(left), from, part, bad);
    __m256i second = left > LANES ? take(s, at + LANES, first_lanes(left - LANES), from, part, bad)
                                  : zero;
    return _mm512_castsi512_ps(_mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1));
}

ALWAYS_512 void store_pairs(uint16_t *to, __m512 x)
{
    _mm512_storeu_ps((float *)(void *)to, x);
}

ALWAYS_512 bool pack_a(const struct gemm_operand *s, const struct pack16_shape *shape, uint16_t *to,
                       enum dtype from, enum part part)
{
    __mmask16 bad = 0;
    if (s->k_inner) {
        for (int w = 0; w < shape->mr; w++)
            for (int64_t k = 0; k < s->n_k; k += 32)
                store_pairs(to + w * shape->a_stride + k, row_of_k(s, k, w, from, part, &bad));
        return bad != 0;
    }
    for (int64_t k = 0; k < s->n_k; k += 32)
        for (int w = 0; w < shape->mr; w += LANES) {
            __m512 r[LANES];
            pairs_of_rows(s, k, w, LANES, r, from, part, &bad);
            transpose_16x16(r);
            for (int i = 0; i < LANES && w + i < shape->mr; i++)
                store_pairs(to + (w + i) * shape->a_stride + k, r[i]);
        }
    return bad != 0;
}

ALWAYS_512 bool pack_b(const struct gemm_operand *s, const struct pack16_shape *shape, uint16_t *to,
                       enum dtype from, enum part part)
{
    __mmask16 bad = 0;
    int64_t n_pairs = (s->n_k + shape->k_unit - 1) / shape->k_unit * shape->k_unit / 2;
    for (int64_t p0 = 0; p0 < n_pairs; p0 += LANES)
        for (int w = 0; w < TILE_COLS; w += LANES) {
            __m512 r[LANES];
            int n = n_pairs - p0 < LANES ? (int)(n_pairs - p0) : LANES;
            if (s->k_inner) {
                for (int i = 0; i < LANES; i++)
                    r[i] = row_of_k(s, 2 * p0, w + i, from, part, &bad);
                transpose_16x16(r);
            } else {
                pairs_of_rows(s, 2 * p0, w, n, r, from, part, &bad);
            }
            for (int p = 0; p < n; p++)
                store_pairs(to + ((p0 + p) * TILE_COLS + w) * 2, r[p]);
        }
    return bad != 0;
}

/* The function with its types constant. */
#define PACK_AS(f, part)                                                                           \
    (s->dtype == DTYPE_F32    ? f(s, shape, to, DTYPE_F32, part)                                   \
     : s->dtype == DTYPE_BF16 ? f(s, shape, to, DTYPE_BF16, part)                                  \
                              : f(s, shape, to, DTYPE_F16, part))

static bool a_whole(const struct gemm_operand *s, const struct pack16_shape *shape, uint16_t *to)
{
    return PACK_AS(pack_a, WHOLE);
}

static bool a_high(const struct gemm_operand *s, const struct pack16_shape *shape, uint16_t *to)
{
    return PACK_AS(pack_a, HIGH);
}

static bool a_low(const struct gemm_operand *s, const struct pack16_shape *shape, uint16_t *to)
{
    return PACK_AS(pack_a, LOW);
}

static bool b_whole(const struct gemm_operand *s, const struct pack16_shape *shape, uint16_t *to)
{
    return PACK_AS(pack_b, WHOLE);
}

static bool b_high(const struct gemm_operand *s, const struct pack16_shape *shape, uint16_t *to)
{
    return PACK_AS(pack_b, HIGH);
}

static bool b_low(const struct gemm_operand *s, const struct pack16_shape *shape, uint16_t *to)
{
    return PACK_AS(pack_b, LOW);
}

bool kern_gemm_pack16_a(const struct gemm_operand *s, const struct pack16_shape *shape,
                        uint16_t *panel, uint16_t *low)
{
    if (!low)
        return a_whole(s, shape, panel);
    a_high(s, shape, panel);
    return a_low(s, shape, low);
}

bool kern_gemm_pack16_b(const struct gemm_operand *s, const struct pack16_shape *shape,
                        uint16_t *panel, uint16_t *low)
{
    if (!low)
        return b_whole(s, shape, panel);
    b_high(s, shape, panel);
    return b_low(s, shape, low);
}
