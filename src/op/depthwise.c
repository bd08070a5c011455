/* depthwise.c: see depthwise.h. Forward goes by rows of the output. Backward goes by images in
 * PARTS parts, each with sums of its own for dw, which are added in order.
 *
 * Scratch, f32: dw of each part (PARTS,taps,C); then of each thread: an input row (W,C), an output
 * row (W',C), a gradient image (H,W,C). */
#include "config.h"

#include "op/depthwise.h"

#include "base/par.h"
#include "kern/kern_vec.h"

#include <string.h>

enum { PARTS = 16 };

static int64_t taps(const struct window *w)
{
    return w->kernel_h * w->kernel_w;
}

static size_t rounded(int64_t elements)
{
    return ((size_t)elements * sizeof(float) + 63) / 64 * 64;
}

static size_t thread_bytes(const struct window *w, int64_t c)
{
    return rounded((w->w + w->out_w + w->h * w->w) * c);
}

size_t depthwise_scratch(const struct window *w, int64_t c, int threads)
{
    return rounded(PARTS * taps(w) * c) + thread_bytes(w, c) * (size_t)threads;
}

struct buffers {
    float *in, *out, *image;
};

static struct buffers buffers_of(const struct depthwise *d)
{
    struct buffers b;
    char *own = (char *)d->scratch + rounded(PARTS * taps(&d->window) * d->c);
    b.in = (float *)(void *)(own + (size_t)par_thread() * thread_bytes(&d->window, d->c));
    b.out = b.in + d->window.w * d->c;
    b.image = b.out + d->window.out_w * d->c;
    return b;
}

static const float *input_row(const struct depthwise *d, int64_t image, int64_t y, float *room)
{
    int64_t n = d->window.w * d->c;
    return kern_load(d->x, (image * d->window.h + y) * n, n, room);
}

static void forward_row(void *context, int64_t index)
{
    const struct depthwise *d = context;
    const struct window *w = &d->window;
    int64_t c = d->c, n = w->out_w * c, oy = index % w->out_h, y;
    struct buffers b = buffers_of(d);
    memset(b.out, 0, (size_t)n * sizeof(*b.out));
    for (int64_t x = 0; d->bias && x < w->out_w; x++)
        memcpy(b.out + x * c, d->bias, (size_t)c * sizeof(*b.out));
    for (int64_t ky = 0; ky < w->kernel_h; ky++) {
        if (!window_row(w, oy, ky, &y))
            continue;
        const float *row = input_row(d, index / w->out_h, y, b.in);
        for (int64_t kx = 0; kx < w->kernel_w; kx++) {
            int64_t from, to, at;
            window_columns(w, kx, &from, &to, &at);
            kern_vec()->rows_fma(to - from, c, w->stride_w * c, row + at * c,
                                 d->w + (ky * w->kernel_w + kx) * c, b.out + from * c);
        }
    }
    if (d->pre.data)
        kern_store(d->pre, index * n, n, b.out);
    kern_gemm_act(d->act, n, b.out);
    kern_store(d->y, index * n, n, b.out);
}

void depthwise_forward(const struct depthwise *d)
{
    par_for(d->images * d->window.out_h, forward_row, (void *)d);
}

static void backward_row(const struct depthwise *d, int64_t image, int64_t oy,
                         const struct buffers *b, float *dw)
{
    const struct window *w = &d->window;
    int64_t c = d->c, n = w->out_w * c, y;
    const float *dy = kern_load(d->dy, (image * w->out_h + oy) * n, n, b->out);
    for (int64_t ky = 0; ky < w->kernel_h; ky++) {
        if (!window_row(w, oy, ky, &y))
            continue;
        const float *row = input_row(d, image, y, b->in);
        for (int64_t kx = 0; kx < w->kernel_w; kx++) {
            int64_t from, to, at, tap = (ky * w->kernel_w + kx) * c;
            window_columns(w, kx, &from, &to, &at);
            kern_vec()->rows_dot(to - from, c, w->stride_w * c, row + at * c, dy + from * c,
                                 dw + tap);
            if (d->dx.data)
                kern_vec()->rows_spread_fma(to - from, c, w->stride_w * c, dy + from * c,
                                            d->w + tap, b->image + (y * w->w + at) * c);
        }
    }
}

static void backward_part(void *context, int64_t part)
{
    const struct depthwise *d = context;
    const struct window *w = &d->window;
    int64_t n = w->h * w->w * d->c, all = taps(w) * d->c;
    struct buffers b = buffers_of(d);
    float *dw = (float *)d->scratch + part * all;
    memset(dw, 0, (size_t)all * sizeof(*dw));
    for (int64_t i = d->images * part / PARTS; i < d->images * (part + 1) / PARTS; i++) {
        if (d->dx.data)
            memset(b.image, 0, (size_t)n * sizeof(*b.image));
        for (int64_t oy = 0; oy < w->out_h; oy++)
            backward_row(d, i, oy, &b, dw);
        if (d->dx.data)
            (d->add_dx ? kern_store_add : kern_store)(d->dx, i * n, n, b.image);
    }
}

void depthwise_backward(const struct depthwise *d)
{
    int64_t all = taps(&d->window) * d->c;
    const float *parts = d->scratch;
    par_for(PARTS, backward_part, (void *)d);
    for (int64_t i = 0; i < all; i++) {
        double sum = 0;
        for (int64_t p = 0; p < PARTS; p++)
            sum += (double)parts[p * all + i];
        d->dw[i] = (d->add_dw ? d->dw[i] : 0) + (float)sum;
    }
}
