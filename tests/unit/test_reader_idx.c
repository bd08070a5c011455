/* test_reader_idx.c: IDX files and the byte stream below: B26, B27, B28. */
#include "config.h"

#include "data_kit.h"

#include <stdlib.h>
#include <string.h>

static const unsigned char two_images[] = {0, 0, 8, 3, 0, 0, 0,  2,  0,  0,
                                           0, 1, 0, 0, 0, 2, 10, 20, 30, 40};
static const unsigned char two_floats[] = {0,    0,    0x0D, 1, 0,    0, 0, 2,
                                           0x3F, 0x80, 0,    0, 0x40, 0, 0, 0};
static const unsigned char two_labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 1, 0};

static enum rc open_bytes(struct dataset *ds, const char *name, const void *bytes, size_t n)
{
    return data_kit_open_arrays(ds, "idx", data_kit_write(name, bytes, n), "", DATASET_NO_TARGET);
}

static void check_two_images(struct dataset *ds)
{
    ck_assert_int_eq(ds->rows, 2);
    ck_assert_int_eq(ds->columns, 2);
    ck_assert_int_eq(ds->rank, 3);
    ck_assert_int_eq(ds->dims[0], 1);
    ck_assert_int_eq(ds->dims[1], 2);
    ck_assert_int_eq(ds->dims[2], 1); /* grey: one channel */
    ck_assert_int_eq(ds->dtype, DTYPE_U8);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(((uint8_t *)ds->inputs)[i], 10 + 10 * i);
    dataset_release(ds);
}

START_TEST(good_samples)
{
    struct dataset ds;
    ck_assert_int_eq(open_bytes(&ds, "a", two_images, sizeof(two_images)), RC_OK);
    check_two_images(&ds);
    ck_assert_int_eq(open_bytes(&ds, "b", two_floats, sizeof(two_floats)), RC_OK);
    ck_assert_int_eq(ds.rows, 2);
    ck_assert_int_eq(ds.columns, 1);
    ck_assert_int_eq(ds.dtype, DTYPE_F32);
    ck_assert(data_kit_input(&ds, 0) == 1.0f && data_kit_input(&ds, 1) == 2.0f);
    dataset_release(&ds);
}
END_TEST

START_TEST(every_element_type)
{
    static const struct {
        unsigned char code;
        int n;
        unsigned char bytes[8];
        float value;
    } cases[] = {
        {0x08, 1, {0xFF}, 255},
        {0x09, 1, {0xFF}, -1},
        {0x0B, 2, {0xFF, 0x00}, -256},
        {0x0C, 4, {0x00, 0x01, 0x00, 0x02}, 65538},
        {0x0C, 4, {0x01, 0x00, 0x00, 0x01}, 16777216}, /* 2^24 + 1 rounds to even */
        {0x0C, 4, {0x80, 0x00, 0x00, 0x00}, -2147483648.0f},
        {0x0D, 4, {0xC0, 0x20, 0x00, 0x00}, -2.5f},
        {0x0E, 8, {0x3F, 0xB9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9A}, 0.1f},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        unsigned char file[16] = {0, 0, cases[i].code, 1, 0, 0, 0, 1};
        memcpy(file + 8, cases[i].bytes, 8);
        struct dataset ds;
        ck_assert_int_eq(open_bytes(&ds, "t", file, 8 + (size_t)cases[i].n), RC_OK);
        ck_assert(data_kit_input(&ds, 0) == cases[i].value);
        dataset_release(&ds);
    }
}
END_TEST

START_TEST(shapes)
{
    static const unsigned char colour[] = {0, 0, 8, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0,
                                           0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};
    static const unsigned char flat[] = {0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 3, 7, 8, 9};
    struct dataset ds;
    ck_assert_int_eq(open_bytes(&ds, "c", colour, sizeof(colour)), RC_OK);
    ck_assert_int_eq(ds.rank, 3);
    ck_assert(ds.dims[0] == 1 && ds.dims[1] == 2 && ds.dims[2] == 3 && ds.columns == 6);
    dataset_release(&ds);
    ck_assert_int_eq(open_bytes(&ds, "f", flat, sizeof(flat)), RC_OK);
    ck_assert(ds.rank == 1 && ds.dims[0] == 3 && ds.columns == 3 && ds.rows == 1);
    dataset_release(&ds);
}
END_TEST

