/* test_opt.c: words to options. */
#include "config.h"

#include "cmd/cmd.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct test_opts {
    bool verbose, quiet;
    int64_t steps, free;
    const char *out;
    struct opt_texts sets;
    const char *resume;
};

#define AT(member) offsetof(struct test_opts, member)
static const struct opt opts[] = {
    {"verbose", 'v', OPT_FLAG, AT(verbose), NULL, 0, 0, "Say more."},
    {"quiet", 'q', OPT_FLAG, AT(quiet), NULL, 0, 0, "Say less."},
    {"steps", 'n', OPT_INT, AT(steps), "N", 1, 1000, "How many steps."},
    {"free", 0, OPT_INT, AT(free), "N", 0, 0, "Any number."},
    {"out", 'o', OPT_TEXT, AT(out), "DIR", 0, 0, "Where to."},
    {"set", 's', OPT_TEXTS, AT(sets), "KEY=VALUE", 0, 0, "Changes a key."},
    {"resume", 0, OPT_MAYBE, AT(resume), "PATH", 0, 0, "Goes on."},
    {0}};
static const struct test_opts defaults = {.steps = 7};
static const struct cmd cmd = {.name = "try",
                               .help = "Tries.",
                               .usage = "CONFIG [OPTION]...",
                               .opts = opts,
                               .opts_size = sizeof(struct test_opts),
                               .defaults = &defaults,
                               .words_min = 1,
                               .words_max = 2};

enum { MAX_WORDS = 16 };

static struct test_opts got;
static struct cmd_args args;
static struct diag d;
static char line_copy[256];

/* Parses a line cut at blanks. */
static enum rc parse(const char *line)
{
    static char *words[MAX_WORDS];
    int n = 0;
    diag_init(&d);
    opt_release(&cmd, &got);
    got = defaults;
    snprintf(line_copy, sizeof(line_copy), "%s", line);
    for (char *word = strtok(line_copy, " "); word && n < MAX_WORDS; word = strtok(NULL, " "))
        words[n++] = word;
    return opt_parse(&cmd, n, words, &got, &args, &d);
}

static void fails(const char *line, const char *text)
{
    ck_assert_int_eq(parse(line), RC_USAGE);
    ck_assert_str_eq(d.items[0].text, text);
    ck_assert_str_eq(d.items[d.n_items - 1].text, "mptrain: note: see: mptrain try --help");
}

START_TEST(defaults_hold)
{
    ck_assert_int_eq(parse("a.yaml"), RC_OK);
    ck_assert_int_eq(args.n, 1);
    ck_assert_str_eq(args.words[0], "a.yaml");
    ck_assert_int_eq(got.steps, 7);
    ck_assert(!got.verbose && !got.out && !got.resume && got.sets.n == 0);
}
END_TEST

START_TEST(all_forms)
{
    ck_assert_int_eq(parse("-vq --steps 10 a --out=x=y -s k=1 --set=k=2 -sk=3 --resume b"), RC_OK);
    ck_assert(got.verbose && got.quiet);
    ck_assert_int_eq(got.steps, 10);
    ck_assert_str_eq(got.out, "x=y");
    ck_assert_int_eq(got.sets.n, 3);
    ck_assert_str_eq(got.sets.at[0], "k=1");
    ck_assert_str_eq(got.sets.at[1], "k=2");
    ck_assert_str_eq(got.sets.at[2], "k=3");
    ck_assert_str_eq(got.resume, "");
    ck_assert_int_eq(args.n, 2);
    ck_assert_str_eq(args.words[0], "a");
    ck_assert_str_eq(args.words[1], "b");
    ck_assert_int_eq(parse("a --resume=p -vn5"), RC_OK);
    ck_assert_str_eq(got.resume, "p");
    ck_assert_int_eq(got.steps, 5);
    ck_assert(got.verbose);
}
END_TEST

START_TEST(last_one_counts)
{
    ck_assert_int_eq(parse("a --steps 5 -n 6 --out p --out q"), RC_OK);
    ck_assert_int_eq(got.steps, 6);
    ck_assert_str_eq(got.out, "q");
}
END_TEST

