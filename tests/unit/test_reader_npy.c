/* test_reader_npy.c: NumPy files: B27, B29. */
#include "config.h"

#include "data_kit.h"

#include <stdio.h>
#include <string.h>

/* A file of the given version, header text and payload. */
static size_t make(unsigned char out[1024], int version, const char *header, const void *payload,
                   size_t n)
{
    size_t length = strlen(header), at = 0;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (unsigned char)version;
    out[7] = 0;
    out[8] = (unsigned char)length;
    out[9] = (unsigned char)(length >> 8);
    out[10] = out[11] = 0;
    at = version == 1 ? 10 : 12;
    memcpy(out + at, header, length);
    if (n)
        memcpy(out + at + length, payload, n);
    return at + length + n;
}

static enum rc open_npy(struct dataset *ds, int version, const char *header, const void *payload,
                        size_t n)
{
    unsigned char file[1024];
    size_t size = make(file, version, header, payload, n);
    return data_kit_open_arrays(ds, "npy", data_kit_write("x.npy", file, size), "",
                                DATASET_NO_TARGET);
}

static void check_inputs(struct dataset *ds, int64_t rows, int64_t columns, const float *want)
{
    ck_assert_int_eq(ds->rows, rows);
    ck_assert_int_eq(ds->columns, columns);
    for (int64_t i = 0; i < rows * columns; i++)
        ck_assert(data_kit_input(ds, i) == want[i]);
    dataset_release(ds);
}

/* B29 */
START_TEST(fortran_order)
{
    static const char *const headers[] = {
        "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n",
        "{'shape': (2, 3), 'fortran_order': True, 'descr': '<f4'}",
        "{  'fortran_order' :  True  , 'descr':\t'<f4' , 'shape': ( 2 , 3 , ) , }   \n",
        "{\"descr\": \"<f4\", \"fortran_order\": True, \"shape\": (2, 3)}\n",
        "{'descr':'<f4','fortran_order':True,'shape':(2,3)}",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (2L, 3L), }\n",
    };
    static const float payload[] = {1, 4, 2, 5, 3, 6}, want[] = {1, 2, 3, 4, 5, 6};
    struct dataset ds;
    for (size_t i = 0; i < COUNT_OF(headers); i++)
        for (int version = 1; version <= 3; version++) {
            ck_assert_int_eq(open_npy(&ds, version, headers[i], payload, sizeof(payload)), RC_OK);
            check_inputs(&ds, 2, 3, want);
        }
    static const float square[] = {1, 3, 2, 4};
    ck_assert_int_eq(open_npy(&ds, 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}",
                              square, sizeof(square)),
                     RC_OK);
    check_inputs(&ds, 2, 2, want);
    ck_assert_int_eq(open_npy(&ds, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}",
                              square, sizeof(square)),
                     RC_OK);
    check_inputs(&ds, 2, 2, square);
}
END_TEST

START_TEST(fortran_order_of_images)
{
    /* element (n, h, w) = 100 n + 10 h + w, of shape (2, 2, 3), first index fastest */
    uint8_t payload[12];
    float want[12];
    int i = 0;
    for (int w = 0; w < 3; w++)
        for (int h = 0; h < 2; h++)
            for (int n = 0; n < 2; n++)
                payload[i++] = (uint8_t)(100 * n + 10 * h + w);
    i = 0;
    for (int n = 0; n < 2; n++)
        for (int h = 0; h < 2; h++)
            for (int w = 0; w < 3; w++)
                want[i++] = (float)(100 * n + 10 * h + w);
    struct dataset ds;
    ck_assert_int_eq(open_npy(&ds, 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 3)}",
                              payload, sizeof(payload)),
                     RC_OK);
    ck_assert_int_eq(ds.dtype, DTYPE_U8);
    ck_assert(ds.rank == 2 && ds.dims[0] == 2 && ds.dims[1] == 3);
    check_inputs(&ds, 2, 6, want);
}
END_TEST

START_TEST(every_type)
{
    static const struct {
        const char *descr;
        size_t n;
        unsigned char bytes[8];
        float value;
    } cases[] = {
        {"<f4", 4, {0, 0, 0x20, 0xC0}, -2.5f},
        {">f4", 4, {0xC0, 0x20, 0, 0}, -2.5f},
        {"<f8", 8, {0x9A, 0x99, 0x99, 0x99, 0x99, 0x99, 0xB9, 0x3F}, 0.1f},
        {">f8", 8, {0x3F, 0xB9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9A}, 0.1f},
        {"<f2", 2, {0x00, 0x3C}, 1},
        {">f2", 2, {0x3C, 0x00}, 1},
        {"<f2", 2, {0xFF, 0x7B}, 65504},
        {"<f2", 2, {0x01, 0x80}, -0x1p-24f},
        {"<f2", 2, {0xFF, 0x03}, 1023 * 0x1p-24f},
        {"|u1", 1, {0xFF}, 255},
        {"|i1", 1, {0xFF}, -1},
        {"<i2", 2, {0x00, 0xFF}, -256},
        {">i2", 2, {0xFF, 0x00}, -256},
        {"<u2", 2, {0x00, 0xFF}, 65280},
        {"<i4", 4, {2, 0, 1, 0}, 65538},
        {">i4", 4, {0, 1, 0, 2}, 65538},
        {"<u4", 4, {0, 0, 0, 0x80}, 2147483648.0f},
        {"<i8", 8, {0, 0, 0, 0, 0, 1, 0, 0}, 1099511627776.0f},
        {">i8", 8, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE}, -2},
        {"|b1", 1, {1}, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char header[100];
        snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': (1,)}\n",
                 cases[i].descr);
        struct dataset ds;
        ck_assert_int_eq(open_npy(&ds, 1, header, cases[i].bytes, cases[i].n), RC_OK);
        check_inputs(&ds, 1, 1, &cases[i].value);
    }
}
END_TEST

