/* kern_vec_body.h: the elementwise functions of kern_vec.h in portable C, written so that the
 * compiler vectorises them: no calls, no branches, selects between computed values. Included once
 * per instruction set by kern_vec_<isa>.c, which defines VEC_ROW, VEC_NAME, VEC_NEEDS and
 * VEC_LANES; the flags of that file's library decide what comes out, and tests/lint/vector looks.
 *
 * Special values are the limits of the functions: gelu, silu and their like give -0 at -inf, not
 * the NaN of -inf * 0. NaN in gives NaN out everywhere. Subnormal results are rounded, not flushed.
 * Polynomials come from tests/kern/fit_vec.py; the errors are measured by tests/kern/test_vec.c. */
#ifndef KERN_VEC_BODY_H
#define KERN_VEC_BODY_H

#include "kern/kern_vec_row.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Element i of the output depends on element i of the inputs only, even where they are the same
 * memory: without VEC_LOOP, the run-time test for overlap would send in-place calls to scalar code.
 * VEC_UNROLL keeps the partial sums in registers. */
#ifdef __clang__
#define VEC_UNROLL _Pragma("clang loop unroll(full)")
#define VEC_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define VEC_UNROLL _Pragma("GCC unroll 8")
#define VEC_LOOP _Pragma("GCC ivdep")
#endif

static inline uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof(u));
    return u;
}

static inline float float_of(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof(x));
    return x;
}

static inline float size_of(float x)
{
    return float_of(bits_of(x) & 0x7FFFFFFFu);
}

/* These keep NaN: a comparison with NaN is false. */
static inline float at_least(float x, float low)
{
    return x < low ? low : x;
}

static inline float at_most(float x, float high)
{
    return x > high ? high : x;
}

/* ln 2 in two parts: the upper has 15 significant bits, so that a small integer times it is exact.
 */
#define LN2_HIGH 0x1.62e4p-1f
#define LN2_LOW 0x1.7f7d1cp-20f
/* 2 sqrt(2/pi) (x + 0.044715 x^3) = x (GELU_LINEAR + GELU_CUBIC x^2) */
#define GELU_LINEAR 1.5957691216057308f
#define GELU_CUBIC 0.07135481627260025f
#define ONE_OVER_ROOT_TWO_PI 0.398942280401432678f

/* 2^k for k in -126 .. 127 */
static inline float power_of_two(int32_t k)
{
    return float_of((uint32_t)(k + 127) << 23);
}

/* exp(x + low) for small low (0 mostly): x = n ln 2 + r, and exp(r) = 1 + r + r^2 q(r). 2^n is
 * applied in two factors, so that subnormal results are rounded once and huge ones become inf. */
static inline float exp_of(float x, float low)
{
    const float round = 0x1.8p23f; /* adding it leaves an integer in the low bits */
    x = at_most(at_least(x, -104.0f), 89.0f);
    float shifted = x * 1.44269504088896341f + round;
    float n = shifted - round;
    int32_t k = (int32_t)(bits_of(shifted) - bits_of(round));
    float r = (x - n * LN2_HIGH) - n * LN2_LOW + low;
    float q = 0x1.698d9cp-10f;
    q = q * r + 0x1.126eap-7f;
    q = q * r + 0x1.555accp-5f;
    q = q * r + 0x1.555446p-3f;
    q = q * r + 0x1.fffff8p-2f;
    float y = (q * r * r + r) + 1.0f;
    int32_t half = k >> 1;
    return y * power_of_two(half) * power_of_two(k - half);
}

/* x = 2^e (1 + f) with 1 + f in sqrt(1/2) .. sqrt(2) */
static inline float log_of(float x)
{
    const uint32_t root_half = 0x3F3504F3u;
    float tiny = x < FLT_MIN ? 1.0f : 0.0f;
    float normal = x < FLT_MIN ? x * 0x1p23f : x;
    uint32_t u = bits_of(normal) - root_half;
    float e = (float)((int32_t)u >> 23) - 23.0f * tiny;
    float f = float_of((u & 0x7FFFFFu) + root_half) - 1.0f;
    float p = 0x1.1b4374p-4f;
    p = p * f - 0x1.e2e482p-4f;
    p = p * f + 0x1.e64d7p-4f;
    p = p * f - 0x1.fb43dep-4f;
    p = p * f + 0x1.233306p-3f;
    p = p * f - 0x1.5562ep-3f;
    p = p * f + 0x1.99a542p-3f;
    p = p * f - 0x1.ffffeep-3f;
    p = p * f + 0x1.555546p-2f;
    float square = f * f;
    float y = square * f * p + e * LN2_LOW;
    y = (y - 0.5f * square) + f + e * LN2_HIGH;
    float odd = x == 0.0f ? -INFINITY : x < 0.0f ? NAN : x; /* inf and NaN are their own */
    return x > 0.0f && x <= FLT_MAX ? y : odd;
}

