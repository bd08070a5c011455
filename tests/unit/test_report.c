/* test_report.c: what a person reads about hand-made logs, word for word. */
#include "config.h"

#include "report/report.h"
#include "report/report_text.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_RUNS = 3 };

static char folders[MAX_RUNS][64];
static struct diag d;

#define HEADER(segment, from, compute)                                                             \
    "{\"type\":\"header\",\"segment\":" segment ",\"version\":\"0.1.0\",\"started\":"              \
    "\"2026-12-01T09:30:59Z\",\"threads\":2,\"isa\":\"amx\",\"parameters\":203530,"                \
    "\"resumed_from\":" from ",\"config\":\"seed: 1\\nprecision:\\n  compute: " compute            \
    "\\n  param_grads: fp32\\nloss_scale:\\n  type: dynamic\\n\"}\n"
#define STEP(step, applied, loss, scale, next, skipped, more)                                      \
    "{\"type\":\"step\",\"step\":" step ",\"applied\":" applied ",\"loss\":" loss                  \
    ",\"loss_scale\":" scale ",\"next_scale\":" next ",\"skipped_total\":" skipped                 \
    ",\"examples\":8,\"step_ms\":" more "}\n"
#define OVERFLOW(step, where, scale)                                                               \
    "{\"type\":\"overflow\",\"step\":" step ",\"where\":\"" where "\",\"node\":\"fc1\","           \
    "\"tensor\":\"d_fc1\",\"kind\":\"inf\",\"count\":3,\"loss_scale\":" scale "}\n"
#define SCALE(step, old, next)                                                                     \
    "{\"type\":\"scale\",\"step\":" step ",\"old\":" old ",\"new\":" next                          \
    ",\"reason\":\"overflow\"}\n"
#define END(step, applied, skipped, code, reason)                                                  \
    "{\"type\":\"end\",\"step\":" step ",\"applied\":" applied ",\"skipped_total\":" skipped       \
    ",\"exit_code\":" code ",\"reason\":\"" reason "\",\"seconds\":2.5}\n"

/* Lab A of the public reports, in short: two skips at the start, then all is well. */
static const char lab_a[] = HEADER("1", "0", "fp16") STEP("1", "0", "1", "65536", "32768", "1", "4")
    OVERFLOW("1", "gradient", "65536") SCALE("1", "65536", "32768") STEP(
        "2", "0", "1", "32768", "16384", "2", "2") OVERFLOW("2", "gradient", "32768")
        SCALE("2", "32768", "16384") STEP("3", "1", "1", "16384", "16384", "2", "2") STEP(
            "4", "2", "0.5625", "16384", "16384", "2",
            "2") "{\"type\":\"eval\",\"step\":4,\"split\":\"test\",\"loss\":0.5,\"accuracy\":0.75,"
                 "\"best\":true}\n" STEP("5", "3", "0.25", "16384", "16384", "2",
                                         "2") "{\"type\":\"eval\",\"step\":5,\"split\":\"test\","
                                              "\"loss\":0.625,\"accuracy\":0.5,\"best\":false}\n"
                                              "{\"type\":\"checkpoint\",\"step\":5,\"path\":\"x\","
                                              "\"bytes\":1,\"write_ms\":2}\n" END("6", "3", "2",
                                                                                  "0", "done");

static void setup(void)
{
    diag_init(&d);
    for (int i = 0; i < MAX_RUNS; i++) {
        strcpy(folders[i], "/tmp/test_report-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(folders[i]));
    }
}

static const char *log_path(int i)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/log.jsonl", folders[i]);
    return path;
}

static void teardown(void)
{
    for (int i = 0; i < MAX_RUNS; i++) {
        unlink(log_path(i));
        rmdir(folders[i]);
    }
}

