/* conv.h: the three products of a convolution, between an image (B,h,w,image_c) and a map of
 * features (B,out_h,out_w,map_c), with the weight (kernel_h,kernel_w,image_c/groups,map_c):
 *
 *     CONV_MAP     map    = patches(image) . W
 *     CONV_IMAGE   image  = patches(map, spread by the stride) . W turned over
 *     CONV_WEIGHT  dW     = patches(image)' . map
 *
 * conv2d goes from image to map, conv_transpose2d from map to image; the gradients are the other
 * two. Patches are gathered while they are packed (kern_gemm.h); with groups each group is a
 * product of its own. */
#ifndef CONV_H
#define CONV_H

#include "op/window.h"

enum conv_product { CONV_MAP, CONV_IMAGE, CONV_WEIGHT };

struct conv {
    struct window window;
    int64_t image_c, map_c, groups;
};

/* The product for a full batch of `batch` images; C and epilogue are the caller's to fill. */
struct gemm_desc conv_desc(const struct conv *c, enum conv_product product, int64_t batch);

/* What conv_run reads and writes: a is gathered. */
struct conv_operands {
    struct view a, b, c; /* b: the weight, or its shadow; for CONV_WEIGHT the map */
    const float *bias;   /* NULL: none */
    void *pre;           /* NULL: none */
    bool add;
};
void conv_run(const struct op_run *r, const struct gemm_plan *plan, const struct conv *c,
              enum conv_product product, const struct conv_operands *o);

/* Multiplications and additions of one product. */
double conv_flops(const struct conv *c, int64_t batch);

#endif
