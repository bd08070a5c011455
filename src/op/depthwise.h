/* depthwise.h: a convolution whose channels do not see one another, from image to map: no matrix
 * product, but vectors of channels in FP32, a row of pixels at a time. For conv2d with as many
 * groups as channels. */
#ifndef DEPTHWISE_H
#define DEPTHWISE_H

#include "op/window.h"

struct depthwise {
    struct window window;
    int64_t c;
    struct view x, y, dy, dx; /* (B,h,w,c), (B,out_h,out_w,c) */
    const float *w;           /* (kernel_h,kernel_w,c) f32 */
    const float *bias;        /* (c) or NULL */
    enum gemm_act act;
    struct view pre; /* what act is applied to; data NULL: not wanted */
    float *dw;       /* (kernel_h,kernel_w,c) f32 */
    bool add_dw, add_dx;
    int64_t images;
    void *scratch;
};

size_t depthwise_scratch(const struct window *w, int64_t c, int threads);
void depthwise_forward(const struct depthwise *d);
void depthwise_backward(const struct depthwise *d); /* dw, and dx where it has data */

#endif
