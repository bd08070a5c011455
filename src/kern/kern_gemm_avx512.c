/* kern_gemm_avx512.c: avx512_f32. FP32 and, widened while packing, both half types; 14 x 32 tiles:
 * 28 sums, two vectors of B and one of A in 32 registers. */
#include "config.h"

#include "kern/kern_gemm_avx512.h"

#include <string.h>

#define V __m512
#define VL 16
#define MR 14
#define K_CHUNK 384

static inline V v_zero(void)
{
    return _mm512_setzero_ps();
}

static inline V v_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

static inline void v_store(float *p, V x)
{
    _mm512_storeu_ps(p, x);
}

static inline V v_one(const float *p)
{
    return _mm512_set1_ps(*p);
}

static inline V v_add(V a, V b)
{
    return _mm512_add_ps(a, b);
}

static inline V v_fma(V a, V b, V c)
{
    return _mm512_fmadd_ps(a, b, c);
}

/* the second operand wins where one is NaN */
static inline V v_relu(V x)
{
    return _mm512_max_ps(_mm512_setzero_ps(), x);
}

ALWAYS_512 V v_read(const void *p, int64_t at, int n, enum dtype t)
{
    return read_f32(p, at, first_lanes(n), t);
}

ALWAYS_512 void v_write(void *p, int64_t at, int n, enum dtype t, V x)
{
    __mmask16 m = first_lanes(n);
    if (t == DTYPE_F32)
        _mm512_mask_storeu_ps((float *)p + at, m, x);
    else
        _mm256_mask_storeu_epi16((uint16_t *)p + at, m,
                                 t == DTYPE_BF16 ? bf16_from_f32(x) : f16_from_f32(x));
}

ALWAYS_512 V v_round(V x, enum dtype t)
{
    return t == DTYPE_BF16 ? f32_from_bf16(bf16_from_f32(x)) : _mm512_cvtph_ps(f16_from_f32(x));
}

ALWAYS_512 void v_transpose(V r[VL])
{
    transpose_16x16(r);
}

#include "kern/kern_gemm_f32_body.h"

_Static_assert((int)NR == (int)TILE_COLS, "other rows store their tiles with this file's code");

void kern_gemm_avx512_merge(const struct gemm_out *o, int64_t row, int64_t col,
                            const struct gemm_tile *t)
{
    merge(o, row, col, t);
}

void kern_gemm_avx512_store(const struct gemm_out *o, int64_t row, int64_t col,
                            const struct gemm_tile *t)
{
    store(o, row, col, t);
}

const struct gemm_row kern_gemm_avx512 = {
    .name = "avx512_f32",
    .help = "FP32 panels, 512-bit vectors",
    .isa = ISA_AVX512,
    .accepts = accepts,
    .block = &block,
    GEMM_BLOCK_FUNCTIONS,
};