/* B26: content decides, not the name. */
START_TEST(names_do_not_matter)
{
    unsigned char packed[200];
    size_t n = data_kit_gzip(two_images, sizeof(two_images), packed, sizeof(packed));
    struct dataset ds;
    ck_assert_int_eq(open_bytes(&ds, "images", packed, n), RC_OK);
    check_two_images(&ds);
    ck_assert_int_eq(open_bytes(&ds, "images.gz", two_images, sizeof(two_images)), RC_OK);
    check_two_images(&ds);
    static const char page[] = "<!DOCTYPE html><title>404</title>";
    ck_assert_int_eq(open_bytes(&ds, "page.gz", page, sizeof(page) - 1), RC_DATA);
    ck_assert(data_kit_said("page.gz: error: not an IDX file"));
    ck_assert(data_kit_said("3C 21 44 4F"));
    ck_assert_int_eq(open_bytes(&ds, "empty", "", 0), RC_DATA);
    ck_assert(data_kit_said("not an IDX file: it is empty"));
    n = data_kit_gzip("", 0, packed, sizeof(packed));
    ck_assert_int_eq(open_bytes(&ds, "empty.gz", packed, n), RC_DATA);
    ck_assert(data_kit_said("not an IDX file: it is empty"));
}
END_TEST

/* B27: refused fast and without the memory they ask for. */
START_TEST(hostile_headers)
{
#define BYTES(...)                                                                                 \
    (const unsigned char[]){__VA_ARGS__}, sizeof((const unsigned char[]){__VA_ARGS__})
    const struct {
        const unsigned char *bytes;
        size_t n;
        const char *words;
    } cases[] = {
        {BYTES(0, 0, 8, 4, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0), "impossible size"},
        {BYTES(0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255),
         "impossible size"},
        {BYTES(0, 0, 8, 3, 0, 0, 64, 0, 0, 0, 64, 0, 0, 0, 16, 0), "is cut off"}, /* 2^40 bytes */
        {BYTES(0, 0, 8, 1, 255, 255, 255, 255), "is cut off"},
        {BYTES(0, 0, 8), "not an IDX file: it has 3 bytes"},
        {BYTES(0, 0, 10, 1, 0, 0, 0, 1, 1), "type 0A"},
        {BYTES(0, 0, 8, 0, 1), "0 dimensions"},
        {BYTES(0, 0, 8, 6, 0, 0, 0, 1), "6 dimensions"},
        {BYTES(0, 0, 8, 2, 0, 0, 0, 1, 0, 0), "within its header"},
        {BYTES(0, 0, 8, 1, 0, 0, 0, 0), "no data"},
        {BYTES(0, 0, 8, 2, 0, 0, 0, 3, 0, 0, 0, 0), "no data"},
        {BYTES(0, 0, 8, 1, 0, 0, 0, 1, 7, 7), "longer than"},
        {BYTES(0, 0, 8, 1, 0, 0, 0, 2, 7), "is cut off"},
    };
    data_kit_cap_memory();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct dataset ds;
        unsigned char packed[200];
        size_t n = data_kit_gzip(cases[i].bytes, cases[i].n, packed, sizeof(packed));
        ck_assert_int_eq(open_bytes(&ds, "plain", cases[i].bytes, cases[i].n), RC_DATA);
        ck_assert(data_kit_said(cases[i].words));
        ck_assert_int_eq(open_bytes(&ds, "packed", packed, n), RC_DATA);
        ck_assert(data_kit_said(cases[i].words));
    }
}
END_TEST

