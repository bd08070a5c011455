/* test_reader_images.c: pictures in folders, CIFAR, and what augmentation does to images. The
 * pictures are made here, by the libraries that read them elsewhere. */
#include "config.h"

#include "data_kit.h"

#include "base/par.h"
#include "dataset/augment.h"
#include "dataset/cifar.h"
#include "dataset/image.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

enum { H = 4, W = 6 };

static unsigned char pixels[H * W * 3];

static void draw(int salt)
{
    for (int i = 0; i < H * W * 3; i++)
        pixels[i] = (unsigned char)(i * 3 + salt);
}

static size_t as_png(unsigned char *to, size_t room, int width, int height, bool grey)
{
    png_image png = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)width};
    png_alloc_size_t size = room;
    png.height = (png_uint_32)height;
    png.format = grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    ck_assert(png_image_write_to_memory(&png, to, &size, 0, pixels, 0, NULL));
    return size;
}

static size_t as_jpeg(unsigned char *to, unsigned long room)
{
    tjhandle handle = tjInitCompress();
    ck_assert_int_eq(tjCompress2(handle, pixels, W, 0, H, TJPF_RGB, &to, &room, TJSAMP_444, 100,
                                 TJFLAG_NOREALLOC),
                     0);
    tjDestroy(handle);
    return room;
}

static void put_picture(const char *name, int salt, bool grey)
{
    unsigned char file[4096];
    draw(salt);
    data_kit_write(name, file, as_png(file, sizeof(file), W, H, grey));
}

static enum rc open_album(struct dataset *ds, const char *folder, struct images_attrs attrs)
{
    attrs.folder = folder;
    return data_kit_open(ds, "images", &attrs, DATASET_CLASSES);
}

START_TEST(folders_are_classes)
{
    struct dataset ds;
    const char *folder = data_kit_folder("album");
    data_kit_folder("album/b");
    data_kit_folder("album/a");
    put_picture("album/b/1.png", 5, false);
    put_picture("album/a/2.png", 9, false);
    put_picture("album/a/1.png", 7, false);
    ck_assert_int_eq(open_album(&ds, folder, (struct images_attrs){0}), RC_OK);
    ck_assert(ds.rows == 3 && ds.rank == 3 && ds.dims[0] == H && ds.dims[1] == W);
    ck_assert(ds.dims[2] == 3 && ds.n_class_names == 2);
    ck_assert_str_eq(ds.class_names[0], "a");
    ck_assert(ds.classes[0] == 0 && ds.classes[1] == 0 && ds.classes[2] == 1);
    static const int salts[] = {7, 9, 5};
    for (int row = 0; row < 3; row++)
        for (int i = 0; i < H * W * 3; i++)
            ck_assert(data_kit_input(&ds, row * H * W * 3 + i) ==
                      (float)(unsigned char)(i * 3 + salts[row]));
    dataset_release(&ds);
}
END_TEST

START_TEST(grey_and_jpeg)
{
    struct image x;
    unsigned char file[4096];
    draw(0);
    size_t n = as_png(file, sizeof(file), W, H, true);
    ck_assert_int_eq(image_decode(&x, "x", file, n, 0, &data_kit_diag), RC_OK);
    ck_assert(x.channels == 1 && x.height == H && x.width == W);
    ck_assert_mem_eq(x.pixels, pixels, H * W);
    image_release(&x);
    ck_assert_int_eq(image_decode(&x, "x", file, n, 3, &data_kit_diag), RC_OK);
    ck_assert(x.channels == 3 && x.pixels[3] == pixels[1] && x.pixels[5] == pixels[1]);
    image_release(&x);
    memset(pixels, 100, sizeof(pixels)); /* one colour: what a JPEG keeps */
    n = as_jpeg(file, sizeof(file));
    ck_assert_int_eq(image_decode(&x, "x", file, n, 0, &data_kit_diag), RC_OK);
    ck_assert(x.channels == 3 && x.height == H && x.width == W);
    for (int i = 0; i < H * W * 3; i++)
        ck_assert(abs(x.pixels[i] - 100) <= 1);
    image_release(&x);
}
END_TEST

/* Every cut of a file is refused, by name, and none crashes. */
START_TEST(broken_pictures)
{
    struct image x;
    unsigned char file[4096];
    draw(0);
    size_t sizes[] = {as_png(file, sizeof(file), W, H, false), 0};
    for (int jpeg = 0; jpeg < 2; jpeg++) {
        if (jpeg)
            sizes[1] = as_jpeg(file, sizeof(file));
        for (size_t n = 0; n + 12 < sizes[jpeg]; n++) {
            diag_init(&data_kit_diag);
            ck_assert_int_eq(image_decode(&x, "cut.png", file, n, 0, &data_kit_diag), RC_DATA);
            ck_assert(x.pixels == NULL);
            ck_assert(strncmp(data_kit_diag.items[0].text, "cut.png: ", 9) == 0);
        }
    }
}
END_TEST

