/* test_reader_csv.c: delimited text: B10, B28, B30, B31. */
#include "config.h"

#include "data_kit.h"

#include <stdio.h>
#include <string.h>

static struct csv_attrs attrs; /* of the next open */

static struct key_list texts(int n, const char *const *at)
{
    return (struct key_list){n, at};
}

#define LIST(...)                                                                                  \
    texts((int)COUNT_OF(((const char *const[]){__VA_ARGS__})), (const char *const[]){__VA_ARGS__})

static enum rc open_bytes(struct dataset *ds, enum dataset_target target, const char *text,
                          size_t n)
{
    attrs.file = data_kit_write("x.csv", text, n);
    return data_kit_open(ds, "csv", &attrs, target);
}

static enum rc open_text(struct dataset *ds, enum dataset_target target, const char *text)
{
    return open_bytes(ds, target, text, strlen(text));
}

/* Opens, and compares the inputs, row by row. */
static void check_inputs(const char *text, enum dataset_target target, int64_t rows,
                         int64_t columns, const float *want)
{
    struct dataset ds;
    ck_assert_int_eq(open_text(&ds, target, text), RC_OK);
    ck_assert_int_eq(ds.rows, rows);
    ck_assert_int_eq(ds.columns, columns);
    for (int64_t i = 0; i < rows * columns; i++)
        ck_assert(data_kit_input(&ds, i) == want[i]);
    dataset_release(&ds);
}

static void check_refused(enum dataset_target target, const char *text, const char *words)
{
    struct dataset ds;
    ck_assert_int_eq(open_text(&ds, target, text), RC_DATA);
    ck_assert(data_kit_said(words));
}

START_TEST(columns_and_targets)
{
    struct dataset ds;
    static const char text[] = "a,b,c\n1,2,0\n3,4,1\n";
    ck_assert_int_eq(open_text(&ds, DATASET_CLASSES, text), RC_OK);
    ck_assert(ds.rows == 2 && ds.columns == 2 && ds.first_line == 2 && ds.rank == 1);
    ck_assert(ds.classes[0] == 0 && ds.classes[1] == 1);
    ck_assert_str_eq(ds.column_names[1], "b");
    dataset_release(&ds);
    attrs.target = LIST("b", "1");
    ck_assert_int_eq(open_text(&ds, DATASET_VALUES, text), RC_OK);
    ck_assert(ds.columns == 1 && ds.target_columns == 2 && data_kit_input(&ds, 1) == 1);
    ck_assert(ds.values[0] == 2 && ds.values[1] == 1 && ds.values[2] == 4 && ds.values[3] == 3);
    dataset_release(&ds);
    attrs.target = LIST("a");
    attrs.features = LIST("c", "b");
    ck_assert_int_eq(open_text(&ds, DATASET_CLASSES, text), RC_OK);
    ck_assert(data_kit_input(&ds, 0) == 0 && data_kit_input(&ds, 1) == 2 && ds.classes[1] == 3);
    dataset_release(&ds);
    attrs.features = LIST("c", "a");
    ck_assert_int_eq(open_text(&ds, DATASET_CLASSES, text), RC_CONFIG);
    ck_assert(data_kit_said("column 1 is used twice"));
    attrs.features = LIST("labl");
    ck_assert_int_eq(open_text(&ds, DATASET_CLASSES, "label,a\n1,2\n"), RC_CONFIG);
    ck_assert(data_kit_said("no column \"labl\""));
    ck_assert(data_kit_said("did you mean \"label\"?"));
    attrs.features = LIST("2");
    attrs.target = LIST("4");
    ck_assert_int_eq(open_text(&ds, DATASET_CLASSES, "1,2,0\n"), RC_CONFIG);
    ck_assert(data_kit_said("no column \"4\""));
}
END_TEST

/* The columns that are not used may hold anything. */
START_TEST(unused_columns)
{
    static const float want[] = {1, 2};
    attrs.features = LIST("x");
    attrs.target = LIST("label");
    check_inputs("id,x,label\nfoo,1,0\n?,2,1\n", DATASET_CLASSES, 2, 1, want);
}
END_TEST

