/* image_png.c: PNG by libpng's simplified interface: any kind of PNG to 8 bits a channel. */
#include "config.h"

#include "dataset/image.h"

#include <png.h>
#include <string.h>

enum rc image_png_decode(struct image *out, const char *name, const unsigned char *bytes, size_t n,
                         int64_t channels, struct diag *d)
{
    png_image png;
    const png_color black = {0, 0, 0};
    struct loc file = {name, 0, 0};
    memset(&png, 0, sizeof(png));
    png.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&png, bytes, n))
        return diag_error(d, RC_DATA, file, "a broken PNG: %s", png.message);
    if (channels == 0)
        channels = png.format & PNG_FORMAT_FLAG_COLOR ? 3 : 1;
    png.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    enum rc rc = image_allocate(out, name, png.height, png.width, channels, d);
    /* warnings are for what libpng guessed: a picture that is cut off, for one */
    if (rc == RC_OK &&
        (!png_image_finish_read(&png, &black, out->pixels, 0, NULL) || png.warning_or_error != 0))
        rc = diag_error(d, RC_DATA, file, "a broken PNG: %s", png.message);
    png_image_free(&png);
    return rc;
}