static inline float tanh_of(float x)
{
    float a = size_of(x), z = a * a;
    float p = -0x1.769df8p-8f;
    p = p * z + 0x1.525328p-6f;
    p = p * z - 0x1.b8439ap-5f;
    p = p * z + 0x1.110762p-3f;
    p = p * z - 0x1.555534p-2f;
    float small = a * z * p + a;
    float large = 1.0f - 2.0f / (exp_of(2.0f * a, 0.0f) + 1.0f);
    float y = a < 0.625f ? small : large;
    return float_of(bits_of(y) | (bits_of(x) & 0x80000000u));
}

/* The logistic function of v and of -v without a difference of nearly equal numbers: up * scale and
 * down * scale. */
struct logistic {
    float up, down, scale;
};

static inline struct logistic logistic_of(float v)
{
    float e = exp_of(-size_of(v), 0.0f);
    struct logistic s = {v < 0.0f ? e : 1.0f, v < 0.0f ? 1.0f : e, 1.0f / (1.0f + e)};
    return s;
}

/* The lower tail of the normal distribution, Phi(-a) = density * weight with density = exp(-a^2/2),
 * for a = |x| up to 15, where it is 0 in FP32. weight (a + 2.5) is a polynomial in
 * (a - 2.5)/(a + 2.5). a^2 is formed in two parts: an error in it would be multiplied by a^2. */
struct tail {
    float a, density, weight;
};

static inline struct tail tail_of(float x)
{
    float a = at_most(size_of(x), 15.0f);
    float top = float_of(bits_of(a) & 0xFFFFF000u); /* 12 bits: its square is exact */
    float t = 1.0f / (a + 2.5f), u = 1.0f - 5.0f * t;
    float p = -0x1.695dfap-13f;
    p = p * u - 0x1.5591c4p-12f;
    p = p * u + 0x1.7192fep-11f;
    p = p * u + 0x1.4d3bdp-9f;
    p = p * u - 0x1.a64ba6p-10f;
    p = p * u - 0x1.0c98ccp-6f;
    p = p * u + 0x1.2eb4d8p-7f;
    p = p * u + 0x1.0e4fbep-3f;
    p = p * u - 0x1.bc19cap-2f;
    p = p * u + 0x1.69cee6p-1f;
    struct tail s = {a, exp_of(-0.5f * top * top, -0.5f * (a - top) * (a + top)), t * p};
    return s;
}

/* x Phi(x) */
static inline float gelu_of(float x)
{
    struct tail t = tail_of(x);
    float below = at_least(x, -15.0f) * t.weight * t.density;
    float above = x * (1.0f - t.weight * t.density);
    return x < 0.0f ? below : above;
}

/* Phi(x) + x exp(-x^2/2) / sqrt(2 pi) */
static inline float gelu_slope(float x)
{
    struct tail t = tail_of(x);
    float below = t.density * (t.weight - t.a * ONE_OVER_ROOT_TWO_PI);
    return x < 0.0f ? below : 1.0f - below;
}

/* x/2 (1 + tanh w) = x logistic(2 w), w = sqrt(2/pi) (x + 0.044715 x^3). Below -12 it is 0. */
static inline float gelu_tanh_of(float x)
{
    float c = at_least(x, -12.0f);
    float v = c * (GELU_LINEAR + GELU_CUBIC * (c * c));
    struct logistic s = logistic_of(v);
    return c * s.up * s.scale;
}

