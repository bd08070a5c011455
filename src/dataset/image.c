/* image.c: see image.h. */
#include "config.h"

#include "dataset/image.h"

#include "dataset/data_file.h"

#include <stdlib.h>
#include <string.h>

void image_release(struct image *x)
{
    free(x->pixels);
    memset(x, 0, sizeof(*x));
}

enum rc image_allocate(struct image *out, const char *name, int64_t height, int64_t width,
                       int64_t channels, struct diag *d)
{
    if (height < 1 || width < 1 || height > IMAGE_MOST_PIXELS / width)
        return diag_error(d, RC_DATA, (struct loc){name, 0, 0},
                          "a picture of %lld x %lld pixels; at most %d in all are read",
                          (long long)height, (long long)width, IMAGE_MOST_PIXELS);
    *out = (struct image){height, width, channels, NULL};
    out->pixels = malloc((size_t)(height * width * channels));
    TRY_ALLOC(out->pixels, d);
    return RC_OK;
}

enum rc image_decode(struct image *out, const char *name, const unsigned char *bytes, size_t n,
                     int64_t channels, struct diag *d)
{
    static const unsigned char png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    static const unsigned char jpeg[] = {0xFF, 0xD8, 0xFF};
    enum rc rc;
    memset(out, 0, sizeof(*out));
    if (n >= sizeof(png) && memcmp(bytes, png, sizeof(png)) == 0)
        rc = image_png_decode(out, name, bytes, n, channels, d);
    else if (n >= sizeof(jpeg) && memcmp(bytes, jpeg, sizeof(jpeg)) == 0)
        rc = image_jpeg_decode(out, name, bytes, n, channels, d);
    else
        rc = diag_error(d, RC_DATA, (struct loc){name, 0, 0},
                        n == 0 ? "an empty file" : "neither a PNG nor a JPEG");
    if (rc != RC_OK)
        image_release(out);
    return rc;
}

static enum rc read_bytes(struct data_file *f, unsigned char **bytes, size_t *n, struct diag *d)
{
    size_t room = 1 << 16, got;
    *n = 0;
    *bytes = NULL;
    do {
        room *= 2;
        unsigned char *more = realloc(*bytes, room);
        TRY_ALLOC(more, d);
        *bytes = more;
        TRY(data_file_read(f, *bytes + *n, room - *n, &got, d));
        *n += got;
        if (*n > IMAGE_MOST_BYTES)
            return diag_error(d, RC_DATA, (struct loc){f->name, 0, 0},
                              "larger than the %d bytes that a picture may have", IMAGE_MOST_BYTES);
    } while (*n == room);
    return RC_OK;
}

enum rc image_read(struct image *out, const char *path, int64_t channels, struct diag *d)
{
    struct data_file f;
    unsigned char *bytes = NULL;
    size_t n;
    TRY(data_file_open(&f, path, d));
    enum rc rc = read_bytes(&f, &bytes, &n, d);
    data_file_close(&f);
    if (rc == RC_OK)
        rc = image_decode(out, path, bytes, n, channels, d);
    free(bytes);
    return rc;
}

/* The pixel behind position i of n, when `from` pixels become n, and how far the next counts. */
static int64_t place(int64_t i, int64_t n, int64_t from, float *share)
{
    double at = ((double)i + 0.5) * (double)from / (double)n - 0.5;
    at = at < 0 ? 0 : at > (double)(from - 1) ? (double)(from - 1) : at;
    int64_t low = (int64_t)at;
    *share = (float)(at - (double)low);
    return low;
}

enum rc image_resize(struct image *x, int64_t height, int64_t width, struct diag *d)
{
    struct image to = {height, width, x->channels, NULL};
    if (x->height == height && x->width == width)
        return RC_OK;
    to.pixels = malloc((size_t)(height * width * x->channels));
    TRY_ALLOC(to.pixels, d);
    uint8_t *out = to.pixels;
    for (int64_t i = 0; i < height; i++)
        for (int64_t j = 0; j < width; j++)
            for (int64_t c = 0; c < x->channels; c++) {
                float down, right;
                int64_t top = place(i, height, x->height, &down);
                int64_t left = place(j, width, x->width, &right);
                int64_t next = left + 1 < x->width ? left + 1 : left;
                int64_t below = top + 1 < x->height ? top + 1 : top;
                const uint8_t *a = x->pixels + top * x->width * x->channels + c;
                const uint8_t *b = x->pixels + below * x->width * x->channels + c;
                float upper = (float)a[left * x->channels] * (1 - right) +
                              (float)a[next * x->channels] * right;
                float lower = (float)b[left * x->channels] * (1 - right) +
                              (float)b[next * x->channels] * right;
                *out++ = (uint8_t)(upper * (1 - down) + lower * down + 0.5F);
            }
    image_release(x);
    *x = to;
    return RC_OK;
}