START_TEST(refused)
{
    static const struct {
        const char *header, *words;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 3)}", "its shape is none"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()}", "shape ()"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4)}", "no data"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 0)}", "no data"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3)}", "its shape is none"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1)}", "its shape is none"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
         "its shape is none"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
         "impossible size"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,)}", "is cut off"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "is cut off"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", "a comma or }"},
        {"{'descr': '<f4', 'fortran_order': Falsy, 'shape': (1,)}", "neither True nor False"},
        {"{'descr': '<f4', 'shape': (1,)}", "is missing"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "twice"},
        {"{'dtype': '<f4', 'fortran_order': False, 'shape': (1,)}", "unknown key"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} + x", "text behind"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "'|O'"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "'<c8'"},
        {"{'descr': '|f4', 'fortran_order': False, 'shape': (1,)}", "'|f4'"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "plain array"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (1,)}", "longer than"},
        {"", "no {"},
    };
    static const float one = 1;
    data_kit_cap_memory();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct dataset ds;
        ck_assert_int_eq(open_npy(&ds, 1, cases[i].header, &one, sizeof(one)), RC_DATA);
        ck_assert(data_kit_said(cases[i].words));
        ck_assert(data_kit_said("x.npy: error: "));
    }
}
END_TEST

START_TEST(broken_frames)
{
    struct dataset ds;
    static const unsigned char long_header[] = {0x93, 'N',  'U',  'M',  'P',  'Y', 2,
                                                0,    0xF0, 0xFF, 0xFF, 0xFF, '{'};
    static const unsigned char version_4[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 4, 0, 0, 0};
    data_kit_cap_memory();
    const char *path = data_kit_write("x", long_header, sizeof(long_header));
    ck_assert_int_eq(data_kit_open_arrays(&ds, "npy", path, "", DATASET_NO_TARGET), RC_DATA);
    ck_assert(data_kit_said("header of 4294967280 bytes"));
    path = data_kit_write("x", version_4, sizeof(version_4));
    ck_assert_int_eq(data_kit_open_arrays(&ds, "npy", path, "", DATASET_NO_TARGET), RC_DATA);
    ck_assert(data_kit_said("version 4.0"));
    path = data_kit_write("x", "PK\3", 3);
    ck_assert_int_eq(data_kit_open_arrays(&ds, "npy", path, "", DATASET_NO_TARGET), RC_DATA);
    ck_assert(data_kit_said("not a .npy file: it starts with 50 4B 03,"));
    path = data_kit_write("x", "", 0);
    ck_assert_int_eq(data_kit_open_arrays(&ds, "npy", path, "", DATASET_NO_TARGET), RC_DATA);
    ck_assert(data_kit_said("empty"));
}
END_TEST

/* Every cut of a good file, plain and packed, is an error. */
START_TEST(cut)
{
    static const int32_t payload[] = {7, 8};
    unsigned char file[1024], packed[1024];
    size_t n = make(file, 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,)}\n", payload,
                    sizeof(payload));
    size_t n_packed = data_kit_gzip(file, n, packed, sizeof(packed));
    struct dataset ds;
    for (size_t i = 0; i <= n; i++) {
        const char *path = data_kit_write("p", file, i);
        enum rc rc = data_kit_open_arrays(&ds, "npy", path, path, DATASET_CLASSES);
        ck_assert_int_eq(rc, i < n ? RC_DATA : RC_OK);
    }
    ck_assert(ds.classes[0] == 7 && ds.classes[1] == 8);
    dataset_release(&ds);
    for (size_t i = 0; i <= n_packed; i++) {
        const char *path = data_kit_write("p", packed, i);
        enum rc rc = data_kit_open_arrays(&ds, "npy", path, path, DATASET_VALUES);
        ck_assert_int_eq(rc, i < n_packed ? RC_DATA : RC_OK);
    }
    ck_assert(ds.values[0] == 7 && ds.values[1] == 8);
    dataset_release(&ds);
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, fortran_order);
    tcase_add_test(tc, fortran_order_of_images);
    tcase_add_test(tc, every_type);
    tcase_add_test(tc, refused);
    tcase_add_test(tc, broken_frames);
    tcase_add_test(tc, cut);
}

int main(void)
{
    return data_kit_run("reader_npy", add);
}
