/* window.h: a window that slides over images (B,H,W,C): its keys, its shape checks and the size
 * that comes out. For convolution and pooling. */
#ifndef WINDOW_H
#define WINDOW_H

#include "op/op.h"

/* One number stands for both directions. */
struct window_attrs {
    struct key_list kernel, stride, dilation; /* int64_t; stride none: the kernel's */
    struct key_list padding;                  /* text: same, valid, or 1, 2 or 4 numbers */
};

#define WINDOW_KERNEL_KEY(type, field)                                                             \
    {                                                                                              \
        "kernel", KEY_INTS, offsetof(type, field.kernel), NULL, 1, 1 << 15, 0, NULL,               \
            "Size of the window: height and width, or one number for both."                        \
    }
#define WINDOW_STRIDE_KEY(type, field, def, help)                                                  \
    {                                                                                              \
        "stride", KEY_INTS, offsetof(type, field.stride), def, 1, 1 << 15, 0, NULL, help           \
    }
#define WINDOW_DILATION_KEY(type, field)                                                           \
    {                                                                                              \
        "dilation", KEY_INTS, offsetof(type, field.dilation), "1", 1, 1 << 15, 0, NULL,            \
            "Distance between the pixels that a window reads."                                     \
    }
#define WINDOW_PADDING_KEY(type, field, help)                                                      \
    {                                                                                              \
        "padding", KEY_TEXTS, offsetof(type, field.padding), "valid", 0, 0, 0, NULL, help          \
    }
#define WINDOW_PADDING_HELP                                                                        \
    "valid: none. same: as many zeros as give ceil(size/stride), the odd one at the bottom and "   \
    "right. Or numbers: of all sides; of height and width; of top, left, bottom and right."

/* Output pixel (oy,ox) sees the pixels oy stride_h - pad_h + ky dilation_h of each column, rows
 * alike. */
struct window {
    int64_t h, w;         /* of the image */
    int64_t out_h, out_w; /* windows that fit */
    int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
};

/* The window over an image tensor. Refuses what is no image and a window that does not fit. */
MUST_USE enum rc window_fit(struct window *out, const struct window_attrs *a, const struct node *n,
                            const struct tensor *image, struct diag *d);
/* The window whose output is `map`: finds the image, `more` pixels larger than it need be. */
MUST_USE enum rc window_unfit(struct window *out, const struct window_attrs *a,
                              const struct key_list *more, const struct node *n,
                              const struct tensor *map, struct diag *d);

/* Output columns from .. to-1 have column kx of their window inside the image; *at: the pixel that
 * the first of them sees there. */
void window_columns(const struct window *w, int64_t kx, int64_t *from, int64_t *to, int64_t *at);
/* The image row that row ky of the window of output row oy sees; false: outside. */
bool window_row(const struct window *w, int64_t oy, int64_t ky, int64_t *y);

#endif
