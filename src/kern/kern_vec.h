/* kern_vec.h: elementwise functions and reductions over FP32 tiles, vectorised: one portable body
 * (kern_vec_body.h) compiled once per ISA, picked once from base/cpu. No libm call per element.
 * Error bounds against the exact value are stated per function and tested.
 *
 * All work on the calling thread; n is at most a few thousand (callers use KERN_TILE).
 * x, y, dy, out may be the same memory unless said otherwise. */
#ifndef KERN_VEC_H
#define KERN_VEC_H

#include <stddef.h>
#include <stdint.h>

/* Factors of one update of weights, formed in FP64 once a step. d = grad g + decay w below. */
struct vec_update {
    float grad;  /* 1/loss scale x clip factor */
    float decay; /* weight decay that is added to the gradient */
    float lr;
    float keep;  /* adam: 1 - lr x decoupled weight decay */
    float momentum;
    float one_minus_beta1, beta2, one_minus_beta2; /* adam */
    float inverse_root; /* adam: 1/sqrt(1 - beta2^t); 1 - beta1^t is in lr */
    float eps;
};

/* Updates n weights from their gradients; the states are as the function says. w and the states
 * change in place and do not overlap. */
typedef void vec_update_fn(const struct vec_update *u, int64_t n, float *w, const float *g,
                           float *const state[]);

/* Of each column of a tile: a normalisation, and its gradient. */
struct vec_column_norm {
    const float *mean, *factor, *offset;
};
struct vec_column_grad {
    const float *mean, *of_dy, *of_x, *offset;
};

