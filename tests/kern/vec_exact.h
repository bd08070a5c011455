/* vec_exact.h: in FP64, what test_vec.c compares the functions of kern_vec with; and for functions
 * that are a sum of two terms, or whose argument is rounded on the way, the size whose ulp counts.
 */
#ifndef VEC_EXACT_H
#define VEC_EXACT_H

#include <math.h>

static inline double vec_normal_tail(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

static inline double vec_density(double x)
{
    return exp(-0.5 * x * x) * 0.39894228040143267794;
}

static inline double vec_logistic(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static inline double vec_relu_exact(double x)
{
    return x > 0 ? x : 0;
}

static inline double vec_leaky_exact(double x)
{
    return x > 0 ? x : (double)0.125f * x;
}

static inline double vec_gelu_exact(double x)
{
    return x < -40 ? -0.0 : x * vec_normal_tail(x);
}

static inline double vec_gelu_slope(double x)
{
    return fabs(x) > 40 ? x > 0 : vec_normal_tail(x) + x * vec_density(x);
}

static inline double vec_gelu_slope_scale(double x)
{
    return fabs(x) > 40 ? x > 0 : vec_normal_tail(x) + fabs(x) * vec_density(x);
}

static inline double vec_tanh_argument(double x)
{
    return 2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x);
}

static inline double vec_gelu_tanh_exact(double x)
{
    return x < -40 ? -0.0 : x > 40 ? x : x * vec_logistic(vec_tanh_argument(x));
}

/* The argument v of the exponential is rounded, and a relative error in it comes out v times. */
static inline double vec_gelu_tanh_scale(double x)
{
    double v = x < 0 ? fmin(-vec_tanh_argument(fmax(x, -40)), 200) : 0;
    return fabs(vec_gelu_tanh_exact(x)) * (1 + v / 2);
}

static inline double vec_gelu_tanh_slope_of(double x, double sign)
{
    if (fabs(x) > 40)
        return x > 0;
    double s = vec_logistic(vec_tanh_argument(x)), z = vec_logistic(-vec_tanh_argument(x));
    return s + sign * x * s * z * 2 * 0.79788456080286535588 * (1 + 3 * 0.044715 * x * x);
}

static inline double vec_gelu_tanh_slope(double x)
{
    return vec_gelu_tanh_slope_of(x, 1);
}

static inline double vec_gelu_tanh_slope_scale(double x)
{
    double v = x < 0 ? fmin(-vec_tanh_argument(fmax(x, -40)), 200) : 0;
    return vec_gelu_tanh_slope_of(x, x < 0 ? -1 : 1) * (1 + v / 2);
}

static inline double vec_silu_exact(double x)
{
    return x < -200 ? -0.0 : x * vec_logistic(x);
}

static inline double vec_silu_slope(double x)
{
    return fabs(x) > 200 ? x > 0 : vec_logistic(x) * (1 + x * vec_logistic(-x));
}

static inline double vec_silu_slope_scale(double x)
{
    return fabs(x) > 200 ? x > 0 : vec_logistic(x) * (1 + fabs(x) * vec_logistic(-x));
}

#endif
