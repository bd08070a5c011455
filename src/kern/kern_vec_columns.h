/* kern_vec_columns.h: the part of kern_vec_body.h that treats the columns of a tile (rows, cols)
 * each by its own numbers: for normalisation over a batch. Included by it only. */
#ifndef KERN_VEC_COLUMNS_H
#define KERN_VEC_COLUMNS_H

static void do_column_moments(int64_t rows, int64_t cols, const float *x, const float *shift,
                              float *sum, float *square)
{
    for (int64_t r = 0; r < rows; r++, x += cols) {
        VEC_LOOP
        for (int64_t c = 0; c < cols; c++) {
            float d = x[c] - shift[c];
            sum[c] += d;
            square[c] += d * d;
        }
    }
}

static void do_column_products(int64_t rows, int64_t cols, const float *dy, const float *x,
                               const float *mean, float *sum, float *dot)
{
    for (int64_t r = 0; r < rows; r++, x += cols, dy += cols) {
        VEC_LOOP
        for (int64_t c = 0; c < cols; c++) {
            sum[c] += dy[c];
            dot[c] += dy[c] * (x[c] - mean[c]);
        }
    }
}

/* The same of a normalisation with relu behind it: where (x - mean) factor + offset is not above 0,
 * dy does not count. */
static void do_column_products_relu(int64_t rows, int64_t cols, const float *dy, const float *x,
                                    const struct vec_column_norm *n, float *sum, float *dot)
{
    const float *mean = n->mean, *factor = n->factor, *offset = n->offset;
    for (int64_t r = 0; r < rows; r++, x += cols, dy += cols) {
        VEC_LOOP
        for (int64_t c = 0; c < cols; c++) {
            float d = x[c] - mean[c];
            float g = d * factor[c] + offset[c] <= 0 ? 0 : dy[c];
            sum[c] += g;
            dot[c] += g * d;
        }
    }
}

static void do_column_affine(int64_t rows, int64_t cols, const float *x, const float *mean,
                             const float *factor, const float *offset, float *out)
{
    for (int64_t r = 0; r < rows; r++, x += cols, out += cols) {
        VEC_LOOP
        for (int64_t c = 0; c < cols; c++)
            out[c] = (x[c] - mean[c]) * factor[c] + offset[c];
    }
}

static void do_column_grad(int64_t rows, int64_t cols, const float *dy, const float *x,
                           const struct vec_column_grad *g, float *out)
{
    const float *mean = g->mean, *of_dy = g->of_dy, *of_x = g->of_x, *offset = g->offset;
    for (int64_t r = 0; r < rows; r++, x += cols, dy += cols, out += cols) {
        VEC_LOOP
        for (int64_t c = 0; c < cols; c++)
            out[c] = of_dy[c] * dy[c] + (of_x[c] * (x[c] - mean[c]) + offset[c]);
    }
}

static void do_column_grad_relu(int64_t rows, int64_t cols, const float *dy, const float *x,
                                const struct vec_column_norm *n, const struct vec_column_grad *g,
                                float *out)
{
    const float *mean = n->mean, *factor = n->factor, *shift = n->offset;
    const float *of_dy = g->of_dy, *of_x = g->of_x, *offset = g->offset;
    for (int64_t r = 0; r < rows; r++, x += cols, dy += cols, out += cols) {
        VEC_LOOP
        for (int64_t c = 0; c < cols; c++) {
            float d = x[c] - mean[c];
            float dz = d * factor[c] + shift[c] <= 0 ? 0 : dy[c];
            out[c] = of_dy[c] * dz + (of_x[c] * d + offset[c]);
        }
    }
}

/* Rows of x are `step` apart. The comparison keeps a NaN. */
static void do_rows_max(int64_t rows, int64_t cols, int64_t step, const float *x, float *top)
{
    for (int64_t r = 0; r < rows; r++, x += step, top += cols) {
        VEC_LOOP
        for (int64_t c = 0; c < cols; c++)
            top[c] = x[c] <= top[c] || top[c] != top[c] ? top[c] : x[c];
    }
}

static void do_rows_max_grad(int64_t rows, int64_t cols, int64_t step, const float *x,
                             const float *top, float *left, float *dx)
{
    for (int64_t r = 0; r < rows; r++, x += step, dx += step, top += cols, left += cols) {
        VEC_LOOP
        for (int64_t c = 0; c < cols; c++) {
            bool hit = x[c] == top[c];
            dx[c] += hit ? left[c] : 0;
            left[c] = hit ? 0 : left[c];
        }
    }
}

static void do_rows_add(int64_t rows, int64_t cols, int64_t step, const float *x, float *sum)
{
    for (int64_t r = 0; r < rows; r++, x += step, sum += cols) {
        VEC_LOOP
        for (int64_t c = 0; c < cols; c++)
            sum[c] += x[c];
    }
}

static void do_rows_spread(int64_t rows, int64_t cols, int64_t step, const float *x, float *sum)
{
    for (int64_t r = 0; r < rows; r++, x += cols, sum += step) {
        VEC_LOOP
        for (int64_t c = 0; c < cols; c++)
            sum[c] += x[c];
    }
}

static void do_rows_fma(int64_t rows, int64_t cols, int64_t step, const float *x, const float *w,
                        float *sum)
{
    for (int64_t r = 0; r < rows; r++, x += step, sum += cols) {
        VEC_LOOP
        for (int64_t c = 0; c < cols; c++)
            sum[c] += x[c] * w[c];
    }
}

static void do_rows_spread_fma(int64_t rows, int64_t cols, int64_t step, const float *x,
                               const float *w, float *sum)
{
    for (int64_t r = 0; r < rows; r++, x += cols, sum += step) {
        VEC_LOOP
        for (int64_t c = 0; c < cols; c++)
            sum[c] += x[c] * w[c];
    }
}

static void do_rows_dot(int64_t rows, int64_t cols, int64_t step, const float *x, const float *y,
                        float *sum)
{
    for (int64_t r = 0; r < rows; r++, x += step, y += cols) {
        VEC_LOOP
        for (int64_t c = 0; c < cols; c++)
            sum[c] += x[c] * y[c];
    }
}

/* 64 bytes in one vector where there is one. */
typedef unsigned char copy_block __attribute__((vector_size(64), aligned(1), may_alias));

static inline void copy_run(char *to, const char *from, size_t bytes)
{
    for (; bytes >= 64; bytes -= 64, to += 64, from += 64)
        *(copy_block *)to = *(const copy_block *)from;
    for (; bytes >= 8; bytes -= 8, to += 8, from += 8)
        memcpy(to, from, 8);
    for (; bytes > 0; bytes -= 2, to += 2, from += 2)
        memcpy(to, from, 2);
}

/* The commonest lengths are constants: 32 halves, one channel, three taps of one channel. */
static void do_rows_copy(int64_t rows, size_t bytes, char *to, size_t to_step, const char *from,
                         size_t from_step)
{
#define COPY_ROWS(n)                                                                               \
    for (int64_t r = 0; r < rows; r++, to += to_step, from += from_step)                           \
    copy_run(to, from, n)
    if (bytes == 64)
        COPY_ROWS(64);
    else if (bytes == 2)
        COPY_ROWS(2);
    else if (bytes == 6)
        COPY_ROWS(6);
    else
        COPY_ROWS(bytes);
#undef COPY_ROWS
}

#endif