START_TEST(refused_albums)
{
    struct dataset ds;
    const char *folder = data_kit_folder("album");
    ck_assert_int_eq(open_album(&ds, folder, (struct images_attrs){0}), RC_DATA);
    ck_assert(data_kit_said("holds no folders"));
    data_kit_folder("album/a");
    ck_assert_int_eq(open_album(&ds, folder, (struct images_attrs){0}), RC_DATA);
    ck_assert(data_kit_said("holds no pictures"));
    put_picture("album/a/1.png", 0, false);
    unsigned char file[4096];
    data_kit_write("album/a/2.png", file, as_png(file, sizeof(file), W - 1, H, false));
    ck_assert_int_eq(open_album(&ds, folder, (struct images_attrs){0}), RC_DATA);
    ck_assert(data_kit_said("4 x 5 pixels, but"));
    int64_t size[] = {3, 5};
    ck_assert_int_eq(open_album(&ds, folder, (struct images_attrs){.size = {2, size}}), RC_OK);
    ck_assert(ds.rows == 2 && ds.dims[0] == 3 && ds.dims[1] == 5);
    dataset_release(&ds);
    data_kit_write("album/a/3.txt", "hello", 5);
    ck_assert_int_eq(open_album(&ds, folder, (struct images_attrs){.size = {2, size}}), RC_DATA);
    ck_assert(data_kit_said("neither a PNG nor a JPEG"));
}
END_TEST

/* Between the centres of pixels: two pixels to four. */
START_TEST(resize_is_bilinear)
{
    struct image x = {1, 2, 1, malloc(2)};
    x.pixels[0] = 0;
    x.pixels[1] = 100;
    ck_assert_int_eq(image_resize(&x, 1, 4, &data_kit_diag), RC_OK);
    static const unsigned char want[] = {0, 25, 75, 100};
    ck_assert_mem_eq(x.pixels, want, 4);
    image_release(&x);
}
END_TEST

/* ---- CIFAR ---- */

enum { CIFAR_ROW = 3072 };

static enum rc open_cifar(struct dataset *ds, const char *reader, const unsigned char *bytes,
                          size_t n, int labels)
{
    static char folder[4096];
    snprintf(folder, sizeof(folder), "%s", data_kit_write("data.bin", bytes, n));
    *strrchr(folder, '/') = 0;
    const char *names[] = {"data.bin"};
    struct cifar_attrs attrs = {folder, {1, names}, labels};
    return data_kit_open(ds, reader, &attrs, DATASET_CLASSES);
}

START_TEST(cifar)
{
    struct dataset ds;
    unsigned char rows[2 * (2 + CIFAR_ROW)];
    for (size_t i = 0; i < sizeof(rows); i++)
        rows[i] = (unsigned char)(i % 251);
    rows[0] = 9;
    rows[1 + CIFAR_ROW] = 3;
    ck_assert_int_eq(open_cifar(&ds, "cifar10", rows, 2 * (1 + CIFAR_ROW), 0), RC_OK);
    ck_assert(ds.rows == 2 && ds.classes[0] == 9 && ds.classes[1] == 3 && ds.dims[2] == 3);
    for (int p = 0; p < 1024; p++)
        for (int c = 0; c < 3; c++)
            ck_assert(data_kit_input(&ds, p * 3 + c) == (float)rows[1 + c * 1024 + p]);
    dataset_release(&ds);
    ck_assert_int_eq(open_cifar(&ds, "cifar10", rows, 100, 0), RC_DATA);
    ck_assert(data_kit_said("row 1 is cut off"));
    rows[1 + CIFAR_ROW] = 10;
    ck_assert_int_eq(open_cifar(&ds, "cifar10", rows, 2 * (1 + CIFAR_ROW), 0), RC_DATA);
    ck_assert(data_kit_said("row 2: its label is 10, not one of 0 to 9"));
    rows[0] = 19;
    rows[1] = 99;
    ck_assert_int_eq(open_cifar(&ds, "cifar100", rows, 2 + CIFAR_ROW, 0), RC_OK);
    ck_assert(ds.rows == 1 && ds.classes[0] == 99);
    dataset_release(&ds);
    ck_assert_int_eq(open_cifar(&ds, "cifar100", rows, 2 + CIFAR_ROW, 1), RC_OK);
    ck_assert(ds.classes[0] == 19);
    dataset_release(&ds);
}
END_TEST

/* ---- augmentation ---- */

enum { SIDE = 5, ROWS = 40 };

static uint8_t images[ROWS * SIDE * SIDE];

/* Row r has pixel (y,x) = 1 + 10 y + x, which is never 0. */
static struct dataset numbered(void)
{
    for (int i = 0; i < ROWS * SIDE * SIDE; i++)
        images[i] = (uint8_t)(1 + i / SIDE % SIDE * 10 + i % SIDE);
    return (struct dataset){.rows = ROWS,
                            .rank = 3,
                            .dims = {SIDE, SIDE, 1},
                            .columns = SIDE * SIDE,
                            .dtype = DTYPE_U8,
                            .inputs = images,
                            .source = "x"};
}

/* Each image is the whole one, moved and perhaps mirrored, black where nothing was; all moves and
 * both directions turn up. */
