/* kern_gemm_avx512.h: vectors of 16 floats for the GEMM rows that run on AVX-512 and above, and
 * what those rows share. Included by files compiled for AVX-512 only. */
#ifndef KERN_GEMM_AVX512_H
#define KERN_GEMM_AVX512_H

#include "kern/kern_gemm_block.h"

#include <immintrin.h>

#define ALWAYS_512 static inline __attribute__((always_inline))

enum { LANES = 16, TILE_COLS = 32 /* nr of every row here */ };

ALWAYS_512 __mmask16 first_lanes(int64_t n)
{
    unsigned lanes = n >= LANES ? 0xFFFFu : n <= 0 ? 0 : (1u << n) - 1;
    return (__mmask16)lanes;
}

/* 16 FP32 to BF16: nearest even, subnormals kept (vcvtneps2bf16 would flush them), NaN stays NaN.
 */
ALWAYS_512 __m256i bf16_from_f32(__m512 x)
{
    __m512i u = _mm512_castps_si512(x), top = _mm512_srli_epi32(u, 16);
    __m512i odd = _mm512_and_si512(top, _mm512_set1_epi32(1));
    __m512i up = _mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7FFF)), odd);
    __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    __m512i r = _mm512_mask_or_epi32(_mm512_srli_epi32(up, 16), nan, top, _mm512_set1_epi32(0x40));
    return _mm512_cvtepi32_epi16(r);
}

ALWAYS_512 __m512 f32_from_bf16(__m256i h)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

ALWAYS_512 __m256i f16_from_f32(__m512 x)
{
    return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* Lanes of `m` from element `at` on, as FP32; zero elsewhere. */
ALWAYS_512 __m512 read_f32(const void *p, int64_t at, __mmask16 m, enum dtype t)
{
    if (t == DTYPE_F32)
        return _mm512_maskz_loadu_ps(m, (const float *)p + at);
    __m256i h = _mm256_maskz_loadu_epi16(m, (const uint16_t *)p + at);
    return t == DTYPE_BF16 ? f32_from_bf16(h) : _mm512_cvtph_ps(h);
}

/* The 16 vectors as a matrix, rows and columns exchanged. */
ALWAYS_512 void transpose_16x16(__m512 r[16])
{
    __m512 t[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 2
        for (int j = 0; j < 2; j++) {
            __m512d x = _mm512_castps_pd(t[i + j]), y = _mm512_castps_pd(t[i + 2 + j]);
            r[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(x, y));
            r[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(x, y));
        }
        /* r[4 g + c] holds, in its 128-bit lane l, column 4 l + c of rows 4 g .. 4 g + 3 */
#pragma GCC unroll 4
    for (int c = 0; c < 4; c++) {
        __m512 a = _mm512_shuffle_f32x4(r[c], r[4 + c], 0x44);
        __m512 b = _mm512_shuffle_f32x4(r[c], r[4 + c], 0xEE);
        __m512 d = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0x44);
        __m512 e = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0xEE);
        t[c] = _mm512_shuffle_f32x4(a, d, 0x88);
        t[4 + c] = _mm512_shuffle_f32x4(a, d, 0xDD);
        t[8 + c] = _mm512_shuffle_f32x4(b, e, 0x88);
        t[12 + c] = _mm512_shuffle_f32x4(b, e, 0xDD);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        r[i] = t[i];
}

/* Of kern_gemm_avx512.c, for every row whose nr is TILE_COLS. */
void kern_gemm_avx512_merge(const struct gemm_out *o, int64_t row, int64_t col,
                            const struct gemm_tile *t);
void kern_gemm_avx512_store(const struct gemm_out *o, int64_t row, int64_t col,
                            const struct gemm_tile *t);

/* Of kern_gemm_pack16.c: panels of BF16, with k_unit zeros behind the last k. For compute type
 * bf16: low is NULL; for fp16: the value is panel + low, exactly, and the result tells whether an
 * inf or NaN is among them (it stands in panel, low is 0 there). */
struct pack16_shape {
    int mr;
    int a_stride, a_step; /* elements from a row to the next, from 32 k to the next 32 */
    int k_unit;
};
bool kern_gemm_pack16_a(const struct gemm_operand *s, const struct pack16_shape *shape,
                        uint16_t *panel, uint16_t *low);
bool kern_gemm_pack16_b(const struct gemm_operand *s, const struct pack16_shape *shape,
                        uint16_t *panel, uint16_t *low);

#endif
