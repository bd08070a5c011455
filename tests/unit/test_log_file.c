/* test_log_file.c: records go to log.jsonl and come back the same; strict JSON whatever they hold;
 * whole lines only; failing writes are told once. */
#include "config.h"

#include "log/log_file.h"
#include "log/log_text.h"

#include <check.h>
#include <fcntl.h>
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];
static struct diag d;

static void setup(void)
{
    strcpy(path, "/tmp/test_log_file-XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    diag_init(&d);
}

static void teardown(void)
{
    unlink(path);
}

static void put_file(const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

static char *get_file(void)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    return text;
}

/* A record of the type with a value of its own in each field. */
static struct record full(enum record_type type)
{
    static const char *const texts[] = {"plain", "", "a\"b\\c\n\t\x01", "\xC3\xA9\xE2\x82\xAC"};
    struct record r = {.type = type};
    int64_t n = 1;
    for (const struct record_field *f = record_fields; f->name; f++, n++) {
        char *at = (char *)&r + f->offset;
        if (f->type == FIELD_INT)
            *(int64_t *)(void *)at = (n % 2 ? 1 : -1) * (INT64_MAX - n);
        else if (f->type == FIELD_FLOAT)
            *(double *)(void *)at = 1.0 / (double)n;
        else if (f->type == FIELD_BOOL)
            *(bool *)at = n % 2;
        else
            *(const char **)(void *)at = texts[n % 4];
    }
    r.has_accuracy = true;
    return r;
}

static bool same_field(const struct record *a, const struct record *b, const struct record_field *f)
{
    const void *x = (const char *)a + f->offset, *y = (const char *)b + f->offset;
    if (f->type == FIELD_BOOL)
        return *(const bool *)x == *(const bool *)y;
    if (f->type != FIELD_TEXT)
        return memcmp(x, y, 8) == 0;
    const char *s = *(const char *const *)x, *t = *(const char *const *)y;
    return s && t && strcmp(s, t) == 0;
}

START_TEST(every_field_of_every_type)
{
    struct log_file l;
    struct log_records back;
    ck_assert_int_eq(log_file_open(&l, path, &d), RC_OK);
    for (int t = 0; t < RECORD_COUNT; t++) {
        struct record r = full((enum record_type)t);
        ck_assert_int_eq(log_file_write(&l, &r, &d), RC_OK);
    }
    ck_assert_int_eq(log_file_close(&l, &d), RC_OK);
    ck_assert_int_eq(log_file_read(&back, path, &d), RC_OK);
    ck_assert_int_eq(back.n, RECORD_COUNT);
    for (int t = 0; t < RECORD_COUNT; t++) {
        struct record r = full((enum record_type)t);
        ck_assert_int_eq(back.at[t].type, t);
        for (const struct record_field *f = record_fields; f->name; f++)
            if (f->types & 1u << t)
                ck_assert_msg(same_field(&r, &back.at[t], f), "%s.%s", record_types[t].name,
                              f->name);
    }
    ck_assert(back.at[RECORD_EVAL].has_accuracy);
    ck_assert(!back.at[RECORD_STEP].has_accuracy);
    log_records_release(&back);
}
END_TEST

static char line[1 << 14];

static const char *line_of(const struct record *r)
{
    struct str s;
    str_init(&s);
    log_text_line(&s, r);
    ck_assert(!s.failed && s.length < sizeof(line));
    strcpy(line, s.text);
    str_release(&s);
    return line;
}

START_TEST(line_text)
{
    struct record r = {.type = RECORD_OVERFLOW,
                       .segment = 1,
                       .step = 2,
                       .loss_scale = 65536,
                       .tensor = "d_fc1",
                       .node = "fc1\"\n",
                       .kind = "inf",
                       .count = 1,
                       .max_finite = 1e-8};
    ck_assert_str_eq(line_of(&r), "{\"type\":\"overflow\",\"segment\":1,\"step\":2,"
                                  "\"loss_scale\":65536,\"node\":\"fc1\\\"\\n\","
                                  "\"tensor\":\"d_fc1\",\"kind\":\"inf\",\"count\":1,"
                                  "\"max_finite\":1e-08,\"micro_batch\":0}\n");
}
END_TEST

/* Through the text and back through Jansson: the same bits. */
static double there_and_back(double x)
{
    struct record r = {.type = RECORD_SCALE, .old_scale = x};
    json_error_t error;
    json_t *map = json_loads(line_of(&r), 0, &error);
    ck_assert_msg(map != NULL, "%s: %s", line, error.text);
    double back = json_number_value(json_object_get(map, "old"));
    json_decref(map);
    return back;
}

START_TEST(numbers_read_back_exactly)
{
    static const double some[] = {0,        0.1,
                                  1e-8,     65536,
                                  1e15,     1e16,
                                  1e22,     1e23,
                                  0x1p-149, DBL_MIN,
                                  DBL_MAX,  5e-324,
                                  1.0 / 3,  0x1p126,
                                  100000,   123456789012345678.0,
                                  0.1f,     1.0 + DBL_EPSILON,
                                  -2.5,     16777216};
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < COUNT_OF(some); i++) {
        ck_assert_double_eq(there_and_back(some[i]), some[i]);
        ck_assert_double_eq(there_and_back(-some[i]), -some[i]);
    }
    for (int i = 0; i < 20000; i++) {
        double x;
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        memcpy(&x, &random, sizeof(x));
        if (i % 2) /* a value that is exact in FP32, as a loss is */
            x = (double)(float)x;
        if (isfinite(x))
            ck_assert_double_eq(there_and_back(x), x);
    }
    there_and_back(0.1);
    ck_assert_ptr_nonnull(strstr(line, "\"old\":0.1,"));
}
END_TEST