START_TEST(crop_and_flip)
{
    struct dataset ds = numbered();
    const struct augment how = {.flip = true, .crop = 2};
    struct augmenter a = {&how, 3, 1};
    bool moved[5][5] = {{false}};
    int flipped = 0;
    for (int row = 0; row < ROWS; row++) {
        float out[SIDE * SIDE];
        bool found = false;
        augment_row(&a, &ds, NULL, row, out);
        for (int k = 0; k < 50 && !found; k++) {
            int down = k / 2 / 5 - 2, right = k / 2 % 5 - 2, flip = k % 2;
            bool same = true;
            for (int y = 0; y < SIDE; y++)
                for (int x = 0; x < SIDE; x++) {
                    int fy = y + down, fx = x + right;
                    bool in = fy >= 0 && fy < SIDE && fx >= 0 && fx < SIDE;
                    float want = in ? (float)(1 + fy * 10 + (flip ? SIDE - 1 - fx : fx)) : 0;
                    same = same && out[y * SIDE + x] == want;
                }
            if (same) {
                moved[down + 2][right + 2] = found = true;
                flipped += flip;
            }
        }
        ck_assert_msg(found, "row %d is something else", row);
    }
    int places = 0;
    for (int i = 0; i < 25; i++)
        places += moved[i / 5][i % 5];
    ck_assert_int_gt(places, 12);
    ck_assert(flipped > ROWS / 5 && flipped < ROWS * 4 / 5);
}
END_TEST

START_TEST(cutout_and_normalisation)
{
    struct dataset ds = numbered();
    float shift = 1, factor = 0.5F;
    const struct normalizer norm = {1, &shift, &factor};
    const struct augment how = {.cutout = 3};
    struct augmenter a = {&how, 3, 1};
    for (int row = 0; row < ROWS; row++) {
        float out[SIDE * SIDE];
        int blank = 0;
        augment_row(&a, &ds, &norm, row, out);
        for (int i = 0; i < SIDE * SIDE; i++) {
            float plain = (float)(i / SIDE * 10 + i % SIDE) / 2;
            blank += out[i] != plain;
            ck_assert(out[i] == plain || out[i] == 0);
        }
        ck_assert(blank <= 9 && blank >= 3); /* a corner, less the pixel that is 0 anyway */
    }
}
END_TEST

/* The same row in the same epoch is the same, whatever the threads and the order; another epoch is
 * another. */
START_TEST(keyed_by_row_and_epoch)
{
    struct dataset ds = numbered();
    const struct augment how = {
        .flip = true, .crop = 2, .cutout = 2, .brightness = 0.5, .contrast = 0.5};
    struct augmenter a = {&how, 3, 1}, later = {&how, 3, 2};
    int64_t order[ROWS], back[ROWS];
    static float one[ROWS][SIDE * SIDE], two[ROWS][SIDE * SIDE], other[ROWS][SIDE * SIDE];
    for (int i = 0; i < ROWS; i++) {
        order[i] = i;
        back[i] = ROWS - 1 - i;
    }
    par_set_threads(1);
    dataset_gather(&ds, NULL, &a, order, ROWS, one[0], NULL);
    par_set_threads(3);
    dataset_gather(&ds, NULL, &a, back, ROWS, two[0], NULL);
    dataset_gather(&ds, NULL, &later, order, ROWS, other[0], NULL);
    int differ = 0;
    for (int i = 0; i < ROWS; i++) {
        ck_assert_mem_eq(one[i], two[ROWS - 1 - i], sizeof(one[i]));
        differ += memcmp(one[i], other[i], sizeof(one[i])) != 0;
    }
    ck_assert_int_gt(differ, ROWS * 3 / 4);
}
END_TEST

START_TEST(augment_wants_images)
{
    struct dataset ds = numbered();
    const struct augment colours = {.saturation = 0.1}, far = {.crop = SIDE};
    diag_init(&data_kit_diag);
    ck_assert_int_eq(augment_check(&colours, &ds, NOWHERE, &data_kit_diag), RC_CONFIG);
    ck_assert_int_eq(augment_check(&far, &ds, NOWHERE, &data_kit_diag), RC_CONFIG);
    ds.rank = 1;
    ck_assert_int_eq(augment_check(&far, &ds, NOWHERE, &data_kit_diag), RC_CONFIG);
    ck_assert(data_kit_said("needs 3 channels") && data_kit_said("all of the image"));
    ck_assert(data_kit_said("changes images"));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, folders_are_classes);
    tcase_add_test(tc, grey_and_jpeg);
    tcase_add_test(tc, broken_pictures);
    tcase_add_test(tc, refused_albums);
    tcase_add_test(tc, resize_is_bilinear);
    tcase_add_test(tc, cifar);
    tcase_add_test(tc, crop_and_flip);
    tcase_add_test(tc, cutout_and_normalisation);
    tcase_add_test(tc, keyed_by_row_and_epoch);
    tcase_add_test(tc, augment_wants_images);
}

int main(void)
{
    return data_kit_run("reader_images", add);
}
