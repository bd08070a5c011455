/* kern_gemm_pack16.c: panels of BF16 for the rows that multiply BF16 (AVX512-BF16 and tiles);
 * layouts in kern_gemm_block.h. Compiled for AVX-512.
 *
 * An FP16 value has 11 significant bits and a BF16 value 8, with FP32's exponents: so a finite FP16
 * x is exactly high + low, with high = its first 8 bits and low = x - high (3 bits, a multiple of
 * 2^-24, hence a normal BF16 number or zero). inf and NaN are inf + 0 and NaN + 0; they are
 * reported, because inf * 0 must not reach a sum. */
#include "config.h"

#include "kern/kern_gemm_avx512.h"

#include <string.h>

/* 16 values in BF16; low only where they are split. */
struct parts {
    __m256i high, low;
};

#define NO_PARTS ((struct parts){_mm256_setzero_si256(), _mm256_setzero_si256()})

/* 16 elements of the stored matrix; sets the bits of inf and NaN in `bad` where they are split. */
ALWAYS_512 struct parts take(const struct gemm_operand *s, int64_t at, __mmask16 m, enum dtype from,
                             bool split, __mmask16 *bad)
{
    struct parts p = NO_PARTS;
    if (!split && from == DTYPE_BF16) {
        p.high = _mm256_maskz_loadu_epi16(m, (const uint16_t *)s->data + at);
        return p;
    }
    __m512 x = read_f32(s->data, at, m, from);
    if (!split) {
        p.high = bf16_from_f32(x);
        return p;
    }
    if (from != DTYPE_F16)
        x = _mm512_cvtph_ps(f16_from_f32(x));
    __m512i bits = _mm512_castps_si512(x);
    __m512 high = _mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32(-0x10000)));
    __mmask16 finite =
        _mm512_cmp_ps_mask(_mm512_abs_ps(x), _mm512_set1_ps(__builtin_inff()), _CMP_LT_OQ);
    __m512i low = _mm512_castps_si512(_mm512_maskz_sub_ps(finite, x, high));
    *bad |= (__mmask16)~finite;
    p.high = _mm512_cvtepi32_epi16(_mm512_srli_epi32(bits, 16));
    p.low = _mm512_cvtepi32_epi16(_mm512_srli_epi32(low, 16));
    return p;
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
                              __m512 *high, __m512 *low, enum dtype from, bool split,
                              __mmask16 *bad)
{
    __mmask16 m = first_lanes(s->n_w - w0);
    for (int p = 0; p < n_pairs; p++) {
        int64_t k = k0 + 2 * p, at = (s->k + k) * s->ld + s->w + w0;
        struct parts first = NO_PARTS, second = NO_PARTS;
        if (k < s->n_k)
            first = take(s, at, m, from, split, bad);
        if (k + 1 < s->n_k)
            second = take(s, at + s->ld, m, from, split, bad);
        high[p] = pairs(first.high, second.high);
        if (split)
            low[p] = pairs(first.low, second.low);
    }
}

ALWAYS_512 __m512 joined(__m256i first, __m256i second)
{
    return _mm512_castsi512_ps(_mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1));
}

/* The 32 k from k0 on of one w, 16 pairs. For operands whose stored rows run along k. */
ALWAYS_512 void row_of_k(const struct gemm_operand *s, int64_t k0, int64_t w, __m512 *high,
                         __m512 *low, enum dtype from, bool split, __mmask16 *bad)
{
    int64_t at = (s->w + w) * s->ld + s->k + k0, left = s->n_k - k0;
    struct parts first = NO_PARTS, second = NO_PARTS;
    if (w < s->n_w)
        first = take(s, at, first_lanes(left), from, split, bad);
    if (w < s->n_w && left > LANES)
        second = take(s, at + LANES, first_lanes(left - LANES), from, split, bad);
    *high = joined(first.high, second.high);
    if (split)
        *low = joined(first.low, second.low);
}