static void put_log(int i, const char *text)
{
    FILE *f = fopen(log_path(i), "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

/* The report of the first n logs, with names that do not change. */
static const char *report(int n, int width, bool ascii)
{
    static const char *const names[MAX_RUNS] = {"a", "b", "c"};
    static char text[1 << 15];
    struct report_run runs[MAX_RUNS];
    memset(text, 0, sizeof(text));
    FILE *to = fmemopen(text, sizeof(text) - 1, "w");
    ck_assert_ptr_nonnull(to);
    for (int i = 0; i < n; i++) {
        enum rc rc = report_run_load(&runs[i], folders[i], &d);
        ck_assert_msg(rc == RC_OK, "%s", d.n_items ? d.items[0].text : "");
        runs[i].name = names[i];
    }
    ck_assert_int_eq(report_terminal(runs, n, width, ascii, to, &d), RC_OK);
    for (int i = 0; i < n; i++)
        report_run_release(&runs[i]);
    fclose(to);
    return text;
}

static bool says(const char *text, const char *what)
{
    return strstr(text, what) != NULL;
}

START_TEST(one_run)
{
    put_log(0, lab_a);
    ck_assert_str_eq(report(1, 40, true), "run                      a\n"
                                          "  result                 finished (exit 0)\n"
                                          "  reason                 done\n"
                                          "  started                2026-12-01T09:30\n"
                                          "  wall time              2.5 s\n"
                                          "  parameters             203,530\n"
                                          "  compute                fp16\n"
                                          "  machine                amx, 2 threads\n"
                                          "  steps attempted        6\n"
                                          "  updates applied        3\n"
                                          "  steps skipped          2 (33.3%)\n"
                                          "  steps without target   1\n"
                                          "  loss, first            1\n"
                                          "  loss, last             0.25\n"
                                          "  loss, lowest           0.25\n"
                                          "  best evaluation, loss  0.5\n"
                                          "    accuracy             75%\n"
                                          "    at step              4\n"
                                          "  last evaluation, loss  0.625\n"
                                          "    accuracy             50%\n"
                                          "    at step              5\n"
                                          "  loss scale             65536 to 16384\n"
                                          "    range                16384 to 65536\n"
                                          "    changes              2\n"
                                          "  time a step, median    2 ms\n"
                                          "  examples a second      3,333\n"
                                          "  last checkpoint        step 5\n"
                                          "\n"
                                          "why steps were skipped\n"
                                          "       2 x  gradient, layer 'fc1', tensor 'd_fc1': 3 x "
                                          "inf at most; steps 1 to 2; loss scale 65536 to 32768\n"
                                          "\n"
                                          "advice\n"
                                          "  the first 2 steps were skipped until the loss scale "
                                          "had come down to 16384: set loss_scale.init to that\n"
                                          "\n"
                                          "loss; x: skipped steps\n"
                                          "         1 |*************\n"
                                          "           |             *\n"
                                          "           |             *\n"
                                          "           |             *\n"
                                          "           |             *\n"
                                          "           |             *****\n"
                                          "           |                  *\n"
                                          "           |                  *\n"
                                          "      0.25 |                  *\n"
                                          "           +x---x----------------------\n"
                                          "            step 1                    6\n"
                                          "\n"
                                          "log2 of the loss scale; x: skipped steps\n"
                                          "        16 |****\n"
                                          "           |    *\n"
                                          "           |    *\n"
                                          "           |    *\n"
                                          "           |    *****\n"
                                          "           |         *\n"
                                          "           |         *\n"
                                          "           |         *\n"
                                          "        14 |         **********\n"
                                          "           +x---x----------------------\n"
                                          "            step 1                    6\n");
}
END_TEST

START_TEST(braille)
{
    put_log(0, lab_a);
    const char *text = report(1, 60, false);
    ck_assert(says(text, "\xE2\x94\x82\xE2\xA0")); /* a line, then a Braille character */
    ck_assert(str_is_utf8(text, strlen(text)));
    text = report(1, 60, true);
    for (; *text; text++)
        ck_assert_int_lt((unsigned char)*text, 0x80);
}
END_TEST

START_TEST(several_runs)
{
    put_log(0, lab_a);
    put_log(1, HEADER("1", "0", "bf16") STEP("1", "1", "1", "1", "1", "0", "1")
                   STEP("2", "2", "0.5", "1", "1", "0", "1") END("2", "2", "0", "130", "stopped"));
    put_log(2, HEADER("1", "0", "fp32"));
    const char *text = report(3, 100, true);
    ck_assert(says(text, "runs                     a                        b       "));
    ck_assert(says(text, "  result                 finished (exit 0)        interrupted (exit 130)"
                         "   no end on record\n"));
    ck_assert(says(text, "  steps attempted        6                        2 (-66.7%)       "));
    ck_assert(says(text, "  loss, last             0.25                     0.5 (+100%)      "
                         "        -\n"));
    ck_assert(says(text, "  loss scale             65536 to 16384           none     "));
    ck_assert(says(text, "  time a step, median    2 ms                     1 ms (-50%)"));
    ck_assert(says(text, "why steps were skipped: a\n"));
    ck_assert(says(text, "  c: the log has no end"));
    /* too narrow for three columns: one table below the other */
    text = report(3, 45, true);
    ck_assert(says(text, "\n\nruns                     c\n"));
}
END_TEST

/* After a kill the steps behind the checkpoint are run again: they count once. */
START_TEST(resumed)
{
    put_log(0, HEADER("1", "0", "fp16") STEP("1", "1", "9", "4", "4", "0", "1")
                   STEP("2", "2", "8", "4", "2", "0", "1") OVERFLOW("3", "gradient", "4")
                       HEADER("2", "1", "fp16") STEP("2", "2", "7", "4", "4", "0", "1")
                           STEP("3", "3", "6", "4", "4", "0", "1") END("3", "3", "0", "0", "done"));
    const char *text = report(1, 80, true);
    ck_assert(says(text, "steps attempted        3\n"));
    ck_assert(says(text, "updates applied        3\n"));
    ck_assert(says(text, "steps skipped          0\n"));
    ck_assert(says(text, "loss, first            9\n"));
    ck_assert(says(text, "loss, last             6\n"));
    ck_assert(says(text, "started                2026-12-01T09:30, start 2\n"));
    ck_assert(!says(text, "why steps were skipped"));
}
END_TEST

/* An end before the last start is not the end of the run. */
START_TEST(still_going)
{
    put_log(0, HEADER("1", "0", "fp16") STEP("1", "1", "9", "4", "4", "0", "1")
                   END("1", "1", "0", "130", "stopped") HEADER("2", "1", "fp16")
                       STEP("2", "2", "7", "4", "4", "0", "1") "{\"type\":\"st");
    const char *text = report(1, 80, true);
    ck_assert(says(text, "result                 no end on record\n"));
    ck_assert(says(text, "--resume"));
    ck_assert(says(text, "steps attempted        2\n"));
    ck_assert_int_eq(d.n_errors, 0);
    ck_assert_int_eq(d.n_items, 1); /* the half line */
}
END_TEST

static const struct {
    const char *log, *says, *says_not;
} advice[] = {
    {HEADER("1", "0", "fp16") STEP("1", "0", "1", "4", "4", "1", "1") OVERFLOW("1", "forward", "4")
         END("1", "0", "1", "5", "x"),
     "layer 'fc1' overflows fp16 in the forward pass, which no loss scale can cure: run it in bf16 "
     "or fp32 (precision: {fp32: {allow: [\"fc1\"]}})",
     "lower optimizer.lr"},
    {HEADER("1", "0", "bf16") STEP("1", "0", "1", "1", "1", "1", "1") OVERFLOW("1", "forward", "1")
         END("1", "0", "1", "5", "x"),
     "lower optimizer.lr", "fp32: {allow"},
    {HEADER("1", "0", "fp16") STEP("1", "0", "1", "4", "4", "1", "1") OVERFLOW("1", "gradient", "4")
         END("1", "0", "1", "5", "x"),
     "no update was applied: the weights are those of the start", "loss_scale.init"},
    {lab_a,
     "the first 2 steps were skipped until the loss scale had come down to 16384: set "
     "loss_scale.init to that",
     "no update was applied"},
    {HEADER("1", "0", "fp16") STEP("1", "1", "1", "2", "2", "0", "1")
         STEP("2", "1", "1", "2", "1", "1", "1") OVERFLOW("2", "gradient", "2")
             END("2", "1", "1", "0", "done"),
     "the loss scale has come down to 1", "loss_scale.init"},
    {HEADER("1", "0", "bf16") STEP("1", "1", "1", "1", "1", "0", "1")
         END("1", "1", "0", "0", "done"),
     "updates applied", "advice"},
};

START_TEST(advises)
{
    put_log(0, advice[_i].log);
    const char *text = report(1, 80, true);
    ck_assert_msg(says(text, advice[_i].says), "%s", text);
    ck_assert_msg(!says(text, advice[_i].says_not), "%s", text);
}
END_TEST

START_TEST(not_a_run)
{
    struct report_run run;
    ck_assert_int_eq(report_run_load(&run, folders[0], &d), RC_DATA);
    ck_assert(says(d.items[0].text, ": error: not a run: there is no log.jsonl in it"));
    ck_assert_int_eq(report_run_load(&run, "/dev/null", &d), RC_DATA);
    ck_assert(says(d.items[1].text, "a run's folder is expected"));
    ck_assert_int_eq(report_run_load(&run, "/nowhere/at/all", &d), RC_DATA);
    put_log(0, "");
    ck_assert_int_eq(report_run_load(&run, folders[0], &d), RC_DATA);
    ck_assert(says(d.items[3].text, "holds no record"));
    put_log(0, "{\"type\":\"header\"}\nnonsense\n");
    ck_assert_int_eq(report_run_load(&run, folders[0], &d), RC_DATA);
    ck_assert(says(d.items[4].text, "log.jsonl:2: error: "));
}
END_TEST

/* A log may hold anything: nothing of it may steer the terminal. */
START_TEST(no_control_characters)
{
    put_log(0, "{\"type\":\"header\",\"isa\":\"\\u001b[2J\\u009b\\u007f\",\"threads\":1}\n"
               "{\"type\":\"overflow\",\"step\":1,\"node\":\"a\\nb\\tc\",\"kind\":\"inf\"}\n");
    const char *text = report(1, 80, false);
    ck_assert(says(text, "machine                ?[2J??, 1 thread\n"));
    ck_assert(says(text, "layer 'a?b?c'"));
}
END_TEST

START_TEST(text_tools)
{
    struct str s;
    str_init(&s);
    report_text_count(&s, 0);
    str_puts(&s, " ");
    report_text_count(&s, -1234567);
    str_puts(&s, " ");
    report_text_count(&s, INT64_MIN);
    ck_assert_str_eq(s.text, "0 -1,234,567 -9,223,372,036,854,775,808");
    str_clear(&s);
    report_text_safe(&s,
                     "\xC3\xA9\xE2\x82\xAC"
                     "x",
                     true);
    ck_assert_str_eq(s.text, "??x");
    str_clear(&s);
    report_text_safe(&s,
                     "\xC3\xA9\xE2\x82\xAC"
                     "x\xC2",
                     false);
    ck_assert_str_eq(s.text, "?????x?"); /* no UTF-8 as a whole */
    str_clear(&s);
    str_puts(&s, "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9");
    ck_assert_int_eq(report_text_width(s.text), 5);
    report_text_cut(&s, 5);
    ck_assert_int_eq(report_text_width(s.text), 5);
    report_text_cut(&s, 4);
    ck_assert_str_eq(s.text, "\xC3\xA9\xC3\xA9..");
    str_release(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report");
    TCase *c = tcase_create("report");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, one_run);
    tcase_add_test(c, braille);
    tcase_add_test(c, several_runs);
    tcase_add_test(c, resumed);
    tcase_add_test(c, still_going);
    tcase_add_loop_test(c, advises, 0, (int)COUNT_OF(advice));
    tcase_add_test(c, not_a_run);
    tcase_add_test(c, no_control_characters);
    tcase_add_test(c, text_tools);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
