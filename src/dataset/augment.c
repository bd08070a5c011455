/* augment.c: see augment.h.
 *
 * crop: as if the image stood in a black frame of that many pixels, and a window of its own size
 * were cut out at a random place. brightness, contrast, saturation: the image times a factor, its
 * distance from its mean, and from grey, times a factor, each drawn from [1 - x, 1 + x]; bytes stay
 * within 0 .. 255. cutout (DeVries and Taylor 2017): a square is set to what normalisation makes 0;
 * at the edges a part of it. */
#include "config.h"

#include "dataset/augment.h"

#include "base/rng.h"

#include <stddef.h>

#define AT(field) offsetof(struct augment, field)
const struct key augment_keys[] = {
    {"flip", KEY_BOOL, AT(flip), "false", 0, 0, 0, NULL,
     "half of the images are mirrored, left to right"},
    {"crop", KEY_INT, AT(crop), "0", 0, 1024, 0, NULL,
     "images are moved by up to so many pixels up, down, left and right; black comes in"},
    {"cutout", KEY_INT, AT(cutout), "0", 0, 1024, 0, NULL,
     "side of a square, at a random place, that is blanked"},
    {"brightness", KEY_FLOAT, AT(brightness), "0", 0, 1, 0, NULL,
     "all values times a factor from 1 - x to 1 + x"},
    {"contrast", KEY_FLOAT, AT(contrast), "0", 0, 1, 0, NULL,
     "distances from the image's mean times a factor from 1 - x to 1 + x"},
    {"saturation", KEY_FLOAT, AT(saturation), "0", 0, 1, 0, NULL,
     "distances of the colours from grey times a factor from 1 - x to 1 + x"},
    {0},
};

bool augment_is_on(const struct augment *a)
{
    return a->flip || a->crop > 0 || a->cutout > 0 || a->brightness > 0 || a->contrast > 0 ||
           a->saturation > 0;
}

enum rc augment_check(const struct augment *a, const struct dataset *ds, struct loc loc,
                      struct diag *d)
{
    struct tensor row = {.rank = ds->rank};
    char text[TENSOR_SHAPE_ROOM];
    for (int i = 0; i < ds->rank; i++)
        row.dims[i] = ds->dims[i];
    if (!augment_is_on(a))
        return RC_OK;
    if (ds->rank != 3)
        return diag_error(d, RC_CONFIG, loc,
                          "data.augment changes images (H,W,C); a row of %s is %s", ds->source,
                          tensor_shape(text, &row));
    if (a->crop >= ds->dims[0] || a->crop >= ds->dims[1])
        return diag_error(d, RC_CONFIG, loc,
                          "data.augment.crop moves by %lld pixels, all of the image: it is %s",
                          (long long)a->crop, tensor_shape(text, &row));
    if (a->saturation > 0 && ds->dims[2] != 3)
        return diag_error(d, RC_CONFIG, loc,
                          "data.augment.saturation needs 3 channels; the images are %s",
                          tensor_shape(text, &row));
    return RC_OK;
}

/* What happens to one image. */
struct change {
    bool flip;
    int64_t down, right; /* the window's place */
    float brightness, contrast, saturation;
    int64_t cut_y, cut_x; /* corner of the blank square */
    float mean;           /* of the brightened image, for contrast */
};

enum { DRAW_FLIP, DRAW_DOWN, DRAW_RIGHT, DRAW_CUT_Y, DRAW_CUT_X, DRAW_FACTORS };

static int64_t below(struct rng_key key, uint64_t draw, int64_t bound)
{
    return (int64_t)rng_below(key, draw, (uint64_t)bound);
}

static float factor(struct rng_key key, uint64_t draw, double range)
{
    float u;
    rng_uniform(key, 4 * (DRAW_FACTORS + draw), 1, &u);
    return (float)(1 + range * (2 * (double)u - 1));
}