ALWAYS_512 void store_pairs(uint16_t *to, __m512 x)
{
    _mm512_storeu_ps((float *)(void *)to, x);
}

/* Each row of A is 32 k long, in a panel row. */
ALWAYS_512 void store_a(uint16_t *to, const struct pack16_shape *shape, int w, __m512 r[LANES])
{
    transpose_16x16(r);
    for (int i = 0; i < LANES && w + i < shape->mr; i++)
        store_pairs(to + (w + i) * shape->a_stride, r[i]);
}

ALWAYS_512 bool pack_a(const struct gemm_operand *s, const struct pack16_shape *shape, uint16_t *to,
                       uint16_t *to_low, enum dtype from, bool split)
{
    __mmask16 bad = 0;
    __m512 high[LANES], low[LANES];
    if (s->k_inner) {
        for (int w = 0; w < shape->mr; w++)
            for (int64_t k = 0; k < s->n_k; k += 32) {
                row_of_k(s, k, w, high, low, from, split, &bad);
                int64_t at = w * shape->a_stride + k / 32 * shape->a_step;
                store_pairs(to + at, high[0]);
                if (split)
                    store_pairs(to_low + at, low[0]);
            }
        return bad != 0;
    }
    for (int64_t k = 0; k < s->n_k; k += 32)
        for (int w = 0; w < shape->mr; w += LANES) {
            int64_t at = k / 32 * shape->a_step;
            pairs_of_rows(s, k, w, LANES, high, low, from, split, &bad);
            store_a(to + at, shape, w, high);
            if (split)
                store_a(to_low + at, shape, w, low);
        }
    return bad != 0;
}

/* n pairs of 16 columns. */
ALWAYS_512 void store_b(uint16_t *to, int n, bool turn, __m512 r[LANES])
{
    if (turn)
        transpose_16x16(r);
    for (int p = 0; p < n; p++)
        store_pairs(to + p * TILE_COLS * 2, r[p]);
}

ALWAYS_512 bool pack_b(const struct gemm_operand *s, const struct pack16_shape *shape, uint16_t *to,
                       uint16_t *to_low, enum dtype from, bool split)
{
    __mmask16 bad = 0;
    __m512 high[LANES], low[LANES];
    int64_t n_pairs = (s->n_k + shape->k_unit - 1) / shape->k_unit * shape->k_unit / 2;
    for (int64_t p0 = 0; p0 < n_pairs; p0 += LANES)
        for (int w = 0; w < TILE_COLS; w += LANES) {
            int64_t at = (p0 * TILE_COLS + w) * 2;
            int n = n_pairs - p0 < LANES ? (int)(n_pairs - p0) : LANES;
            if (s->k_inner)
                for (int i = 0; i < LANES; i++)
                    row_of_k(s, 2 * p0, w + i, high + i, low + i, from, split, &bad);
            else
                pairs_of_rows(s, 2 * p0, w, n, high, low, from, split, &bad);
            store_b(to + at, n, s->k_inner, high);
            if (split)
                store_b(to_low + at, n, s->k_inner, low);
        }
    return bad != 0;
}

/* The function with its types constant. */
#define PACK_AS(f, split)                                                                          \
    (s->dtype == DTYPE_F32    ? f(s, shape, panel, low, DTYPE_F32, split)                          \
     : s->dtype == DTYPE_BF16 ? f(s, shape, panel, low, DTYPE_BF16, split)                         \
                              : f(s, shape, panel, low, DTYPE_F16, split))

bool kern_gemm_pack16_a(const struct gemm_operand *s, const struct pack16_shape *shape,
                        uint16_t *panel, uint16_t *low)
{
    return low ? PACK_AS(pack_a, true) : PACK_AS(pack_a, false);
}

bool kern_gemm_pack16_b(const struct gemm_operand *s, const struct pack16_shape *shape,
                        uint16_t *panel, uint16_t *low)
{
    return low ? PACK_AS(pack_b, true) : PACK_AS(pack_b, false);
}
