/* image_jpeg.c: JPEG by libjpeg-turbo's TurboJPEG interface. */
#include "config.h"

#include "dataset/image.h"

#include <turbojpeg.h>

static enum rc decode(tjhandle handle, struct image *out, const char *name,
                      const unsigned char *bytes, size_t n, int64_t channels, struct diag *d)
{
    int width, height, sampling, space;
    struct loc file = {name, 0, 0};
    if (tjDecompressHeader3(handle, bytes, n, &width, &height, &sampling, &space) != 0)
        return diag_error(d, RC_DATA, file, "a broken JPEG: %s", tjGetErrorStr2(handle));
    if (channels == 0)
        channels = space == TJCS_GRAY ? 1 : 3;
    TRY(image_allocate(out, name, height, width, channels, d));
    if (tjDecompress2(handle, bytes, n, out->pixels, width, 0, height,
                      channels == 1 ? TJPF_GRAY : TJPF_RGB, TJFLAG_ACCURATEDCT) != 0)
        return diag_error(d, RC_DATA, file, "a broken JPEG: %s", tjGetErrorStr2(handle));
    return RC_OK;
}

enum rc image_jpeg_decode(struct image *out, const char *name, const unsigned char *bytes, size_t n,
                          int64_t channels, struct diag *d)
{
    tjhandle handle = tjInitDecompress();
    TRY_ALLOC(handle, d);
    enum rc rc = decode(handle, out, name, bytes, n, channels, d);
    tjDestroy(handle);
    return rc;
}
