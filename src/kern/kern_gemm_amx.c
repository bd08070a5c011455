/* kern_gemm_amx.c: amx_bf16, and amx_f16x2: exact FP16 on BF16 tiles. Tiles of 16 rows x 64 bytes;
 * 2 x 2 of them hold 32 x 32 sums; per 32 k, four loads and four products of 16 x 16 x 32.
 *
 * The tile product works on BF16 pairs, adds in FP32 and counts subnormals as zero, whatever MXCSR
 * says. For FP16 that loses nothing: both parts of a value are normal BF16 numbers or zero, and the
 * products are 2^-48 or more. */
#include "config.h"

#include "kern/kern_gemm_avx512.h"

#include "base/half.h"

#include <string.h>

enum {
    MR = 32,
    TILE = 16,
    STEP = 32, /* k in one tile of BF16 */
    SUM_STRIDE = TILE_COLS * (int)sizeof(float),
    B_STRIDE = TILE_COLS * 2 * (int)sizeof(uint16_t),
    A_STRIDE = STEP * (int)sizeof(uint16_t),
    STEP_OF_A = STEP * MR, /* elements */
    STEP_OF_B = STEP * TILE_COLS,
};

static const struct pack16_shape shape = {MR, STEP, STEP_OF_A, STEP};

static void begin(void)
{
    /* in static memory: the compiler does not know that the instruction reads all of it */
    static const struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } eight_full_tiles = {
        .palette = 1,
        .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
        .rows = {TILE, TILE, TILE, TILE, TILE, TILE, TILE, TILE},
    };
    _tile_loadconfig(&eight_full_tiles);
}

static void end(void)
{
    _tile_release();
}

/* Tile numbers must be constants. Sums: 0 1 / 2 3; A: 4 / 5; B: 6 7. A panel of A stays in L1 while
 * B passes by, once for each: so B's loads ask not to displace it. */
#define LOAD_A(p)                                                                                  \
    do {                                                                                           \
        _tile_loadd(4, (p), A_STRIDE);                                                             \
        if (tall)                                                                                  \
            _tile_loadd(5, (p) + TILE * STEP, A_STRIDE);                                           \
    } while (0)
#define LOAD_B(p)                                                                                  \
    do {                                                                                           \
        _tile_stream_loadd(6, (p), B_STRIDE);                                                      \
        if (wide)                                                                                  \
            _tile_stream_loadd(7, (p) + 2 * TILE, B_STRIDE);                                       \
    } while (0)
#define MULTIPLY()                                                                                 \
    do {                                                                                           \
        _tile_dpbf16ps(0, 4, 6);                                                                   \
        if (tall)                                                                                  \
            _tile_dpbf16ps(2, 5, 6);                                                               \
        if (wide)                                                                                  \
            _tile_dpbf16ps(1, 4, 7);                                                               \
        if (tall && wide)                                                                          \
            _tile_dpbf16ps(3, 5, 7);                                                               \
    } while (0)
/* All three; each load just before its first use: faster by a tenth than loads first. */
#define LOAD_AND_MULTIPLY(a, a_below, a_stride, b)                                                 \
    do {                                                                                           \
        _tile_stream_loadd(6, (b), B_STRIDE);                                                      \
        _tile_loadd(4, (a), (a_stride));                                                           \
        _tile_dpbf16ps(0, 4, 6);                                                                   \
        if (tall) {                                                                                \
            _tile_loadd(5, (a_below), (a_stride));                                                 \
            _tile_dpbf16ps(2, 5, 6);                                                               \
        }                                                                                          \
        if (wide) {                                                                                \
            _tile_stream_loadd(7, (b) + 2 * TILE, B_STRIDE);                                       \
            _tile_dpbf16ps(1, 4, 7);                                                               \
        }                                                                                          \
        if (tall && wide)                                                                          \
            _tile_dpbf16ps(3, 5, 7);                                                               \
    } while (0)

