/* kern_gemm_f32_body.h: the FP32 row, written once over a vector type and compiled per instruction
 * set (kern_gemm_avx2.c, kern_gemm_avx512.c). A half is widened to FP32 while it is packed, rounded
 * to the compute type first.
 *
 * The including file defines, before:
 *     V, VL             vector of VL floats
 *     MR, K_CHUNK       rows of a tile; most k at a time
 *     v_zero() v_load(p) v_store(p, v) v_one(p) v_add(a, b) v_fma(a, b, c) v_relu(v)
 *     v_read(p, at, n, dtype)       n <= VL elements as FP32, zero behind
 *     v_write(p, at, n, dtype, v)   n <= VL elements, narrowed once
 *     v_round(v, dtype)             to the values of a type
 *     v_transpose(V r[VL])
 *
 * Tile: MR x 2 vectors. For each k two loads of B, MR broadcasts of A, 2 MR fused multiply-adds:
 * bound by the two FMA units. */

#define ALWAYS static inline __attribute__((always_inline))

enum { NR = 2 * VL, A_STRIDE = K_CHUNK + 16 };

/* --- packing -----------------------------------------------------------------------------------
 */

ALWAYS V take(const struct gemm_operand *s, int64_t at, int64_t n, enum dtype from, enum dtype to)
{
    V x = v_read(s->data, at, n < VL ? (int)n : VL, from);
    return to == from || to == DTYPE_F32 ? x : v_round(x, to);
}

/* Stored rows become rows: outer counts them, inner runs along; `width` columns are written. */
ALWAYS void copy_rows(const struct gemm_operand *s, float *to, int64_t stride, int64_t width,
                      enum dtype from, enum dtype compute)
{
    int64_t outer = s->k_inner ? s->w : s->k, n_outer = s->k_inner ? s->n_w : s->n_k;
    int64_t inner = s->k_inner ? s->k : s->w, n_inner = s->k_inner ? s->n_k : s->n_w;
    for (int64_t i = 0; i < n_outer; i++) {
        int64_t at = (outer + i) * s->ld + inner;
        for (int64_t j = 0; j < width; j += VL) {
            V x = j < n_inner ? take(s, at + j, n_inner - j, from, compute) : v_zero();
            v_store(to + i * stride + j, x);
        }
    }
}

/* Stored rows become columns; columns in multiples of VL and `height` rows are written. */
ALWAYS void turn_rows(const struct gemm_operand *s, float *to, int64_t stride, int64_t width,
                      int64_t height, enum dtype from, enum dtype compute)
{
    int64_t outer = s->k_inner ? s->w : s->k, n_outer = s->k_inner ? s->n_w : s->n_k;
    int64_t inner = s->k_inner ? s->k : s->w, n_inner = s->k_inner ? s->n_k : s->n_w;
    for (int64_t j = 0; j < width; j += VL)
        for (int64_t i = 0; i < height; i += VL) {
            V r[VL];
            for (int x = 0; x < VL; x++) {
                bool there = j + x < n_outer && i < n_inner;
                int64_t at = (outer + j + x) * s->ld + inner + i;
                r[x] = there ? take(s, at, n_inner - i, from, compute) : v_zero();
            }
            v_transpose(r);
            for (int x = 0; x < VL && i + x < height; x++)
                v_store(to + (i + x) * stride + j, r[x]);
        }
}

ALWAYS void pack_a_as(const struct gemm_operand *s, float *to, enum dtype from, enum dtype compute)
{
    if (!s->k_inner) {
        turn_rows(s, to, A_STRIDE, s->n_k, MR, from, compute);
        return;
    }
    copy_rows(s, to, A_STRIDE, s->n_k, from, compute);
    for (int64_t i = s->n_w; i < MR; i++)
        memset(to + i * A_STRIDE, 0, (size_t)s->n_k * sizeof(float));
}

ALWAYS void pack_b_as(const struct gemm_operand *s, float *to, enum dtype from, enum dtype compute)
{
    if (s->k_inner)
        turn_rows(s, to, NR, NR, s->n_k, from, compute);
    else
        copy_rows(s, to, NR, NR, from, compute);
}

/* Calls f(s, to, from, compute) with both types constant. */
#define FOR_TYPES(f, s, to)                                                                        \
    do {                                                                                           \
        if ((s)->dtype == DTYPE_F32)                                                               \
            FOR_COMPUTE(f, s, to, DTYPE_F32);                                                      \
        else if ((s)->dtype == DTYPE_BF16)                                                         \
            FOR_COMPUTE(f, s, to, DTYPE_BF16);                                                     \
        else                                                                                       \
            FOR_COMPUTE(f, s, to, DTYPE_F16);                                                      \
    } while (0)
#define FOR_COMPUTE(f, s, to, from)                                                                \
    do {                                                                                           \
        if ((s)->compute == DTYPE_F32)                                                             \
            f(s, to, from, DTYPE_F32);                                                             \
        else if ((s)->compute == DTYPE_BF16)                                                       \
            f(s, to, from, DTYPE_BF16);                                                            \
        else                                                                                       \
            f(s, to, from, DTYPE_F16);                                                             \
    } while (0)