START_TEST(words_only)
{
    ck_assert_int_eq(parse("-v -- --quiet -"), RC_OK);
    ck_assert(got.verbose && !got.quiet);
    ck_assert_int_eq(args.n, 2);
    ck_assert_str_eq(args.words[0], "--quiet");
    ck_assert_str_eq(args.words[1], "-");
}
END_TEST

START_TEST(values_that_look_like_options)
{
    ck_assert_int_eq(parse("a --out -x --free -3"), RC_OK);
    ck_assert_str_eq(got.out, "-x");
    ck_assert_int_eq(got.free, -3);
    fails("a --out --quiet", "mptrain: error: try: --out needs a value: --out DIR");
    fails("a --out --steps=3", "mptrain: error: try: --out needs a value: --out DIR");
    ck_assert_int_eq(parse("a --out=--quiet"), RC_OK);
    ck_assert_str_eq(got.out, "--quiet");
}
END_TEST

START_TEST(ranges)
{
    static const char *const bad[] = {"0", "1001", "x", "", "5x", "1e3", "99999999999999999999"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        char line[64], text[160];
        snprintf(line, sizeof(line), "a --steps=%s", bad[i]);
        snprintf(text, sizeof(text),
                 "mptrain: error: try: --steps must be a whole number from 1 to 1000, not '%s'",
                 bad[i]);
        fails(line, text);
    }
    ck_assert_int_eq(parse("a --steps 1"), RC_OK);
    ck_assert_int_eq(parse("a --steps 1000"), RC_OK);
    ck_assert_int_eq(got.steps, 1000);
}
END_TEST

START_TEST(mistakes)
{
    fails("a --stps 4", "mptrain: error: try: unknown option '--stps'");
    ck_assert_str_eq(d.items[1].text, "mptrain: note: did you mean '--steps'?");
    fails("a -x", "mptrain: error: try: unknown option '-x'");
    fails("a --quiet=yes", "mptrain: error: try: --quiet takes no value");
    fails("a --steps", "mptrain: error: try: --steps needs a value: --steps N");
    fails("a -n", "mptrain: error: try: --steps needs a value: --steps N");
    fails("", "mptrain: error: try: something is missing: mptrain try CONFIG [OPTION]...");
    fails("a b c", "mptrain: error: try: one word too many: 'c'");
}
END_TEST

START_TEST(all_mistakes_in_one_go)
{
    ck_assert_int_eq(parse("--steps 0 --quiet=1"), RC_USAGE);
    ck_assert_int_eq(d.n_errors, 3); /* and the config is missing */
    ck_assert_int_eq(parse("a b --stps 4"), RC_USAGE);
    ck_assert_int_eq(d.n_errors, 1); /* 4 is not one word too many */
}
END_TEST

START_TEST(help_wins)
{
    ck_assert_int_eq(parse("-vh"), RC_OK);
    ck_assert(args.help);
    ck_assert_int_eq(parse("--bad --help"), RC_OK);
    ck_assert(args.help);
    ck_assert_int_eq(parse("a -- --help"), RC_OK);
    ck_assert(!args.help);
}
END_TEST

START_TEST(help_text)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(to);
    opt_help(&cmd, to);
    fclose(to);
    ck_assert_str_eq(text, "usage: mptrain try CONFIG [OPTION]...\n\nTries.\n\noptions:\n"
                           "  -v, --verbose           Say more.\n"
                           "  -q, --quiet             Say less.\n"
                           "  -n, --steps N           How many steps.\n"
                           "      --free N            Any number.\n"
                           "  -o, --out DIR           Where to.\n"
                           "  -s, --set KEY=VALUE     Changes a key.\n"
                           "      --resume[=PATH]     Goes on.\n"
                           "  -h, --help              Print this help.\n");
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("opt");
    TCase *tc = tcase_create("opt");
    tcase_add_test(tc, defaults_hold);
    tcase_add_test(tc, all_forms);
    tcase_add_test(tc, last_one_counts);
    tcase_add_test(tc, words_only);
    tcase_add_test(tc, values_that_look_like_options);
    tcase_add_test(tc, ranges);
    tcase_add_test(tc, mistakes);
    tcase_add_test(tc, all_mistakes_in_one_go);
    tcase_add_test(tc, help_wins);
    tcase_add_test(tc, help_text);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    opt_release(&cmd, &got);
    return failed > 0;
}