/* A gzip file of 500 MiB of zeros behind a header for 4 bytes: refused at its fifth byte. */
START_TEST(bomb)
{
    enum { MIB = 1 << 20 };
    static unsigned char zeros[MIB], member[8192], packed[MIB];
    size_t n_member = data_kit_gzip(zeros, MIB, member, sizeof(member));
    size_t n = data_kit_gzip(two_images, sizeof(two_images), packed, sizeof(packed));
    for (int i = 0; i < 500 && n + n_member <= MIB; i++, n += n_member)
        memcpy(packed + n, member, n_member);
    data_kit_cap_memory();
    struct dataset ds;
    ck_assert_int_eq(open_bytes(&ds, "bomb", packed, n), RC_DATA);
    ck_assert(data_kit_said("longer than the 4 bytes"));
}
END_TEST

/* B28: a gzip file cut anywhere, or with a wrong trailer, is an error. */
START_TEST(cut_gzip)
{
    unsigned char packed[200];
    size_t n = data_kit_gzip(two_images, sizeof(two_images), packed, sizeof(packed));
    struct dataset ds;
    for (size_t cut = 0; cut < n; cut++) {
        ck_assert_int_eq(open_bytes(&ds, "cut.gz", packed, cut), RC_DATA);
        ck_assert(data_kit_said("cut.gz: error: "));
    }
    for (size_t i = n - 8; i < n; i++) { /* CRC and length */
        packed[i] ^= 1;
        ck_assert_int_eq(open_bytes(&ds, "crc.gz", packed, n), RC_DATA);
        ck_assert(data_kit_said("crc.gz: error: its gzip data is damaged"));
        packed[i] ^= 1;
    }
    ck_assert_int_eq(open_bytes(&ds, "whole.gz", packed, n), RC_OK);
    dataset_release(&ds);
}
END_TEST

START_TEST(gzip_members)
{
    unsigned char packed[400];
    size_t n = data_kit_gzip(two_images, 7, packed, sizeof(packed));
    n += data_kit_gzip(two_images + 7, sizeof(two_images) - 7, packed + n, sizeof(packed) - n);
    struct dataset ds;
    ck_assert_int_eq(open_bytes(&ds, "two.gz", packed, n), RC_OK);
    check_two_images(&ds);
    packed[n] = 'x';
    ck_assert_int_eq(open_bytes(&ds, "more.gz", packed, n + 1), RC_DATA);
    ck_assert(data_kit_said("behind the end of its gzip data"));
    packed[n] = 0x1F; /* half the magic of a third member */
    ck_assert_int_eq(open_bytes(&ds, "half.gz", packed, n + 1), RC_DATA);
    packed[n + 1] = 0x8B;
    ck_assert_int_eq(open_bytes(&ds, "third.gz", packed, n + 2), RC_DATA);
    ck_assert(data_kit_said("cut off"));
}
END_TEST

START_TEST(targets)
{
    static const unsigned char three[] = {0, 0, 8, 1, 0, 0, 0, 3, 1, 0, 2};
    struct dataset ds;
    const char *images = data_kit_write("x", two_images, sizeof(two_images));
    const char *labels = data_kit_write("y", two_labels, sizeof(two_labels));
    const char *floats = data_kit_write("z", two_floats, sizeof(two_floats));
    ck_assert_int_eq(data_kit_open_arrays(&ds, "idx", images, labels, DATASET_CLASSES), RC_OK);
    ck_assert(ds.target == DATASET_CLASSES && ds.classes[0] == 1 && ds.classes[1] == 0);
    dataset_release(&ds);
    ck_assert_int_eq(data_kit_open_arrays(&ds, "idx", images, labels, DATASET_VALUES), RC_OK);
    ck_assert(ds.target_columns == 1 && ds.values[0] == 1 && ds.values[1] == 0);
    dataset_release(&ds);
    ck_assert_int_eq(data_kit_open_arrays(&ds, "idx", images, floats, DATASET_VALUES), RC_OK);
    ck_assert(ds.target_columns == 1 && ds.values[0] == 1 && ds.values[1] == 2);
    dataset_release(&ds);
    ck_assert_int_eq(data_kit_open_arrays(&ds, "idx", images, floats, DATASET_CLASSES), RC_DATA);
    ck_assert(data_kit_said("float32"));
    ck_assert_int_eq(data_kit_open_arrays(&ds, "idx", images, images, DATASET_CLASSES), RC_DATA);
    ck_assert(data_kit_said("one-hot"));
    const char *long_labels = data_kit_write("w", three, sizeof(three));
    ck_assert_int_eq(data_kit_open_arrays(&ds, "idx", images, long_labels, DATASET_CLASSES),
                     RC_DATA);
    ck_assert(data_kit_said("3 rows of targets"));
    ck_assert_int_eq(data_kit_open_arrays(&ds, "idx", images, "", DATASET_CLASSES), RC_CONFIG);
    ck_assert(data_kit_said("`targets` is missing"));
    ck_assert_int_eq(data_kit_open_arrays(&ds, "idx", images, "nowhere", DATASET_CLASSES), RC_DATA);
    ck_assert(data_kit_said("nowhere: error: cannot be opened"));
    ck_assert_int_eq(data_kit_open_arrays(&ds, "idx", "/", "", DATASET_NO_TARGET), RC_DATA);
    ck_assert(data_kit_said("cannot be read"));
}
END_TEST