static bool pack_a(const struct gemm_operand *s, void *panel, void *low)
{
    (void)low;
    FOR_TYPES(pack_a_as, s, (float *)panel);
    return false;
}

static bool pack_b(const struct gemm_operand *s, void *panel, void *low)
{
    (void)low;
    FOR_TYPES(pack_b_as, s, (float *)panel);
    return false;
}

/* --- the product -------------------------------------------------------------------------------
 */

ALWAYS void product(const struct gemm_tile *t, const int rows, const int vectors)
{
    const float *a = t->a, *b = t->b;
    V sum[MR][2];
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            sum[i][j] = t->resume ? v_load(t->sum + i * NR + j * VL) : v_zero();
    for (int64_t k = 0; k < t->n_k; k++, a++, b += NR) {
        V b0 = v_load(b), b1 = vectors > 1 ? v_load(b + VL) : v_zero();
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++) {
            V x = v_one(a + i * A_STRIDE);
            sum[i][0] = v_fma(x, b0, sum[i][0]);
            if (vectors > 1)
                sum[i][1] = v_fma(x, b1, sum[i][1]);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            v_store(t->sum + i * NR + j * VL, sum[i][j]);
}

#define PRODUCT_OF_ROWS(n)                                                                         \
    if (t->rows <= (n)) {                                                                          \
        if (t->cols <= VL)                                                                         \
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
#if MR > 8
    PRODUCT_OF_ROWS(8)
#endif
    PRODUCT_OF_ROWS(MR)
}

/* --- what happens to a finished tile -----------------------------------------------------------
 */

ALWAYS V merged(const struct gemm_out *o, int64_t at, int64_t col, const float *sum, int n,
                enum dtype dtype)
{
    V x = v_load(sum);
    if (o->add)
        x = v_add(x, v_read(o->c, at, n, dtype));
    if (o->bias)
        x = v_add(x, v_read(o->bias, col, n, DTYPE_F32));
    return x;
}

ALWAYS void merge_as(const struct gemm_out *o, int64_t row, int64_t col, const struct gemm_tile *t,
                     enum dtype dtype)
{
    for (int i = 0; i < t->rows; i++)
        for (int j = 0; j < t->cols; j += VL) {
            int n = t->cols - j < VL ? t->cols - j : VL;
            float *sum = t->sum + i * NR + j;
            v_store(sum, merged(o, (row + i) * o->ldc + col + j, col + j, sum, n, dtype));
        }
}

/* A whole tile that only has to be narrowed. */
ALWAYS void copy_as(const struct gemm_out *o, int64_t row, int64_t col, const struct gemm_tile *t,
                    enum dtype dtype)
{
    const float *sum = t->sum;
    void *c = o->c;
    int64_t at = row * o->ldc + col, ldc = o->ldc;
    for (int i = t->rows; i > 0; i--, sum += NR, at += ldc) {
        v_write(c, at, VL, dtype, v_load(sum));
        v_write(c, at + VL, VL, dtype, v_load(sum + VL));
    }
}

ALWAYS void store_as(const struct gemm_out *o, int64_t row, int64_t col, const struct gemm_tile *t,
                     enum dtype dtype)
{
    if (t->cols == NR && !o->add && !o->bias && !o->relu) {
        copy_as(o, row, col, t, dtype);
        return;
    }
    for (int i = 0; i < t->rows; i++)
        for (int j = 0; j < t->cols; j += VL) {
            int n = t->cols - j < VL ? t->cols - j : VL;
            int64_t at = (row + i) * o->ldc + col + j;
            V x = merged(o, at, col + j, t->sum + i * NR + j, n, dtype);
            v_write(o->c, at, n, dtype, o->relu ? v_relu(x) : x);
        }
}

#define FOR_DTYPE(f, o, row, col, t)                                                               \
    do {                                                                                           \
        if ((o)->dtype == DTYPE_F32)                                                               \
            f(o, row, col, t, DTYPE_F32);                                                          \
        else if ((o)->dtype == DTYPE_BF16)                                                         \
            f(o, row, col, t, DTYPE_BF16);                                                         \
        else                                                                                       \
            f(o, row, col, t, DTYPE_F16);                                                          \
    } while (0)

static void merge(const struct gemm_out *o, int64_t row, int64_t col, const struct gemm_tile *t)
{
    FOR_DTYPE(merge_as, o, row, col, t);
}

static void store(const struct gemm_out *o, int64_t row, int64_t col, const struct gemm_tile *t)
{
    FOR_DTYPE(store_as, o, row, col, t);
}

static const char *accepts(const struct gemm_desc *d)
{
    (void)d;
    return NULL;
}

static const struct gemm_block block = {
    .mr = MR,
    .nr = NR,
    .k_unit = 1,
    .parts = 1,
    .k_chunk = K_CHUNK,
    .a_stride = A_STRIDE,
    .a_layout = {A_STRIDE, A_STRIDE, 0},
    .a_type = DTYPE_F32,
    .element = sizeof(float),
    .least_work = 4 << 20,
    .pack_a = pack_a,
    .pack_b = pack_b,
    .multiply = multiply,
    .merge = merge,
    .store = store,
};