START_TEST(delimiters)
{
    static const float want[] = {1, 2.5f, 3, 4, 5, 6};
    check_inputs("1,2.5,3\n4,5,6", DATASET_NO_TARGET, 2, 3, want);
    check_inputs("1\t2.5\t3\n4\t5\t6\n", DATASET_NO_TARGET, 2, 3, want);
    check_inputs("1;2.5;3\r\n4;5;6\r\n", DATASET_NO_TARGET, 2, 3, want);
    check_inputs("1 2.5  3\n 4   5 6 \n", DATASET_NO_TARGET, 2, 3, want);
    attrs.delimiter = CSV_SPACE;
    check_inputs(" 1\t2.5 \t3 \n4 5\t\t6\t\n", DATASET_NO_TARGET, 2, 3, want);
    attrs.delimiter = CSV_COMMA;
    check_refused(DATASET_NO_TARGET, "1;2\n1;2\n", "\"1;2\" is not a number");
    attrs.delimiter = CSV_AUTO;
    check_refused(DATASET_NO_TARGET, "1,5;2\n", "\"1,5\" is not a number"); /* decimal comma */
    check_refused(DATASET_NO_TARGET, "1\t\t2\n", "x.csv:1:3: error: column 2: \"\" is missing");
}
END_TEST

START_TEST(headers)
{
    static const float want[] = {1, 2};
    check_inputs("1\n2\n", DATASET_NO_TARGET, 2, 1, want);
    check_inputs("x\n1\n2\n", DATASET_NO_TARGET, 2, 1, want);
    attrs.header = CSV_HEADER_YES;
    check_inputs("7\n1\n2\n", DATASET_NO_TARGET, 2, 1, want);
    check_refused(DATASET_NO_TARGET, "2,64,a,b\n1,2\n", "has 2 fields, the lines before it 4");
    check_refused(DATASET_NO_TARGET, "a,b\n", "holds no data");
    attrs.header = CSV_HEADER_NO;
    check_refused(DATASET_NO_TARGET, "x\n1\n", "\"x\" is not a number");
    attrs.skip_lines = 2;
    check_inputs("\"about\n2,64,a,b\n1\n2\n", DATASET_NO_TARGET, 2, 1, want);
    check_refused(DATASET_NO_TARGET, "1\n", "has 1 lines only");
    check_refused(DATASET_NO_TARGET, "1\n2\n", "holds no data");
    attrs.skip_lines = 0;
    check_refused(DATASET_NO_TARGET, "", "holds no data");
    check_refused(DATASET_NO_TARGET, "\n\n", "holds no data");
}
END_TEST

START_TEST(quotes)
{
    struct dataset ds;
    ck_assert_int_eq(open_text(&ds, DATASET_CLASSES,
                               "\"x \"\"1\"\"\",\"la,bel\"\r\n"
                               "\"1\" , \"a, b\"\r\n2,\"c\nd\"\r\n3,\"\"\"\"\r\n"),
                     RC_OK);
    ck_assert_int_eq(ds.rows, 3);
    ck_assert_str_eq(ds.column_names[0], "x \"1\"");
    ck_assert_int_eq(ds.n_class_names, 3);
    ck_assert_str_eq(ds.class_names[0], "\"");
    ck_assert_str_eq(ds.class_names[1], "a, b");
    ck_assert_str_eq(ds.class_names[2], "c\nd");
    ck_assert(ds.classes[0] == 1 && ds.classes[1] == 2 && ds.classes[2] == 0);
    ck_assert(ds.origin[0] == 2 && ds.origin[1] == 3 && ds.origin[2] == 5);
    dataset_release(&ds);
    check_refused(DATASET_NO_TARGET, "1,2\n3,4\"5\n", "x.csv:2:3: error: a quote");
    check_refused(DATASET_NO_TARGET, "1,2\n3,\"4\n5,6\n", "x.csv:2:3: error: a quote");
    check_refused(DATASET_NO_TARGET, "1,2\n\"3\"x,4\n", "x.csv:2:4: error: a quote");
}
END_TEST