START_TEST(not_finite)
{
    static const unsigned char inf[] = {0, 0, 0x0D, 2, 0, 0, 0,    2,    0, 0,
                                        0, 1, 0,    0, 0, 0, 0x7F, 0x80, 0, 0};
    static const unsigned char large[] = {0, 0, 0x0E, 1, 0, 0, 0, 1, 0x7F, 0xE0, 0, 0, 0, 0, 0, 0};
    struct dataset ds;
    ck_assert_int_eq(open_bytes(&ds, "inf", inf, sizeof(inf)), RC_DATA);
    ck_assert(data_kit_said("row 2, column 1: infinite, or too large"));
    ck_assert_int_eq(open_bytes(&ds, "large", large, sizeof(large)), RC_DATA);
    ck_assert(data_kit_said("row 1, column 1: infinite, or too large"));
}
END_TEST

/* The data set of the examples, from the source tree. */
START_TEST(digits)
{
    static const struct {
        const char *split;
        int64_t rows, sum;
        int first_labels[3];
    } cases[] = {{"train", 1437, 449372, {0, 1, 2}}, {"test", 360, 112346, {2, 3, 4}}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct dataset ds;
        struct str x, y;
        const char *srcdir = getenv("srcdir");
        str_init(&x);
        str_init(&y);
        str_printf(&x, "%s/data/digits-%s-images.idx.gz", srcdir ? srcdir : ".", cases[i].split);
        str_printf(&y, "%s/data/digits-%s-labels.idx.gz", srcdir ? srcdir : ".", cases[i].split);
        ck_assert_int_eq(data_kit_open_arrays(&ds, "idx", x.text, y.text, DATASET_CLASSES), RC_OK);
        ck_assert_int_eq(dataset_check_classes(&ds, 10, -1, &data_kit_diag), RC_OK);
        ck_assert(ds.rows == cases[i].rows && ds.columns == 64 && ds.dtype == DTYPE_U8);
        int64_t sum = 0;
        for (int64_t k = 0; k < ds.rows * ds.columns; k++) {
            ck_assert(((uint8_t *)ds.inputs)[k] <= 16);
            sum += ((uint8_t *)ds.inputs)[k];
        }
        ck_assert_int_eq(sum, cases[i].sum);
        for (int k = 0; k < 3; k++)
            ck_assert_int_eq(ds.classes[k], cases[i].first_labels[k]);
        dataset_release(&ds);
        str_release(&x);
        str_release(&y);
    }
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, good_samples);
    tcase_add_test(tc, every_element_type);
    tcase_add_test(tc, shapes);
    tcase_add_test(tc, names_do_not_matter);
    tcase_add_test(tc, hostile_headers);
    tcase_add_test(tc, bomb);
    tcase_add_test(tc, cut_gzip);
    tcase_add_test(tc, gzip_members);
    tcase_add_test(tc, targets);
    tcase_add_test(tc, not_finite);
    tcase_add_test(tc, digits);
}

int main(void)
{
    return data_kit_run("reader_idx", add);
}
