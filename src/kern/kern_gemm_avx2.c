/* kern_gemm_avx2.c: avx2_f32. FP32 and, widened while packing, both half types; 6 x 16 tiles: 12
 * sums, two vectors of B and one of A in 16 registers. */
#include "config.h"

#include "kern/kern_gemm_block.h"

#include <immintrin.h>
#include <string.h>

#define V __m256
#define VL 8
#define MR 6
#define K_CHUNK 512

static inline V v_zero(void)
{
    return _mm256_setzero_ps();
}

static inline V v_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

static inline void v_store(float *p, V x)
{
    _mm256_storeu_ps(p, x);
}

static inline V v_one(const float *p)
{
    return _mm256_broadcast_ss(p);
}

static inline V v_add(V a, V b)
{
    return _mm256_add_ps(a, b);
}

static inline V v_fma(V a, V b, V c)
{
    return _mm256_fmadd_ps(a, b, c);
}

/* the second operand wins where one is NaN */
static inline V v_relu(V x)
{
    return _mm256_max_ps(_mm256_setzero_ps(), x);
}

/* 8 FP32 to BF16: nearest even, NaN stays NaN. */
static inline __m128i bf16_from_f32(V x)
{
    __m256i u = _mm256_castps_si256(x), top = _mm256_srli_epi32(u, 16);
    __m256i odd = _mm256_and_si256(top, _mm256_set1_epi32(1));
    __m256i up = _mm256_add_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x7FFF)), odd);
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    __m256i quiet = _mm256_or_si256(top, _mm256_set1_epi32(0x40));
    __m256i r = _mm256_blendv_epi8(_mm256_srli_epi32(up, 16), quiet, nan);
    return _mm_packus_epi32(_mm256_castsi256_si128(r), _mm256_extracti128_si256(r, 1));
}

static inline V f32_from_bf16(__m128i h)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

static inline __m128i half_from_f32(V x, enum dtype t)
{
    return t == DTYPE_BF16 ? bf16_from_f32(x)
                           : _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline V f32_from_half(__m128i h, enum dtype t)
{
    return t == DTYPE_BF16 ? f32_from_bf16(h) : _mm256_cvtph_ps(h);
}

/* AVX2 has no masks for 16-bit elements: an incomplete vector goes through memory. */
static inline V v_read(const void *p, int64_t at, int n, enum dtype t)
{
    if (t == DTYPE_F32) {
        const float *from = (const float *)p + at;
        float some[VL] = {0};
        if (n == VL)
            return v_load(from);
        memcpy(some, from, (size_t)n * sizeof(float));
        return v_load(some);
    }
    const uint16_t *from = (const uint16_t *)p + at;
    uint16_t some[VL] = {0};
    if (n < VL) {
        memcpy(some, from, (size_t)n * sizeof(uint16_t));
        from = some;
    }
    return f32_from_half(_mm_loadu_si128((const void *)from), t);
}

static inline void v_write(void *p, int64_t at, int n, enum dtype t, V x)
{
    if (t == DTYPE_F32) {
        float some[VL];
        v_store(n == VL ? (float *)p + at : some, x);
        if (n < VL)
            memcpy((float *)p + at, some, (size_t)n * sizeof(float));
        return;
    }
    uint16_t some[VL];
    _mm_storeu_si128((void *)(n == VL ? (uint16_t *)p + at : some), half_from_f32(x, t));
    if (n < VL)
        memcpy((uint16_t *)p + at, some, (size_t)n * sizeof(uint16_t));
}

static inline V v_round(V x, enum dtype t)
{
    return f32_from_half(half_from_f32(x, t), t);
}

static inline void v_transpose(V r[VL])
{
    V t[VL];
    for (int i = 0; i < VL; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < VL; i += 4)
        for (int j = 0; j < 2; j++) {
            r[i + 2 * j] = _mm256_shuffle_ps(t[i + j], t[i + 2 + j], 0x44);
            r[i + 2 * j + 1] = _mm256_shuffle_ps(t[i + j], t[i + 2 + j], 0xEE);
        }
    for (int c = 0; c < 4; c++) {
        t[c] = _mm256_permute2f128_ps(r[c], r[4 + c], 0x20);
        t[4 + c] = _mm256_permute2f128_ps(r[c], r[4 + c], 0x31);
    }
    for (int i = 0; i < VL; i++)
        r[i] = t[i];
}

#include "kern/kern_gemm_f32_body.h"

const struct gemm_row kern_gemm_avx2 = {
    .name = "avx2_f32",
    .help = "FP32 panels, 256-bit vectors",
    .isa = ISA_AVX2,
    .accepts = accepts,
    .block = &block,
    GEMM_BLOCK_FUNCTIONS,
};