static inline float gelu_tanh_slope(float x)
{
    float c = at_most(at_least(x, -12.0f), 12.0f), z = c * c;
    struct logistic s = logistic_of(c * (GELU_LINEAR + GELU_CUBIC * z));
    float dv = GELU_LINEAR + 3.0f * GELU_CUBIC * z;
    return s.up * s.scale * (1.0f + c * dv * (s.down * s.scale));
}

static inline float silu_of(float x)
{
    float c = at_least(x, -105.0f); /* exp(-105) is 0 */
    struct logistic s = logistic_of(c);
    return c * s.up * s.scale;
}

static inline float silu_slope(float x)
{
    float c = at_most(at_least(x, -105.0f), 105.0f);
    struct logistic s = logistic_of(c);
    return s.up * s.scale * (1.0f + c * (s.down * s.scale));
}

static inline float sigmoid_of(float x)
{
    struct logistic s = logistic_of(x);
    return s.up * s.scale;
}

/* One function over n elements: expression of the elements named in it. */
#define VEC_MAP1(name, expression)                                                                 \
    static void name(int64_t n, const float *xs, float *out)                                       \
    {                                                                                              \
        VEC_LOOP                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            float x = xs[i];                                                                       \
            out[i] = (expression);                                                                 \
        }                                                                                          \
    }
#define VEC_MAP2(name, expression)                                                                 \
    static void name(int64_t n, const float *xs, const float *ys, float *out)                      \
    {                                                                                              \
        VEC_LOOP                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            float x = xs[i], y = ys[i];                                                            \
            out[i] = (expression);                                                                 \
        }                                                                                          \
    }

VEC_MAP1(do_exp, exp_of(x, 0.0f))
VEC_MAP1(do_log, log_of(x))
VEC_MAP1(do_tanh, tanh_of(x))
VEC_MAP1(do_sigmoid, sigmoid_of(x))
VEC_MAP1(do_relu, x <= 0.0f ? 0.0f : x)
VEC_MAP1(do_gelu, gelu_of(x))
VEC_MAP1(do_gelu_tanh, gelu_tanh_of(x))
VEC_MAP1(do_silu, silu_of(x))

/* y is what kern_vec.h calls dy; x is its x, or its y where the output is enough. */
VEC_MAP2(do_tanh_grad, y *((1.0f - x) * (1.0f + x)))
VEC_MAP2(do_sigmoid_grad, y *(x *(1.0f - x)))
VEC_MAP2(do_relu_grad, x <= 0.0f ? 0.0f : y)
VEC_MAP2(do_gelu_grad, y *gelu_slope(x))
VEC_MAP2(do_gelu_tanh_grad, y *gelu_tanh_slope(x))
VEC_MAP2(do_silu_grad, y *silu_slope(x))
VEC_MAP2(do_add, x + y)
VEC_MAP2(do_mul, x *y)

static void do_leaky_relu(int64_t n, const float *x, float slope, float *out)
{
    VEC_LOOP
    for (int64_t i = 0; i < n; i++) {
        float flat = slope * x[i];
        out[i] = x[i] > 0.0f ? x[i] : flat;
    }
}

static void do_leaky_relu_grad(int64_t n, const float *x, const float *dy, float slope, float *out)
{
    VEC_LOOP
    for (int64_t i = 0; i < n; i++) {
        float steep = dy[i], flat = slope * steep;
        out[i] = x[i] > 0.0f ? steep : flat;
    }
}

static void do_scale(int64_t n, const float *x, float a, float *out)
{
    VEC_LOOP
    for (int64_t i = 0; i < n; i++)
        out[i] = a * x[i];
}

static void do_shift(int64_t n, const float *x, float a, float *out)
{
    VEC_LOOP
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i] + a;
}

static void do_axpy(int64_t n, float a, const float *x, float *y)
{
    VEC_LOOP
    for (int64_t i = 0; i < n; i++)
        y[i] = y[i] + a * x[i];
}

/* Sums: 32 partial sums in a fixed order, the same on every row, then FP64 over them. The compiler
 * may not reorder additions, so the lanes are spelled out as vectors (a GNU C extension), read in
 * place. */
typedef float vec_lanes __attribute__((vector_size(4 * VEC_LANES), aligned(4), may_alias));

enum { SUM_LANES = 32, SUM_VECTORS = SUM_LANES / VEC_LANES };

