/* kern_vec_update.h: the part of kern_vec_body.h that updates weights: one pass over master,
 * gradient and state. Included by it only.
 *
 * The factors are copied, so that they stay in registers: a store to w could change what a pointer
 * shows. */
#ifndef KERN_VEC_UPDATE_H
#define KERN_VEC_UPDATE_H

/* The product of two FP32 numbers is exact in FP64, so a fused multiply-add changes no bit, and the
 * lanes make the order the same on every row. */
static double do_square_sum(int64_t n, const float *x)
{
    enum { LANES = 16 };
    double lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        VEC_LOOP
        for (int l = 0; l < LANES; l++)
            lane[l] += (double)x[i + l] * (double)x[i + l];
    }
    for (int64_t l = 0; i + l < n; l++)
        lane[l] += (double)x[i + l] * (double)x[i + l];
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

static void do_sgd(const struct vec_update *u, int64_t n, float *w, const float *g,
                   float *const state[])
{
    const struct vec_update k = *u;
    (void)state;
    VEC_LOOP
    for (int64_t i = 0; i < n; i++)
        w[i] -= k.lr * (g[i] * k.grad + k.decay * w[i]);
}

static void do_sgd_momentum(const struct vec_update *u, int64_t n, float *w, const float *g,
                            float *const state[])
{
    const struct vec_update k = *u;
    float *v = state[0];
    VEC_LOOP
    for (int64_t i = 0; i < n; i++) {
        v[i] = k.momentum * v[i] + (g[i] * k.grad + k.decay * w[i]);
        w[i] -= k.lr * v[i];
    }
}

static void do_sgd_nesterov(const struct vec_update *u, int64_t n, float *w, const float *g,
                            float *const state[])
{
    const struct vec_update k = *u;
    float *v = state[0];
    VEC_LOOP
    for (int64_t i = 0; i < n; i++) {
        float d = g[i] * k.grad + k.decay * w[i];
        v[i] = k.momentum * v[i] + d;
        w[i] -= k.lr * (d + k.momentum * v[i]);
    }
}

static void do_adam(const struct vec_update *u, int64_t n, float *w, const float *g,
                    float *const state[])
{
    const struct vec_update k = *u;
    float *m = state[0], *v = state[1];
    VEC_LOOP
    for (int64_t i = 0; i < n; i++) {
        float d = g[i] * k.grad + k.decay * w[i];
        float mean = m[i] + k.one_minus_beta1 * (d - m[i]);
        float square = k.beta2 * v[i] + k.one_minus_beta2 * d * d;
        m[i] = mean;
        v[i] = square;
        w[i] = k.keep * w[i] - k.lr * (mean / (sqrtf(square) * k.inverse_root + k.eps));
    }
}

#endif
