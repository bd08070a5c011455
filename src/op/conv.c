/* conv.c: see conv.h. */
#include "config.h"

#include "op/conv.h"

/* Every pixel by itself: the image is its own matrix of patches. */
static bool is_pointwise(const struct window *w)
{
    return w->kernel_h == 1 && w->kernel_w == 1 && w->stride_h == 1 && w->stride_w == 1 &&
           w->h == w->out_h && w->w == w->out_w;
}

static int64_t taps(const struct conv *c)
{
    return c->window.kernel_h * c->window.kernel_w;
}

/* The patches of the image that a pixel of the map sees. */
static struct gemm_patches of_image(const struct conv *c)
{
    const struct window *w = &c->window;
    return (struct gemm_patches){.h = w->h,
                                 .w = w->w,
                                 .c = c->image_c / c->groups,
                                 .pixel = c->image_c,
                                 .out_h = w->out_h,
                                 .out_w = w->out_w,
                                 .kernel_h = w->kernel_h,
                                 .kernel_w = w->kernel_w,
                                 .stride_h = w->stride_h,
                                 .stride_w = w->stride_w,
                                 .dilation_h = w->dilation_h,
                                 .dilation_w = w->dilation_w,
                                 .pad_h = w->pad_h,
                                 .pad_w = w->pad_w,
                                 .spread_h = 1,
                                 .spread_w = 1};
}

/* The pixels of the map that see a pixel of the image, the last tap first. */
static struct gemm_patches of_map(const struct conv *c)
{
    const struct window *w = &c->window;
    return (struct gemm_patches){.h = w->out_h,
                                 .w = w->out_w,
                                 .c = c->map_c / c->groups,
                                 .pixel = c->map_c,
                                 .out_h = w->h,
                                 .out_w = w->w,
                                 .kernel_h = w->kernel_h,
                                 .kernel_w = w->kernel_w,
                                 .stride_h = 1,
                                 .stride_w = 1,
                                 .dilation_h = w->dilation_h,
                                 .dilation_w = w->dilation_w,
                                 .pad_h = (w->kernel_h - 1) * w->dilation_h - w->pad_h,
                                 .pad_w = (w->kernel_w - 1) * w->dilation_w - w->pad_w,
                                 .spread_h = w->stride_h,
                                 .spread_w = w->stride_w};
}

struct gemm_desc conv_desc(const struct conv *c, enum conv_product product, int64_t batch)
{
    const struct window *w = &c->window;
    bool gather = !is_pointwise(w);
    int64_t map_pixels = batch * w->out_h * w->out_w, image_pixels = batch * w->h * w->w;
    int64_t image_c = c->image_c / c->groups, map_c = c->map_c / c->groups;
    struct gemm_desc d = {.b = DTYPE_F32, .b_is_weight = c->groups == 1};
    switch (product) {
    case CONV_MAP:
        d.m = map_pixels;
        d.n = map_c;
        d.k = taps(c) * image_c;
        break;
    case CONV_IMAGE:
        d.m = image_pixels;
        d.n = image_c;
        d.k = taps(c) * map_c;
        d.b_taps = gather ? taps(c) : 0;
        d.b_trans = !gather;
        break;
    case CONV_WEIGHT:
        d.m = taps(c) * image_c;
        d.n = map_c;
        d.k = map_pixels;
        d.a_trans = true;
        d.b_is_weight = false;
        break;
    }
    if (gather)
        d.patches = product == CONV_IMAGE ? of_map(c) : of_image(c);
    return d;
}

static const void *ahead(struct view v, int64_t elements)
{
    return v.data ? (const char *)v.data + (size_t)elements * dtype_size(v.dtype) : NULL;
}

void conv_run(const struct op_run *r, const struct gemm_plan *plan, const struct conv *c,
              enum conv_product product, const struct conv_operands *o)
{
    struct gemm_desc d = conv_desc(c, product, r->rows);
    int64_t image_c = c->image_c / c->groups, map_c = c->map_c / c->groups;
    int64_t a_c = product == CONV_IMAGE ? map_c : image_c;   /* of a pixel, in one group */
    int64_t out_c = product == CONV_IMAGE ? image_c : map_c; /* of a row of C */
    for (int64_t g = 0; g < c->groups; g++) {
        struct view pre = {o->pre, o->c.dtype};
        struct gemm_args args = {.m = d.m,
                                 .n = d.n,
                                 .k = d.k,
                                 .a = ahead(o->a, g * a_c),
                                 .lda = a_c * c->groups,
                                 .b = ahead(o->b, g * map_c),
                                 .ldb = c->map_c,
                                 .c = (void *)ahead(o->c, g * out_c),
                                 .ldc = out_c * c->groups,
                                 .add = o->add,
                                 .bias = o->bias ? o->bias + g * out_c : NULL,
                                 .pre = (void *)ahead(pre, g * out_c),
                                 .scratch = r->scratch};
        kern_gemm_run(plan, &args);
    }
}

double conv_flops(const struct conv *c, int64_t batch)
{
    struct gemm_desc d = conv_desc(c, CONV_MAP, batch);
    return 2.0 * (double)c->groups * (double)d.m * (double)d.n * (double)d.k;
}