/* B39 */
START_TEST(nonfinite)
{
    struct log_file l;
    struct log_records back;
    struct record r = {.type = RECORD_STEP, .loss = INFINITY, .grad_norm = NAN, .lr = -INFINITY};
    ck_assert_ptr_nonnull(strstr(line_of(&r), "\"loss\":null"));
    ck_assert_ptr_nonnull(
        strstr(line, ",\"nonfinite\":{\"loss\":\"inf\",\"lr\":\"-inf\",\"grad_norm\":\"nan\"}}\n"));
    r.grad_norm = -NAN;
    ck_assert_ptr_nonnull(strstr(line_of(&r), "\"grad_norm\":\"nan\""));

    ck_assert_int_eq(log_file_open(&l, path, &d), RC_OK);
    ck_assert_int_eq(log_file_write(&l, &r, &d), RC_OK);
    ck_assert_int_eq(log_file_close(&l, &d), RC_OK);
    ck_assert_int_eq(log_file_read(&back, path, &d), RC_OK);
    ck_assert_double_eq(back.at[0].loss, INFINITY);
    ck_assert_double_eq(back.at[0].lr, -INFINITY);
    ck_assert_double_nan(back.at[0].grad_norm);
    ck_assert_double_eq(back.at[0].step_ms, 0);
    log_records_release(&back);
}
END_TEST

/* Every one-byte text, and bytes that are no UTF-8, give strict JSON. */
START_TEST(any_text)
{
    json_error_t error;
    for (int c = 1; c < 256; c++) {
        char text[] = {'a', (char)c, 'b', '\0'};
        struct record r = {.type = RECORD_END, .reason = text};
        json_t *map = json_loads(line_of(&r), 0, &error);
        ck_assert_msg(map != NULL, "%02x: %s: %s", c, line, error.text);
        const char *back = json_string_value(json_object_get(map, "reason"));
        ck_assert_str_eq(back, c < 0x80 ? text
                                        : "a\xEF\xBF\xBD"
                                          "b");
        ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
        json_decref(map);
    }
}
END_TEST