/* Nor does it know that tile loads read memory: what was written must be there. */
ALWAYS_512 void load_sums(const struct gemm_tile *t)
{
    __asm__ volatile("" ::: "memory");
    if (t->resume) {
        _tile_loadd(0, t->sum, SUM_STRIDE);
        _tile_loadd(1, t->sum + TILE, SUM_STRIDE);
        _tile_loadd(2, t->sum + TILE * TILE_COLS, SUM_STRIDE);
        _tile_loadd(3, t->sum + TILE * TILE_COLS + TILE, SUM_STRIDE);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
}

ALWAYS_512 void store_sums(const struct gemm_tile *t)
{
    _tile_stored(0, t->sum, SUM_STRIDE);
    _tile_stored(1, t->sum + TILE, SUM_STRIDE);
    _tile_stored(2, t->sum + TILE * TILE_COLS, SUM_STRIDE);
    _tile_stored(3, t->sum + TILE * TILE_COLS + TILE, SUM_STRIDE);
}

/* --- bf16 --------------------------------------------------------------------------------------
 */

enum { BF16_CHUNK = 512 };

static bool bf16_pack_a(const struct gemm_operand *s, void *panel, void *low)
{
    return kern_gemm_pack16_a(s, &shape, panel, low);
}

static bool bf16_pack_b(const struct gemm_operand *s, void *panel, void *low)
{
    return kern_gemm_pack16_b(s, &shape, panel, low);
}

ALWAYS_512 void bf16_product(const struct gemm_tile *t, const bool tall, const bool wide)
{
    const uint16_t *a = t->a, *b = t->b;
    load_sums(t);
    for (int64_t k = 0; k < t->n_k; k += STEP, a += STEP_OF_A, b += STEP_OF_B)
        LOAD_AND_MULTIPLY(a, a + TILE * STEP, A_STRIDE, b);
    store_sums(t);
}

static void bf16_multiply(const struct gemm_tile *t)
{
    bool tall = t->rows > TILE, wide = t->cols > TILE;
    if (tall && wide)
        bf16_product(t, true, true);
    else if (tall)
        bf16_product(t, true, false);
    else if (wide)
        bf16_product(t, false, true);
    else
        bf16_product(t, false, false);
}

static void bf16_pack_rows(const struct gemm_operand *s, void *panel, int64_t stride)
{
    const struct pack16_shape rows = {MR, (int)stride, STEP, STEP};
    (void)kern_gemm_pack16_a(s, &rows, panel, NULL);
}

ALWAYS_512 void bf16_rows_product(const struct gemm_tile *t, int64_t stride, const bool wide)
{
    const uint16_t *a = t->a, *b = t->b;
    const bool tall = true;
    const int64_t bytes = stride * (int64_t)sizeof(*a);
    load_sums(t);
    for (int64_t k = 0; k < t->n_k; k += STEP, a += STEP, b += STEP_OF_B)
        LOAD_AND_MULTIPLY(a, a + TILE * stride, bytes, b);
    store_sums(t);
}

static void bf16_multiply_rows(const struct gemm_tile *t, int64_t stride)
{
    if (t->cols > TILE)
        bf16_rows_product(t, stride, true);
    else
        bf16_rows_product(t, stride, false);
}

ALWAYS_512 void bf16_taps_product(const struct gemm_tile *t, const int64_t *offsets, int64_t taps,
                                  int64_t c, const bool tall, const bool wide)
{
    const uint16_t *b = t->b;
    const int64_t bytes = c * (int64_t)sizeof(*b);
    load_sums(t);
    for (int64_t tap = 0; tap < taps; tap++) {
        const uint16_t *a = (const uint16_t *)t->a + offsets[tap];
        for (int64_t k = 0; k < c; k += STEP, a += STEP, b += STEP_OF_B)
            LOAD_AND_MULTIPLY(a, a + TILE * c, bytes, b);
    }
    store_sums(t);
}

static void bf16_multiply_taps(const struct gemm_tile *t, const int64_t *offsets, int64_t taps,
                               int64_t c)
{
    bool tall = t->rows > TILE, wide = t->cols > TILE;
    if (tall && wide)
        bf16_taps_product(t, offsets, taps, c, true, true);
    else if (tall)
        bf16_taps_product(t, offsets, taps, c, true, false);
    else if (wide)
        bf16_taps_product(t, offsets, taps, c, false, true);
    else
        bf16_taps_product(t, offsets, taps, c, false, false);
}

static const char *bf16_accepts(const struct gemm_desc *d)
{
    return d->compute == DTYPE_BF16 ? NULL : "multiplies bf16 only";
}

static const struct gemm_block bf16_block = {
    .mr = MR,
    .nr = TILE_COLS,
    .k_unit = STEP,
    .parts = 1,
    .k_chunk = BF16_CHUNK,
    .a_stride = BF16_CHUNK,
    .a_layout = {STEP, STEP, STEP_OF_A},
    .a_type = DTYPE_BF16,
    .element = sizeof(uint16_t),
    .least_work = 24 << 20,
    .begin = begin,
    .end = end,
    .pack_a = bf16_pack_a,
    .pack_b = bf16_pack_b,
    .multiply = bf16_multiply,
    .pack_rows = bf16_pack_rows,
    .multiply_rows = bf16_multiply_rows,
    .multiply_taps = bf16_multiply_taps,
    .merge = kern_gemm_avx512_merge,
    .store = kern_gemm_avx512_store,
};

const struct gemm_row kern_gemm_amx_bf16 = {
    .name = "amx_bf16",
    .help = "BF16 tiles; counts subnormals as zero",
    .isa = ISA_AMX,
    .flushes = true,
    .accepts = bf16_accepts,
    .block = &bf16_block,
};

/* --- fp16 as two bf16 --------------------------------------------------------------------------
 */

enum { F16_CHUNK = 256 };

static bool f16_pack_a(const struct gemm_operand *s, void *panel, void *low)
{
    return kern_gemm_pack16_a(s, &shape, panel, low);
}

static bool f16_pack_b(const struct gemm_operand *s, void *panel, void *low)
{
    return kern_gemm_pack16_b(s, &shape, panel, low);
}

ALWAYS_512 void f16_product(const struct gemm_tile *t, const bool tall, const bool wide)
{
    const uint16_t *a = t->a, *a_low = t->a_low, *b = t->b, *b_low = t->b_low;
    load_sums(t);
    for (int64_t k = 0; k < t->n_k; k += STEP) {
        LOAD_AND_MULTIPLY(a_low, a_low + TILE * STEP, A_STRIDE, b_low);
        LOAD_B(b);
        MULTIPLY();
        LOAD_A(a);
        MULTIPLY();
        LOAD_B(b_low);
        MULTIPLY();
        a += STEP_OF_A;
        a_low += STEP_OF_A;
        b += STEP_OF_B;
        b_low += STEP_OF_B;
    }
    store_sums(t);
}

static void f16_finite(const struct gemm_tile *t)
{
    bool tall = t->rows > TILE, wide = t->cols > TILE;
    if (tall && wide)
        f16_product(t, true, true);
    else if (tall)
        f16_product(t, true, false);
    else if (wide)
        f16_product(t, false, true);
    else
        f16_product(t, false, false);
}

/* One cell without the split, for rows and columns with inf or NaN. */
static float f16_cell(const struct gemm_tile *t, int row, int col, float sum)
{
    const uint16_t *a = t->a, *a_low = t->a_low, *b = t->b, *b_low = t->b_low;
    for (int64_t k = 0; k < t->n_k; k++) {
        int64_t i = k / STEP * STEP_OF_A + row * STEP + k % STEP;
        int64_t j = k / 2 * 2 * TILE_COLS + 2 * col + k % 2;
        float x = half_bf16_to_f32(a[i]) + half_bf16_to_f32(a_low[i]);
        float y = half_bf16_to_f32(b[j]) + half_bf16_to_f32(b_low[j]);
        sum += x * y;
    }
    return sum;
}

/* Split, inf times a number with no low part would be inf + NaN. Finite cells keep the bits that
 * they have in a tile without inf and NaN. */
static __attribute__((noinline)) void f16_special(const struct gemm_tile *t)
{
    float before[MR * TILE_COLS] = {0};
    if (t->resume)
        memcpy(before, t->sum, sizeof(before));
    f16_finite(t);
    for (int i = 0; i < t->rows; i++)
        for (int j = 0; j < t->cols; j++) {
            float *sum = t->sum + i * TILE_COLS + j;
            if ((half_float_bits(*sum) & 0x7F800000u) == 0x7F800000u)
                *sum = f16_cell(t, i, j, before[i * TILE_COLS + j]);
        }
}

static void f16_multiply(const struct gemm_tile *t)
{
    if (t->special)
        f16_special(t);
    else
        f16_finite(t);
}

static const char *f16_accepts(const struct gemm_desc *d)
{
    return d->compute == DTYPE_F16 ? NULL : "multiplies fp16 only";
}

static const struct gemm_block f16_block = {
    .mr = MR,
    .nr = TILE_COLS,
    .k_unit = STEP,
    .parts = 2,
    .k_chunk = F16_CHUNK,
    .a_stride = F16_CHUNK,
    .element = sizeof(uint16_t),
    .least_work = 8 << 20,
    .begin = begin,
    .end = end,
    .pack_a = f16_pack_a,
    .pack_b = f16_pack_b,
    .multiply = f16_multiply,
    .merge = kern_gemm_avx512_merge,
    .store = kern_gemm_avx512_store,
};

const struct gemm_row kern_gemm_amx_f16x2 = {
    .name = "amx_f16x2",
    .help = "exact FP16 on BF16 tiles: each value is the sum of two, four products",
    .isa = ISA_AMX,
    .accepts = f16_accepts,
    .block = &f16_block,
};