/* B30 */
START_TEST(byte_order_mark)
{
    static const float want[] = {1, 2}, table[] = {1, 0, 2, 1};
    attrs.target = LIST("label");
    attrs.features = LIST("x");
    check_inputs("\xEF\xBB\xBFx,label\n1,0\n2,1\n", DATASET_CLASSES, 2, 1, want);
    attrs.target = attrs.features = (struct key_list){0};
    check_inputs("\xEF\xBB\xBF"
                 "1,0\n2,1\n",
                 DATASET_NO_TARGET, 2, 2, table);
    check_refused(DATASET_NO_TARGET,
                  "1,0\n\xEF\xBB\xBF"
                  "2,1\n",
                  "x.csv:2:1: error: column 1");
    check_refused(DATASET_NO_TARGET,
                  "\xEF\xBB\xBF\xEF\xBB\xBF"
                  "2,1\n",
                  "x.csv:1:1: error");
    check_refused(DATASET_CLASSES,
                  "1,a\n2,\xEF\xBB\xBF"
                  "a\n",
                  "not plain UTF-8");
    check_refused(DATASET_NO_TARGET, "\xEF\xBB\xBF\xEF\xBB\xBFx,y\n2,1\n", "not plain UTF-8");
}
END_TEST

/* B31 */
START_TEST(bad_cells)
{
    static const struct {
        const char *row, *words;
    } cases[] = {
        {"6,,2", ":2:3: error: column 2: \"\" is missing"},
        {"6, ,2", "column 2: \"\" is missing"},
        {"6,?,2", ":2:3: error: column 2: \"?\" is not a number"},
        {"6,nan,2", ":2:3: error: column 2: \"nan\" is not a number"},
        {"6,.nan,2", "is not a number"},
        {"6,inf,2", ":2:3: error: column 2: \"inf\" is not a number"},
        {"6,-.inf,2", "is not a number"},
        {"6,1e400,2", "is too large: numbers are within +-3.40282347e+38 (FP32)"},
        {"6,-1e39,2", "is too large"},
        {"6,3.4028236e38,2", "is too large"},
        {"6,0x10,2", "\"0x10\" is not a number"},
        {"6,1e,2", "\"1e\" is not a number"},
        {"6,1 2,2", "\"1 2\" is not a number"},
        {"6,.,2", "\".\" is not a number"},
        {"6,+,2", "\"+\" is not a number"},
        {"6,1.2.3,2", "\"1.2.3\" is not a number"},
        {"6,12345678901.,2x", "column 3: \"2x\""},
        {"6,2", ":2: error: has 2 fields, the lines before it 3"},
        {"6,1,2,9", ":2: error: has 4 fields, the lines before it 3"},
        {"6,1,", "column 3: \"\" is missing"},
        {"", ":2: error: is blank"},
        {"6,1,\xC3\xA4", "column 3: \"\?\?\" is not a number"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[128];
        snprintf(text, sizeof(text), "1,2,3\n%s\n4,5,6\n", cases[i].row);
        check_refused(DATASET_NO_TARGET, text, cases[i].words);
        ck_assert_int_eq(data_kit_diag.n_errors, 1);
    }
    struct dataset ds;
    ck_assert_int_eq(open_bytes(&ds, DATASET_NO_TARGET,
                                "1,2\n3,\0"
                                "4\n",
                                9),
                     RC_DATA);
    ck_assert(data_kit_said(":2: error: holds a NUL byte"));
    static const float want[] = {1, 2, .5f};
    check_inputs(" 1 , +2,.5\n\n \n", DATASET_NO_TARGET, 1, 3, want);
}
END_TEST

/* All problems in one go, up to the limit. */
START_TEST(many_bad_cells)
{
    struct dataset ds;
    check_refused(DATASET_NO_TARGET, "1,2\n?,!\n3,x\n4\n", "x.csv:4: error: has 1 fields");
    ck_assert_int_eq(data_kit_diag.n_errors, 4);
    struct str text;
    str_init(&text);
    str_puts(&text, "1\n");
    for (int i = 0; i < 100000; i++)
        str_puts(&text, "?\n");
    ck_assert_int_eq(open_text(&ds, DATASET_NO_TARGET, text.text), RC_DATA);
    ck_assert_int_eq(data_kit_diag.n_errors, DIAG_MAX_ERRORS);
    str_release(&text);
}
END_TEST

/* Text to FP32 is rounded once, also where FP64 in between would round twice. */
START_TEST(numbers_are_exact)
{
    static const float want[] = {0.1f,        3.14159f,      -0.0078125f, 16777216, 9999999,
                                 1234567e-7f, 0x1.000002p0f, 0x1p-149f,   0,        3.40282347e38f};
    check_inputs("0.1\n3.14159\n-.0078125\n16777217\n9999999\n.1234567\n"
                 /* just above the middle of 1 and its successor, by less than FP64 can see */
                 "1.000000059604644775390625000000000001\n"
                 "1e-45\n1e-46\n3.40282347e+38\n",
                 DATASET_NO_TARGET, 10, 1, want);
}
END_TEST

/* B10, the part of it that a reader sees; test_dataset.c has the rest. */
START_TEST(class_numbers)
{
    struct dataset ds;
    ck_assert_int_eq(open_text(&ds, DATASET_CLASSES, "1,0\n1,-1\n1,4294967296\n"), RC_OK);
    ck_assert(ds.classes[0] == 0 && ds.classes[1] == -1 && ds.classes[2] == 4294967296);
    ck_assert_int_eq(ds.n_class_names, 0);
    ck_assert_int_eq(dataset_check_classes(&ds, 3, -1, &data_kit_diag), RC_DATA);
    ck_assert(data_kit_said("x.csv:2: error: class -1 is outside the allowed range 0..2"));
    ck_assert(data_kit_said("x.csv:3: error: class 4294967296 is outside the allowed range 0..2"));
    dataset_release(&ds);
    check_refused(DATASET_CLASSES, "1,0\n1,1.5\n", "x.csv:2:3: error: class label \"1.5\"");
    check_refused(DATASET_CLASSES, "1,0\n1,7abc\n", "x.csv:2:3: error: class label \"7abc\"");
    check_refused(DATASET_CLASSES, "1,0\n1,99999999999999999999\n", "not a plain integer");
    check_refused(DATASET_CLASSES, "1,0\n1,\n", "x.csv:2:3: error: the label is missing");
    check_refused(DATASET_CLASSES, "1,7abc\n1,0\n", "the label in line 1 is text");
}
END_TEST

START_TEST(class_texts)
{
    struct dataset ds;
    ck_assert_int_eq(open_text(&ds, DATASET_CLASSES, "1,versicolor\n2,setosa\n3,versicolor\n"),
                     RC_OK);
    ck_assert_int_eq(ds.n_class_names, 2);
    ck_assert_str_eq(ds.class_names[0], "setosa");
    ck_assert(ds.classes[0] == 1 && ds.classes[1] == 0 && ds.classes[2] == 1);

    /* another split takes the numbers of the training set */
    struct dataset test;
    struct section split = data_kit_section("csv", &attrs);
    struct dataset_want want = {.target = DATASET_CLASSES,
                                .n_class_names = ds.n_class_names,
                                .class_names = ds.class_names};
    attrs.file = data_kit_write("t.csv", "1,versicolor\n", 13);
    ck_assert_int_eq(
        dataset_open(&test, dataset_reader("csv"), "test", &split, &want, &data_kit_diag), RC_OK);
    ck_assert(test.classes[0] == 1 && test.n_class_names == 2);
    ck_assert_str_eq(test.class_names[1], "versicolor");
    dataset_release(&test);
    attrs.file = data_kit_write("t.csv", "1,setosa\n2,setosi\n", 18);
    ck_assert_int_eq(
        dataset_open(&test, dataset_reader("csv"), "test", &split, &want, &data_kit_diag), RC_DATA);
    ck_assert(data_kit_said("t.csv:2:3: error: label \"setosi\" is not one of the 2"));
    ck_assert(data_kit_said("did you mean \"setosa\"?"));
    dataset_release(&ds);
}
END_TEST

/* More texts than the first hash table holds, in an order that is not theirs. */
START_TEST(many_class_texts)
{
    enum { N = 1000 };
    struct dataset ds;
    struct str text;
    str_init(&text);
    for (int i = 0; i < N; i++)
        str_printf(&text, "%d,label%03d\n", i * 7 % N, i * 7 % N);
    ck_assert_int_eq(open_text(&ds, DATASET_CLASSES, text.text), RC_OK);
    ck_assert_int_eq(ds.n_class_names, N);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(ds.classes[i], i * 7 % N);
    dataset_release(&ds);
    str_release(&text);
}
END_TEST

/* Records that cross the edges of the buffer, and one far longer than it. */
START_TEST(long_lines)
{
    enum { COLUMNS = 100000, ROWS = 3, MIB = 1 << 20 };
    struct dataset ds;
    struct str text;
    str_init(&text);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            str_printf(&text, "%d%c", c % 1000 + r, c + 1 < COLUMNS ? ',' : '\n');
    ck_assert_int_eq(open_text(&ds, DATASET_NO_TARGET, text.text), RC_OK);
    ck_assert_int_eq(ds.columns, COLUMNS);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        ck_assert(data_kit_input(&ds, i) == (float)(i % COLUMNS % 1000 + i / COLUMNS));
    dataset_release(&ds);
    str_clear(&text);
    static char ones[MIB];
    memset(ones, '1', MIB);
    str_puts(&text, "\""); /* never closed */
    for (int i = 0; i < 17; i++)
        str_append(&text, ones, MIB);
    check_refused(DATASET_NO_TARGET, text.text, "a line of more than 16 MiB");
    str_release(&text);
}
END_TEST

/* B28: a cut CSV would be a valid, shorter CSV; its gzip frame tells. */
START_TEST(cut_gzip)
{
    static const char text[] = "x,y\n1,2\n3,4\n5,6\n";
    unsigned char packed[200];
    size_t n = data_kit_gzip(text, sizeof(text) - 1, packed, sizeof(packed));
    struct dataset ds;
    for (size_t cut = 0; cut < n; cut++) {
        attrs.file = data_kit_write("x.csv.gz", packed, cut);
        ck_assert_int_eq(data_kit_open(&ds, "csv", &attrs, DATASET_NO_TARGET), RC_DATA);
        ck_assert(data_kit_said("x.csv.gz:"));
    }
    for (size_t i = n - 8; i < n; i++) {
        packed[i] ^= 0x80;
        attrs.file = data_kit_write("x.csv.gz", packed, n);
        ck_assert_int_eq(data_kit_open(&ds, "csv", &attrs, DATASET_NO_TARGET), RC_DATA);
        ck_assert(data_kit_said("x.csv.gz: error: its gzip data is damaged"));
        packed[i] ^= 0x80;
    }
    attrs.file = data_kit_write("x.csv.gz", packed, n);
    ck_assert_int_eq(data_kit_open(&ds, "csv", &attrs, DATASET_NO_TARGET), RC_OK);
    ck_assert_int_eq(ds.rows, 3);
    dataset_release(&ds);
}
END_TEST

/* predict: the file may have the targets or not. */
START_TEST(inputs_only)
{
    static const struct {
        const char *text;
        int64_t columns;
    } cases[] = {{"x,y,label\n1,2,0\n", 2}, {"x,y\n1,2\n", 2}, {"1,2\n", 2}};
    struct section split = data_kit_section("csv", &attrs);
    attrs.target = LIST("label");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct dataset ds;
        const char *path = data_kit_write("p.csv", cases[i].text, strlen(cases[i].text));
        diag_init(&data_kit_diag);
        ck_assert_int_eq(
            dataset_open_inputs(&ds, dataset_reader("csv"), path, &split, &data_kit_diag), RC_OK);
        ck_assert(ds.columns == cases[i].columns && ds.target == DATASET_NO_TARGET);
        ck_assert(data_kit_input(&ds, 0) == 1 && data_kit_input(&ds, 1) == 2);
        dataset_release(&ds);
    }
}
END_TEST

static void reset(void)
{
    memset(&attrs, 0, sizeof(attrs));
}

static void add(TCase *tc)
{
    tcase_add_checked_fixture(tc, reset, NULL);
    tcase_add_test(tc, columns_and_targets);
    tcase_add_test(tc, unused_columns);
    tcase_add_test(tc, delimiters);
    tcase_add_test(tc, headers);
    tcase_add_test(tc, quotes);
    tcase_add_test(tc, byte_order_mark);
    tcase_add_test(tc, bad_cells);
    tcase_add_test(tc, many_bad_cells);
    tcase_add_test(tc, numbers_are_exact);
    tcase_add_test(tc, class_numbers);
    tcase_add_test(tc, class_texts);
    tcase_add_test(tc, many_class_texts);
    tcase_add_test(tc, long_lines);
    tcase_add_test(tc, cut_gzip);
    tcase_add_test(tc, inputs_only);
}

int main(void)
{
    return data_kit_run("reader_csv", add);
}
