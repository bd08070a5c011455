/* kern_gemm_avx512_bf16.c: avx512_bf16. vdpbf16ps adds the products of two BF16 pairs to an FP32
 * sum, 16 at a time; it counts subnormals as zero, whatever MXCSR says. 14 x 32 tiles, as
 * avx512_f32. */
#include "config.h"

#include "kern/kern_gemm_avx512.h"

#include <string.h>

enum { MR = 14, K_CHUNK = 512, A_STRIDE = K_CHUNK + 32 };

static const struct pack16_shape shape = {MR, A_STRIDE, 32, 2};

static bool pack_a(const struct gemm_operand *s, void *panel, void *low)
{
    return kern_gemm_pack16_a(s, &shape, panel, low);
}

static bool pack_b(const struct gemm_operand *s, void *panel, void *low)
{
    return kern_gemm_pack16_b(s, &shape, panel, low);
}

ALWAYS_512 __m512bh pair_everywhere(const uint16_t *p)
{
    int32_t pair;
    memcpy(&pair, p, sizeof(pair));
    return (__m512bh)_mm512_set1_epi32(pair);
}

ALWAYS_512 void product(const struct gemm_tile *t, const int rows, const int vectors)
{
    const uint16_t *a = t->a, *b = t->b;
    __m512 sum[MR][2];
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            sum[i][j] = t->resume ? _mm512_loadu_ps(t->sum + i * TILE_COLS + j * LANES)
                                  : _mm512_setzero_ps();
    for (int64_t k = 0; k < t->n_k; k += 2, a += 2, b += 2 * TILE_COLS) {
        __m512bh b0 = (__m512bh)_mm512_loadu_si512(b);
        __m512bh b1 = (__m512bh)_mm512_loadu_si512(b + (vectors > 1 ? 2 * LANES : 0));
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++) {
            __m512bh x = pair_everywhere(a + i * A_STRIDE);
            sum[i][0] = _mm512_dpbf16_ps(sum[i][0], x, b0);
            if (vectors > 1)
                sum[i][1] = _mm512_dpbf16_ps(sum[i][1], x, b1);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            _mm512_storeu_ps(t->sum + i * TILE_COLS + j * LANES, sum[i][j]);
}

#define PRODUCT_OF_ROWS(n)                                                                         \
    if (t->rows <= (n)) {                                                                          \
        if (t->cols <= LANES)                                                                      \
            product(t, n, 1);                                                                      \
        else                                                                                       \
            product(t, n, 2);                                                                      \
        return;                                                                                    \
    }

static void multiply(const struct gemm_tile *t)
{
    PRODUCT_OF_ROWS(1)
    PRODUCT_OF_ROWS(2)
    PRODUCT_OF_ROWS(4)
    PRODUCT_OF_ROWS(8)
    PRODUCT_OF_ROWS(MR)
}

static const char *accepts(const struct gemm_desc *d)
{
    return d->compute == DTYPE_BF16 ? NULL : "multiplies bf16 only";
}

static const struct gemm_block block = {
    .mr = MR,
    .nr = TILE_COLS,
    .k_unit = 2,
    .parts = 1,
    .k_chunk = K_CHUNK,
    .a_stride = A_STRIDE,
    .a_layout = {A_STRIDE, A_STRIDE, 0},
    .a_type = DTYPE_BF16,
    .element = sizeof(uint16_t),
    .least_work = 4 << 20,
    .pack_a = pack_a,
    .pack_b = pack_b,
    .multiply = multiply,
    .merge = kern_gemm_avx512_merge,
    .store = kern_gemm_avx512_store,
};

const struct gemm_row kern_gemm_avx512_bf16 = {
    .name = "avx512_bf16",
    .help = "BF16 dot products, 512-bit vectors; counts subnormals as zero",
    .isa = ISA_AVX512_BF16,
    .flushes = true,
    .slow_on = "Intel", /* measured: 88 GFLOP/s a core against 172 of avx512_f32 */
    .slow_reason = "Intel CPUs do its dot products at half rate: avx512_f32 is faster",
    .accepts = accepts,
    .block = &block,
};
