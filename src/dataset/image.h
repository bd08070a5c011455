/* image.h: picture files to pixels. Each library stands behind one function. */
#ifndef IMAGE_H
#define IMAGE_H

#include "base/diag.h"

#include <stddef.h>
#include <stdint.h>

enum { IMAGE_MOST_PIXELS = 1 << 26, IMAGE_MOST_BYTES = 1 << 28 };

/* (height, width, channels) u8 */
struct image {
    int64_t height, width, channels;
    uint8_t *pixels; /* owned */
};

/* A file: PNG or JPEG, told by its first bytes. channels 0: 1 or 3, as the file has; else 1 (grey)
 * or 3 (red, green, blue). Transparent pixels stand on black. Broken and cut files are refused as
 * RC_DATA. */
MUST_USE enum rc image_read(struct image *out, const char *path, int64_t channels, struct diag *d);
/* The same from memory; name stands in messages. */
MUST_USE enum rc image_decode(struct image *out, const char *name, const unsigned char *bytes,
                              size_t n, int64_t channels, struct diag *d);
/* Another size: bilinear, between the centres of pixels. */
MUST_USE enum rc image_resize(struct image *x, int64_t height, int64_t width, struct diag *d);
void image_release(struct image *x);

/* For image.c: decoders of one format. */
MUST_USE enum rc image_png_decode(struct image *out, const char *name, const unsigned char *bytes,
                                  size_t n, int64_t channels, struct diag *d);
MUST_USE enum rc image_jpeg_decode(struct image *out, const char *name, const unsigned char *bytes,
                                   size_t n, int64_t channels, struct diag *d);
/* Room for pixels; refuses what is empty or too large. */
MUST_USE enum rc image_allocate(struct image *out, const char *name, int64_t height, int64_t width,
                                int64_t channels, struct diag *d);

#endif