/* The strictest reader at hand: Python's, with its own NaN and Infinity turned off. */
START_TEST(python_agrees)
{
    if (system("python3 -c 'import json' 2>/dev/null") != 0) {
        fprintf(stderr, "skipped: python_agrees: no python3\n");
        return;
    }
    struct log_file l;
    char command[512];
    ck_assert_int_eq(log_file_open(&l, path, &d), RC_OK);
    for (int t = 0; t < RECORD_COUNT; t++) {
        struct record r = full((enum record_type)t);
        ck_assert_int_eq(log_file_write(&l, &r, &d), RC_OK);
        r.loss = NAN;
        r.loss_scale = INFINITY;
        r.node = "bad \xFF \xC3";
        ck_assert_int_eq(log_file_write(&l, &r, &d), RC_OK);
    }
    ck_assert_int_eq(log_file_close(&l, &d), RC_OK);
    snprintf(command, sizeof(command),
             "python3 -c 'import json, sys\n"
             "def no(x): raise ValueError(x)\n"
             "lines = [json.loads(l, parse_constant=no) for l in open(sys.argv[1], "
             "encoding=\"utf-8\")]\n"
             "assert len(lines) == %d' %s",
             2 * RECORD_COUNT, path);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

static void append_end(const char *reason, enum rc expected)
{
    struct log_file l;
    struct record r = {.type = RECORD_END, .reason = reason};
    ck_assert_int_eq(log_file_open(&l, path, &d), RC_OK);
    ck_assert_int_eq(log_file_write(&l, &r, &d), expected);
    ck_assert_int_eq(log_file_close(&l, &d), expected);
}

/* B40: a kill in mid-write leaves half a line; earlier lines stay. */
START_TEST(half_line_is_cut)
{
    static char long_half[20000];
    char *all;
    put_file("{\"type\":\"end\",\"reason\":\"one\"}\n{\"type\":\"st");
    append_end("two", RC_OK);
    all = get_file();
    ck_assert_ptr_nonnull(strstr(all, "\"one\"}\n{\"type\":\"end\",\"segment\":0"));
    ck_assert_ptr_nonnull(strstr(all, "\"two\""));

    /* longer than what is looked at in one go, and the only line */
    memset(long_half, 'x', sizeof(long_half) - 1);
    put_file(long_half);
    append_end("three", RC_OK);
    ck_assert_int_eq(strncmp(get_file(), "{\"type\":\"end\"", 13), 0);
    long_half[10000] = '\n';
    put_file(long_half);
    append_end("four", RC_OK);
    ck_assert_int_eq(get_file()[10000], '\n');
    ck_assert_int_eq(get_file()[10001], '{');
    put_file("");
    append_end("five", RC_OK);
    ck_assert_int_eq(get_file()[0], '{');
}
END_TEST

/* B40: told once, and not forgotten at the end. */
START_TEST(full_device)
{
    struct log_file l;
    struct record r = {.type = RECORD_STEP};
    if (access("/dev/full", W_OK) != 0) {
        fprintf(stderr, "skipped: full_device: there is none\n");
        return;
    }
    ck_assert_int_eq(log_file_open(&l, "/dev/full", &d), RC_OK);
    ck_assert_int_eq(log_file_write(&l, &r, &d), RC_FAILED);
    ck_assert_int_eq(log_file_write(&l, &r, &d), RC_FAILED);
    ck_assert_int_eq(log_file_close(&l, &d), RC_FAILED);
    ck_assert_int_eq(d.n_errors, 1);
    ck_assert_str_eq(d.items[0].text,
                     "/dev/full: error: cannot write the log: No space left on device");
}
END_TEST

/* The disk is full in mid-line, then has room again: whole lines only, and still a failure. */
START_TEST(full_disk)
{
    struct log_file l;
    struct log_records back;
    struct rlimit all, few;
    struct record r = {.type = RECORD_STEP};
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &all), 0);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(log_file_open(&l, path, &d), RC_OK);
    ck_assert_int_eq(log_file_write(&l, &r, &d), RC_OK);
    size_t length = strlen(get_file());
    few = (struct rlimit){length + length / 2, all.rlim_max};
    /* Check writes a file of its own at each assertion: none under the limit. */
    int limited = setrlimit(RLIMIT_FSIZE, &few);
    enum rc full = log_file_write(&l, &r, &d);
    int unlimited = setrlimit(RLIMIT_FSIZE, &all);
    ck_assert_int_eq(limited | unlimited, 0);
    ck_assert_int_eq(full, RC_FAILED);
    ck_assert_uint_eq(strlen(get_file()), length);
    ck_assert_int_eq(log_file_write(&l, &r, &d), RC_FAILED);
    ck_assert_int_eq(log_file_close(&l, &d), RC_FAILED);
    ck_assert_int_eq(d.n_errors, 1);
    diag_init(&d);
    ck_assert_int_eq(log_file_read(&back, path, &d), RC_OK);
    ck_assert_int_eq(back.n, 2);
    log_records_release(&back);
}
END_TEST

START_TEST(never_opened)
{
    struct log_file l;
    ck_assert_int_eq(log_file_open(&l, "/nowhere/at/all/log.jsonl", &d), RC_FAILED);
    ck_assert_ptr_nonnull(strstr(d.items[0].text, "cannot open the log: No such file"));
    ck_assert_int_eq(l.fd, -1);
    ck_assert_int_eq(log_file_close(&l, &d), RC_FAILED);
}
END_TEST

/* Writing a step must not allocate: the room stays the one taken at the open. */
START_TEST(steps_take_no_memory)
{
    struct log_file l;
    struct record r = full(RECORD_STEP);
    r.loss = r.grad_norm = -INFINITY;
    ck_assert_int_eq(log_file_open(&l, path, &d), RC_OK);
    const char *text = l.line.text;
    size_t room = l.line.room;
    ck_assert_int_eq(log_file_write(&l, &r, &d), RC_OK);
    ck_assert_ptr_eq(l.line.text, text);
    ck_assert_uint_eq(l.line.room, room);
    ck_assert_uint_lt(l.line.length * 4, room);
    ck_assert_int_eq(log_file_close(&l, &d), RC_OK);
}
END_TEST