static inline double add_up(const float *lane /* (SUM_LANES) */)
{
    double sum = 0.0;
    for (int l = 0; l < SUM_LANES; l++)
        sum += (double)lane[l];
    return sum;
}

static double do_sum(int64_t n, const float *x)
{
    vec_lanes s[SUM_VECTORS] = {{0}};
    float lane[SUM_LANES];
    int64_t i = 0;
    for (; i + SUM_LANES <= n; i += SUM_LANES) {
        const vec_lanes *v = (const void *)(x + i);
        VEC_UNROLL
        for (int j = 0; j < SUM_VECTORS; j++)
            s[j] += v[j];
    }
    memcpy(lane, s, sizeof(lane));
    for (int64_t l = 0; i + l < n; l++)
        lane[l] += x[i + l];
    return add_up(lane);
}

static double do_dot(int64_t n, const float *x, const float *y)
{
    vec_lanes s[SUM_VECTORS] = {{0}};
    float lane[SUM_LANES];
    int64_t i = 0;
    for (; i + SUM_LANES <= n; i += SUM_LANES) {
        const vec_lanes *v = (const void *)(x + i), *w = (const void *)(y + i);
        VEC_UNROLL
        for (int j = 0; j < SUM_VECTORS; j++)
            s[j] += v[j] * w[j];
    }
    memcpy(lane, s, sizeof(lane));
    for (int64_t l = 0; i + l < n; l++)
        lane[l] += x[i + l] * y[i + l];
    return add_up(lane);
}

/* The largest by the order of integers, which a compiler may rearrange. NaN comes out on top. */
static float do_max(int64_t n, const float *x)
{
    int32_t top = INT32_MIN;
    for (int64_t i = 0; i < n; i++) {
        int32_t u = (int32_t)bits_of(x[i]);
        int32_t size = u & 0x7FFFFFFF;
        int32_t key = u < 0 && size <= 0x7F800000 ? ~size : size;
        top = key > top ? key : top;
    }
    if (n <= 0)
        return -INFINITY;
    return float_of(top < 0 ? (uint32_t)~top | 0x80000000u : (uint32_t)top);
}

static float do_max_abs(int64_t n, const float *x)
{
    int32_t top = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t size = (int32_t)(bits_of(x[i]) & 0x7FFFFFFFu);
        top = size > top ? size : top;
    }
    return float_of((uint32_t)top);
}

#include "kern/kern_vec_columns.h"
#include "kern/kern_vec_update.h"

const struct vec_row_entry VEC_ROW = {
    VEC_NEEDS,
    {
        .name = VEC_NAME,
        .exp = do_exp,
        .log = do_log,
        .tanh = do_tanh,
        .sigmoid = do_sigmoid,
        .relu = do_relu,
        .leaky_relu = do_leaky_relu,
        .gelu = do_gelu,
        .gelu_tanh = do_gelu_tanh,
        .silu = do_silu,
        .tanh_grad = do_tanh_grad,
        .sigmoid_grad = do_sigmoid_grad,
        .relu_grad = do_relu_grad,
        .leaky_relu_grad = do_leaky_relu_grad,
        .gelu_grad = do_gelu_grad,
        .gelu_tanh_grad = do_gelu_tanh_grad,
        .silu_grad = do_silu_grad,
        .add = do_add,
        .mul = do_mul,
        .scale = do_scale,
        .shift = do_shift,
        .axpy = do_axpy,
        .sum = do_sum,
        .dot = do_dot,
        .max = do_max,
        .max_abs = do_max_abs,
        .square_sum = do_square_sum,
        .column_moments = do_column_moments,
        .column_products = do_column_products,
        .column_affine = do_column_affine,
        .column_grad = do_column_grad,
        .column_products_relu = do_column_products_relu,
        .column_grad_relu = do_column_grad_relu,
        .rows_fma = do_rows_fma,
        .rows_spread_fma = do_rows_spread_fma,
        .rows_dot = do_rows_dot,
        .rows_copy = do_rows_copy,
        .rows_max = do_rows_max,
        .rows_max_grad = do_rows_max_grad,
        .rows_add = do_rows_add,
        .rows_spread = do_rows_spread,
        .sgd = do_sgd,
        .sgd_momentum = do_sgd_momentum,
        .sgd_nesterov = do_sgd_nesterov,
        .adam = do_adam,
    },
};

#endif