static struct change draw(const struct augmenter *a, const struct dataset *ds, int64_t row)
{
    const struct augment *how = a->how;
    struct rng_key key = rng_key(a->seed, RNG_AUGMENT, (uint64_t)a->epoch, (uint64_t)row);
    struct change c = {.flip = how->flip && below(key, DRAW_FLIP, 2) == 1};
    c.down = below(key, DRAW_DOWN, 2 * how->crop + 1) - how->crop;
    c.right = below(key, DRAW_RIGHT, 2 * how->crop + 1) - how->crop;
    c.cut_y = below(key, DRAW_CUT_Y, ds->dims[0]) - how->cutout / 2;
    c.cut_x = below(key, DRAW_CUT_X, ds->dims[1]) - how->cutout / 2;
    c.brightness = factor(key, 0, how->brightness);
    c.contrast = factor(key, 1, how->contrast);
    c.saturation = factor(key, 2, how->saturation);
    return c;
}

static float value(const struct dataset *ds, int64_t at)
{
    return ds->dtype == DTYPE_U8 ? (float)((const uint8_t *)ds->inputs)[at]
                                 : ((const float *)ds->inputs)[at];
}

static float mean_of(const struct dataset *ds, int64_t row)
{
    double sum = 0;
    for (int64_t i = 0; i < ds->columns; i++)
        sum += (double)value(ds, row * ds->columns + i);
    return (float)(sum / (double)ds->columns);
}

/* Bytes were clipped by the camera, and stay so. */
static float clip(const struct dataset *ds, float x)
{
    return ds->dtype != DTYPE_U8 ? x : x < 0 ? 0 : x > 255 ? 255 : x;
}

static void colour(const struct augment *how, const struct change *c, const struct dataset *ds,
                   float *pixel)
{
    int64_t channels = ds->dims[2];
    for (int64_t i = 0; i < channels; i++) {
        pixel[i] *= c->brightness;
        if (how->contrast > 0)
            pixel[i] = c->mean + (pixel[i] - c->mean) * c->contrast;
    }
    if (how->saturation > 0) { /* luma of ITU-R BT.601 */
        float grey = 0.299F * pixel[0] + 0.587F * pixel[1] + 0.114F * pixel[2];
        for (int64_t i = 0; i < channels; i++)
            pixel[i] = grey + (pixel[i] - grey) * c->saturation;
    }
    for (int64_t i = 0; i < channels; i++)
        pixel[i] = clip(ds, pixel[i]);
}

/* Where pixel (y,x) of the result comes from; -1: from outside. */
static int64_t source(const struct change *c, const struct dataset *ds, int64_t y, int64_t x)
{
    y += c->down;
    x += c->right;
    if (y < 0 || x < 0 || y >= ds->dims[0] || x >= ds->dims[1])
        return -1;
    return y * ds->dims[1] + (c->flip ? ds->dims[1] - 1 - x : x);
}

void augment_row(const struct augmenter *a, const struct dataset *ds, const struct normalizer *norm,
                 int64_t row, float *to)
{
    const struct augment *how = a->how;
    struct change c = draw(a, ds, row);
    int64_t channels = ds->dims[2], width = ds->dims[1];
    bool coloured = how->brightness > 0 || how->contrast > 0 || how->saturation > 0;
    bool by_column = norm && norm->columns > 1;
    if (how->contrast > 0)
        c.mean = mean_of(ds, row) * c.brightness;
    for (int64_t y = 0; y < ds->dims[0]; y++)
        for (int64_t x = 0; x < width; x++, to += channels) {
            int64_t from = source(&c, ds, y, x), place = (y * width + x) * channels;
            bool cut = y >= c.cut_y && y < c.cut_y + how->cutout && x >= c.cut_x &&
                       x < c.cut_x + how->cutout;
            for (int64_t i = 0; i < channels; i++)
                to[i] = from < 0 ? 0 : value(ds, row * ds->columns + from * channels + i);
            if (coloured)
                colour(how, &c, ds, to);
            for (int64_t i = 0; i < channels; i++) {
                float shift = !norm ? 0 : norm->shift[by_column ? place + i : 0];
                float scale = !norm ? 1 : norm->factor[by_column ? place + i : 0];
                to[i] = cut ? 0 : (to[i] - shift) * scale;
            }
        }
}