/* ---- reading ---- */

START_TEST(newer_types_and_fields)
{
    struct log_records back;
    put_file("{\"type\":\"weather\",\"step\":\"sunny\"}\n"
             "{\"type\":\"end\",\"step\":3,\"mood\":[1,{}],\"seconds\":2}\n");
    ck_assert_int_eq(log_file_read(&back, path, &d), RC_OK);
    ck_assert_int_eq(back.n, 1);
    ck_assert_int_eq(back.at[0].step, 3);
    ck_assert_double_eq(back.at[0].seconds, 2);
    log_records_release(&back);
    put_file("");
    ck_assert_int_eq(log_file_read(&back, path, &d), RC_OK);
    ck_assert_int_eq(back.n, 0);
    log_records_release(&back);
    ck_assert_int_eq(d.n_items, 0);
}
END_TEST

START_TEST(unfinished_line)
{
    struct log_records back;
    put_file("{\"type\":\"end\"}\n{\"type\":\"st");
    ck_assert_int_eq(log_file_read(&back, path, &d), RC_OK);
    ck_assert_int_eq(back.n, 1);
    ck_assert_int_eq(d.n_errors, 0);
    ck_assert_ptr_nonnull(strstr(d.items[0].text, ":2: warning: the last line is not whole"));
    log_records_release(&back);
}
END_TEST

static const struct {
    const char *text, *says;
} bad_lines[] = {
    {"{\"type\":\"end\"}\n\n", ":2: error: "},
    {"seed: 1\n", ":1: error: "},
    {"[1]\n", "no log record"},
    {"{}\n", "no log record"},
    {"{\"type\":1}\n", "no log record"},
    {"{\"type\":\"end\",\"step\":\"3\"}\n", ":1: error: 'step' is no integer"},
    {"{\"type\":\"end\",\"step\":3.5}\n", "'step' is no integer"},
    {"{\"type\":\"end\",\"step\":99999999999999999999}\n", ":1: error: "},
    {"{\"type\":\"end\",\"step\":1,\"step\":2}\n", "duplicate"},
    {"{\"type\":\"step\",\"loss\":NaN}\n", ":1: error: "},
    {"{\"type\":\"step\",\"loss\":null}\n", "'loss' is no number"},
    {"{\"type\":\"step\",\"loss\":null,\"nonfinite\":{\"loss\":\"big\"}}\n", "'loss' is no number"},
    {"{\"type\":\"step\",\"loss\":null,\"nonfinite\":[]}\n", "'loss' is no number"},
    {"{\"type\":\"step\",\"committed\":1}\n", "'committed' is neither"},
    {"{\"type\":\"header\",\"cpu\":1}\n", "'cpu' is no text"},
    {"{\"type\":\"header\",\"cpu\":\"a\\u0000b\"}\n", ":1: error: "},
    {"{\"type\":\"header\",\"cpu\":\"\xFF\"}\n", ":1: error: "},
};

START_TEST(bad_line)
{
    struct log_records back;
    put_file(bad_lines[_i].text);
    ck_assert_int_eq(log_file_read(&back, path, &d), RC_DATA);
    ck_assert_int_eq(d.n_errors, 1);
    ck_assert_msg(strstr(d.items[0].text, bad_lines[_i].says) != NULL, "%s", d.items[0].text);
}
END_TEST

START_TEST(unreadable)
{
    struct log_records back;
    ck_assert_int_eq(log_file_read(&back, "/nowhere/log.jsonl", &d), RC_DATA);
    ck_assert_int_eq(log_file_read(&back, "/", &d), RC_DATA);
    ck_assert_int_eq(d.n_errors, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log_file");
    TCase *c = tcase_create("log_file");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, every_field_of_every_type);
    tcase_add_test(c, line_text);
    tcase_add_test(c, numbers_read_back_exactly);
    tcase_add_test(c, nonfinite);
    tcase_add_test(c, any_text);
    tcase_add_test(c, python_agrees);
    tcase_add_test(c, half_line_is_cut);
    tcase_add_test(c, full_device);
    tcase_add_test(c, full_disk);
    tcase_add_test(c, never_opened);
    tcase_add_test(c, steps_take_no_memory);
    tcase_add_test(c, newer_types_and_fields);
    tcase_add_test(c, unfinished_line);
    tcase_add_loop_test(c, bad_line, 0, (int)COUNT_OF(bad_lines));
    tcase_add_test(c, unreadable);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