struct vec_row {
    const char *name;
    /* out = f(x) */
    void (*exp)(int64_t n, const float *x, float *out);     /* 2 ulp; exact 0 and inf at the ends */
    void (*log)(int64_t n, const float *x, float *out);     /* 2 ulp for normal x > 0 */
    void (*tanh)(int64_t n, const float *x, float *out);    /* 4 ulp */
    void (*sigmoid)(int64_t n, const float *x, float *out); /* 4 ulp */
    void (*relu)(int64_t n, const float *x, float *out);    /* NaN stays NaN */
    void (*leaky_relu)(int64_t n, const float *x, float slope, float *out);
    void (*gelu)(int64_t n, const float *x, float *out);      /* x/2 (1 + erf(x/sqrt 2)): 6 ulp */
    void (*gelu_tanh)(int64_t n, const float *x, float *out); /* tanh approximation: 6 ulp, at
                                                  x < 0 times 1 + w, w the argument of tanh */
    void (*silu)(int64_t n, const float *x, float *out);      /* x sigmoid(x): 5 ulp */
    /* out = dy f'(...): from the output y where that is enough, else from the input x. A slope is a
     * sum of two terms: 6 ulp (gelu_tanh: 8 (1 + w)) of the sum of their sizes. */
    void (*tanh_grad)(int64_t n, const float *y, const float *dy, float *out);
    void (*sigmoid_grad)(int64_t n, const float *y, const float *dy, float *out);
    void (*relu_grad)(int64_t n, const float *y, const float *dy, float *out); /* 0 at y <= 0 */
    void (*leaky_relu_grad)(int64_t n, const float *x, const float *dy, float slope, float *out);
    void (*gelu_grad)(int64_t n, const float *x, const float *dy, float *out);
    void (*gelu_tanh_grad)(int64_t n, const float *x, const float *dy, float *out);
    void (*silu_grad)(int64_t n, const float *x, const float *dy, float *out);
    /* arithmetic */
    void (*add)(int64_t n, const float *x, const float *y, float *out);
    void (*mul)(int64_t n, const float *x, const float *y, float *out);
    void (*scale)(int64_t n, const float *x, float a, float *out);
    void (*shift)(int64_t n, const float *x, float a, float *out); /* x + a */
    void (*axpy)(int64_t n, float a, const float *x, float *y); /* y += a x */
    /* reductions: fixed order, independent of threads; FP32 lanes, then FP64 */
    double (*sum)(int64_t n, const float *x);
    double (*dot)(int64_t n, const float *x, const float *y);
    double (*square_sum)(int64_t n, const float *x); /* exact squares, FP64 sums: never overflows,
                                        so it is finite exactly where every x is */
    float (*max)(int64_t n, const float *x);     /* -inf for n = 0; NaN if any is NaN */
    float (*max_abs)(int64_t n, const float *x); /* 0 for n = 0; ignores nothing: NaN if any */
    /* tiles (rows, cols), numbers (cols): sum += x - shift, square += (x - shift)^2 of all rows */
    void (*column_moments)(int64_t rows, int64_t cols, const float *x, const float *shift,
                           float *sum, float *square);
    /* sum += dy, dot += dy (x - mean) */
    void (*column_products)(int64_t rows, int64_t cols, const float *dy, const float *x,
                            const float *mean, float *sum, float *dot);
    /* out = (x - mean) factor + offset */
    void (*column_affine)(int64_t rows, int64_t cols, const float *x, const float *mean,
                          const float *factor, const float *offset, float *out);
    /* out = of_dy dy + (of_x (x - mean) + offset) */
    void (*column_grad)(int64_t rows, int64_t cols, const float *dy, const float *x,
                        const struct vec_column_grad *g, float *out);
    /* the same two for max(0, (x - mean) factor + offset): dy counts where that is above 0 */
    void (*column_products_relu)(int64_t rows, int64_t cols, const float *dy, const float *x,
                                 const struct vec_column_norm *n, float *sum, float *dot);
    void (*column_grad_relu)(int64_t rows, int64_t cols, const float *dy, const float *x,
                             const struct vec_column_norm *n, const struct vec_column_grad *g,
                             float *out);
    /* runs of `bytes`, a multiple of 2, each a step from the one before; steps in bytes */
    void (*rows_copy)(int64_t rows, size_t bytes, char *to, size_t to_step, const char *from,
                      size_t from_step);
    /* rows of a picture that are `step` elements apart, against a tile (rows, cols):
     * top = max(top, x), NaN where any is NaN */
    void (*rows_max)(int64_t rows, int64_t cols, int64_t step, const float *x, float *top);
    /* where x is top: dx, step apart like x, takes what is left, and nothing is left */
    void (*rows_max_grad)(int64_t rows, int64_t cols, int64_t step, const float *x,
                          const float *top, float *left, float *dx);
    void (*rows_add)(int64_t rows, int64_t cols, int64_t step, const float *x, float *sum);
    /* the other way: sum is step apart */
    void (*rows_spread)(int64_t rows, int64_t cols, int64_t step, const float *x, float *sum);
    /* sum (rows, cols) += x w, x step apart; the other way, sum step apart; sum (cols) += x y of
     * all rows, x step apart */
    void (*rows_fma)(int64_t rows, int64_t cols, int64_t step, const float *x, const float *w,
                     float *sum);
    void (*rows_spread_fma)(int64_t rows, int64_t cols, int64_t step, const float *x,
                            const float *w, float *sum);
    void (*rows_dot)(int64_t rows, int64_t cols, int64_t step, const float *x, const float *y,
                     float *sum);
    /* updates of weights */
    vec_update_fn *sgd;          /* w -= lr d */
    vec_update_fn *sgd_momentum; /* v = momentum v + d; w -= lr v */
    vec_update_fn *sgd_nesterov; /* the same v; w -= lr (d + momentum v) */
    /* m += (1 - beta1)(d - m); v = beta2 v + (1 - beta2) d d;
     * w = keep w - lr m / (sqrt(v) inverse_root + eps) */
    vec_update_fn *adam;
};

/* The row for this CPU and cap. */
const struct vec_row *kern_vec(void);
/* All rows that this machine can run, for tests; NULL behind the last. */
const struct vec_row *kern_vec_row(int i);

#endif
