/* test_keys.c: the key engine: what it accepts, the exact words of every refusal, and writing. */
#include "config.h"

#include "base/keys.h"

#include "config/yaml_tree.h"

#include <check.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct all {
    int64_t count, any;
    double rate, share, none;
    bool shuffle;
    const char *name, *label, *path;
    int mode;
    struct key_list sizes, betas, words;
    const struct value *raw;
};

#define AT(field) offsetof(struct all, field)
static const struct key rows[] = {
    {.name = "count", .type = KEY_INT, .offset = AT(count), .def = "1", .min = 1, .max = INFINITY},
    {.name = "any", .type = KEY_INT, .offset = AT(any), .def = "0"},
    {.name = "rate",
     .type = KEY_FLOAT,
     .offset = AT(rate),
     .def = "0.5",
     .min = 0,
     .max = INFINITY,
     .flags = KEY_ABOVE_MIN},
    {.name = "share",
     .type = KEY_FLOAT,
     .offset = AT(share),
     .def = "0",
     .min = 0,
     .max = 1,
     .flags = KEY_BELOW_MAX},
    {.name = "none", .type = KEY_FLOAT, .offset = AT(none), .def = ".nan", .min = 0, .max = 9},
    {.name = "shuffle", .type = KEY_BOOL, .offset = AT(shuffle), .def = "true"},
    {.name = "name", .type = KEY_TEXT, .offset = AT(name), .def = "x"},
    {.name = "label", .type = KEY_TEXT, .offset = AT(label), .def = ""},
    {.name = "path", .type = KEY_PATH, .offset = AT(path), .def = ""},
    {.name = "mode",
     .type = KEY_CHOICE,
     .offset = AT(mode),
     .def = "none",
     .choices = "none|static|dynamic"},
    {.name = "sizes", .type = KEY_INTS, .offset = AT(sizes), .def = "[3, 5]", .min = 1, .max = 9},
    {.name = "betas", .type = KEY_FLOATS, .offset = AT(betas), .def = "0.9"},
    {.name = "words", .type = KEY_TEXTS, .offset = AT(words), .def = "[]"},
    {.name = "raw", .type = KEY_VALUE, .offset = AT(raw)},
    {0},
};

static const struct key needed[] = {
    {.name = "units", .type = KEY_INT, .offset = 0, .min = 1, .max = 1e6, .help = "output columns"},
    {0},
};

static const char *const others[] = {"type", "from", NULL};

static struct pool pool;
static struct diag diag;
static struct section section;

static void setup(void)
{
    pool_init(&pool);
    diag_init(&diag);
}

static void teardown(void)
{
    pool_release(&pool);
}

static enum rc read_rows(const struct key *table, size_t size, const char *text)
{
    const struct value *map = NULL;
    const struct loc loc = {"t.yaml", 1, 1};
    diag_init(&diag);
    ck_assert_int_eq(yaml_tree_parse(&map, text, strlen(text), "t.yaml", &pool, &diag), RC_OK);
    return keys_read(&section, "sec", table, size, map, loc, others, &pool, &diag);
}

static const struct all *good(const char *text)
{
    enum rc rc = read_rows(rows, sizeof(struct all), text);
    ck_assert_msg(rc == RC_OK, "%s", diag.n_items ? diag.items[0].text : "no message");
    ck_assert_int_eq(diag.n_items, 0);
    return section.at;
}

/* Every message, in order, must be exactly these lines. */
static void bad_rows(const struct key *table, size_t size, const char *text, const char *expected)
{
    struct str all;
    str_init(&all);
    ck_assert_int_eq(read_rows(table, size, text), RC_CONFIG);
    for (int i = 0; i < diag.n_items; i++)
        str_printf(&all, "%s\n", diag.items[i].text);
    ck_assert_str_eq(all.text, expected);
    str_release(&all);
}

static void bad(const char *text, const char *expected)
{
    bad_rows(rows, sizeof(struct all), text, expected);
}

START_TEST(defaults)
{
    const struct all *a = good("{}");
    ck_assert_int_eq(a->count, 1);
    ck_assert_double_eq(a->rate, 0.5);
    ck_assert(isnan(a->none));
    ck_assert(a->shuffle);
    ck_assert_str_eq(a->name, "x");
    ck_assert_str_eq(a->label, "");
    ck_assert_int_eq(a->mode, 0);
    ck_assert_int_eq(a->sizes.n, 2);
    ck_assert_int_eq(((const int64_t *)a->sizes.at)[1], 5);
    ck_assert_int_eq(a->betas.n, 1);
    ck_assert_double_eq(((const double *)a->betas.at)[0], 0.9);
    ck_assert_int_eq(a->words.n, 0);
    ck_assert_ptr_null(a->raw);
    ck_assert(!keys_origin(&section, "count").set);
    ck_assert_int_eq(keys_origin(&section, "count").loc.line, 1);
}
END_TEST

START_TEST(everything_given)
{
    const struct all *a = good("count: 7\nrate: 2\nshuffle: FALSE\nname: no\nmode: dynamic\n"
                               "sizes: 4\nbetas: [0, 1e-2]\nwords: [y, on, 1]\nraw: {a: 1}\n"
                               "type: skipped\n");
    ck_assert_int_eq(a->count, 7);
    ck_assert_double_eq(a->rate, 2);
    ck_assert(!a->shuffle);
    ck_assert_str_eq(a->name, "no");
    ck_assert_int_eq(a->mode, 2);
    ck_assert_int_eq(a->sizes.n, 1);
    ck_assert_int_eq(((const int64_t *)a->sizes.at)[0], 4);
    ck_assert_double_eq(((const double *)a->betas.at)[1], 0.01);
    ck_assert_str_eq(((const char *const *)a->words.at)[1], "on");
    ck_assert_str_eq(((const char *const *)a->words.at)[2], "1");
    ck_assert_int_eq(a->raw->kind, VALUE_MAP);
    struct key_origin origin = keys_origin(&section, "rate");
    ck_assert(origin.set);
    ck_assert_int_eq(origin.loc.line, 2);
    ck_assert_int_eq(origin.loc.column, 7);
}
END_TEST

START_TEST(numbers) /* B34 */
{
    static const char *const same[] = {"1e-4",  "1E-4",   "1.e-4", ".1e-3",
                                       "+1e-4", "0.0001", "1e-04"};
    char text[64];
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        snprintf(text, sizeof(text), "rate: %s\n", same[i]);
        union {
            float x;
            uint32_t bits;
        } as = {(float)good(text)->rate};
        ck_assert_uint_eq(as.bits, 0x38D1B717u);
    }
    bad("rate: 1e-4x\n", "t.yaml:1:7: error: 'sec.rate' must be a number, not '1e-4x'\n");
    bad("rate: \"1e-4\"\n",
        "t.yaml:1:7: error: 'sec.rate' must be a number, not the text \"1e-4\"\n"
        "t.yaml:1:7: note: drop the quotes: 1e-4\n");
    bad("rate: 1_000\n", "t.yaml:1:7: error: 'sec.rate' must be a number, not '1_000'\n");
    bad("rate: 0x10\n", "t.yaml:1:7: error: 'sec.rate' must be a number, not '0x10'\n");
    bad("rate: .inf\n", "t.yaml:1:7: error: 'sec.rate' must be a finite number, not '.inf'\n");
    bad("rate: .nan\n", "t.yaml:1:7: error: 'sec.rate' must be a finite number, not '.nan'\n");
    bad("rate: 1e400\n", "t.yaml:1:7: error: 'sec.rate' must be a finite number, not '1e400'\n");
    bad("rate: [1]\n", "t.yaml:1:7: error: 'sec.rate' must be a number, not a list\n");
    bad("rate: {a: 1}\n", "t.yaml:1:7: error: 'sec.rate' must be a number, not a map\n");
    bad("rate:\n", "t.yaml:1:6: error: 'sec.rate' has no value: it must be a number\n");
    bad("rate: ~\n", "t.yaml:1:7: error: 'sec.rate' has no value: it must be a number\n");
}
END_TEST

START_TEST(whole_numbers)
{
    ck_assert_int_eq(good("any: -9223372036854775808\n")->any, INT64_MIN);
    ck_assert_int_eq(good("any: +12\n")->any, 12);
    bad("count: 1e3\n", "t.yaml:1:8: error: 'sec.count' must be a whole number, not '1e3'\n"
                        "t.yaml:1:8: note: write 1000\n");
    bad("count: 32.0\n", "t.yaml:1:8: error: 'sec.count' must be a whole number, not '32.0'\n"
                         "t.yaml:1:8: note: write 32\n");
    bad("count: 1.5\n", "t.yaml:1:8: error: 'sec.count' must be a whole number, not '1.5'\n");
    bad("count: many\n", "t.yaml:1:8: error: 'sec.count' must be a whole number, not 'many'\n");
    bad("count: \"3\"\n",
        "t.yaml:1:8: error: 'sec.count' must be a whole number, not the text \"3\"\n"
        "t.yaml:1:8: note: drop the quotes: 3\n");
    bad("count: 9223372036854775808\n", "t.yaml:1:8: error: 'sec.count' must be a whole number, "
                                        "not '9223372036854775808'\n");
    bad("count: 0\n", "t.yaml:1:8: error: 'sec.count' must be at least 1, not '0'\n");
}
END_TEST

START_TEST(ranges)
{
    ck_assert_double_eq(good("share: 0\n")->share, 0);
    ck_assert_double_eq(good("none: 9\n")->none, 9);
    bad("rate: 0\n", "t.yaml:1:7: error: 'sec.rate' must be above 0, not '0'\n");
    bad("rate: -1\n", "t.yaml:1:7: error: 'sec.rate' must be above 0, not '-1'\n");
    bad("share: 1\n", "t.yaml:1:8: error: 'sec.share' must be at least 0 and below 1, not '1'\n");
    bad("none: 10\n", "t.yaml:1:7: error: 'sec.none' must be from 0 to 9, not '10'\n");
    bad("sizes: [3, 0, 10]\n",
        "t.yaml:1:12: error: item 2 of 'sec.sizes' must be from 1 to 9, not '0'\n"
        "t.yaml:1:15: error: item 3 of 'sec.sizes' must be from 1 to 9, not '10'\n");
    bad("sizes: [3, [4]]\n",
        "t.yaml:1:12: error: item 2 of 'sec.sizes' must be a whole number, not a list\n");
    bad("sizes: {a: 4}\n", "t.yaml:1:8: error: 'sec.sizes' must be a whole number, not a map\n");
    ck_assert_int_eq(((const struct all *)section.at)->sizes.n, 2); /* the default stays */
}
END_TEST

START_TEST(booleans) /* B35 */
{
    ck_assert(good("shuffle: True\n")->shuffle);
    ck_assert(!good("shuffle: false\n")->shuffle);
    bad("shuffle: no\n", "t.yaml:1:10: error: 'sec.shuffle' must be true or false, not 'no'\n"
                         "t.yaml:1:10: note: write false\n");
    bad("shuffle: on\n", "t.yaml:1:10: error: 'sec.shuffle' must be true or false, not 'on'\n"
                         "t.yaml:1:10: note: write true\n");
    bad("shuffle: off\n", "t.yaml:1:10: error: 'sec.shuffle' must be true or false, not 'off'\n"
                          "t.yaml:1:10: note: write false\n");
    bad("shuffle: yes\n", "t.yaml:1:10: error: 'sec.shuffle' must be true or false, not 'yes'\n"
                          "t.yaml:1:10: note: write true\n");
    bad("shuffle: maybe\n",
        "t.yaml:1:10: error: 'sec.shuffle' must be true or false, not 'maybe'\n");
    bad("shuffle: \"true\"\n",
        "t.yaml:1:10: error: 'sec.shuffle' must be true or false, not the text \"true\"\n"
        "t.yaml:1:10: note: write true\n");
    bad("shuffle: [true]\n",
        "t.yaml:1:10: error: 'sec.shuffle' must be true or false, not a list\n");
}
END_TEST

START_TEST(plain_texts) /* B35 */
{
    static const char *const kept[] = {"no",  "y",    "on",   "off",  "yes", "1e5",
                                       "007", "true", "0x1F", "1.50", ".inf"};
    char text[64];
    for (size_t i = 0; i < COUNT_OF(kept); i++) {
        snprintf(text, sizeof(text), "name: %s\n", kept[i]);
        ck_assert_str_eq(good(text)->name, kept[i]);
    }
    ck_assert_str_eq(good("name: \"null\"\n")->name, "null");
    ck_assert_str_eq(good("name: '~'\n")->name, "~");
    ck_assert_str_eq(good("label: ''\n")->label, "");
    bad("name: null\n",
        "t.yaml:1:7: error: 'sec.name' has no value: it must be text\n"
        "t.yaml:1:7: note: 'null' means nothing in YAML; for a text write \"null\"\n");
    bad("name: ~\n", "t.yaml:1:7: error: 'sec.name' has no value: it must be text\n"
                     "t.yaml:1:7: note: '~' means nothing in YAML; for a text write \"~\"\n");
    bad("name:\n", "t.yaml:1:6: error: 'sec.name' has no value: it must be text\n");
    bad("name: ''\n", "t.yaml:1:7: error: 'sec.name' must not be empty\n");
    bad("name: [a]\n", "t.yaml:1:7: error: 'sec.name' must be text, not a list\n");
}
END_TEST

START_TEST(choices)
{
    bad("mode: dynamc\n",
        "t.yaml:1:7: error: 'sec.mode' must be none, static or dynamic, not 'dynamc'\n"
        "t.yaml:1:7: note: did you mean 'dynamic'?\n");
    bad("mode: 7\n", "t.yaml:1:7: error: 'sec.mode' must be none, static or dynamic, not '7'\n");
    bad("mode: [none]\n",
        "t.yaml:1:7: error: 'sec.mode' must be none, static or dynamic, not a list\n");
}
END_TEST

START_TEST(unknown_and_missing) /* B37 */
{
    bad("shufle: true\n", "t.yaml:1:1: error: unknown key 'shufle' in 'sec'\n"
                          "t.yaml:1:1: note: did you mean 'shuffle'?\n");
    bad("form: a\n", "t.yaml:1:1: error: unknown key 'form' in 'sec'\n"
                     "t.yaml:1:1: note: did you mean 'from'?\n");
    bad_rows(needed, 8, "zzzzzzz: 1\nunits: 1\n",
             "t.yaml:1:1: error: unknown key 'zzzzzzz' in 'sec'\n"
             "t.yaml:1:1: note: known here: units, type, from\n");
    bad_rows(needed, 8, "{}",
             "t.yaml:1:1: error: 'sec' needs the key 'units'\n"
             "t.yaml:1:1: note: units: output columns\n");
    bad_rows(needed, 8, "[1]", "t.yaml:1:1: error: 'sec' must be a map of keys, not a list\n");
    bad_rows(needed, 8, "5", "t.yaml:1:1: error: 'sec' must be a map of keys, not '5'\n");
    bad("count: 0\nrat: 1\nshuffle: 2\n",
        "t.yaml:1:8: error: 'sec.count' must be at least 1, not '0'\n"
        "t.yaml:2:1: error: unknown key 'rat' in 'sec'\n"
        "t.yaml:2:1: note: did you mean 'rate'?\n"
        "t.yaml:3:10: error: 'sec.shuffle' must be true or false, not '2'\n");
}
END_TEST

START_TEST(long_and_odd_text_in_messages)
{
    bad("rate: \"a\\nb\"\n",
        "t.yaml:1:7: error: 'sec.rate' must be a number, not the text \"a b\"\n");
    bad("rate: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xC3\xA9zzzz\n",
        "t.yaml:1:7: error: 'sec.rate' must be a number, not "
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'\n");
}
END_TEST

START_TEST(paths)
{
    const struct all *a = good("path: data/x.gz\n");
    ck_assert_int_eq(keys_resolve_paths(&section, "conf", &pool, &diag), RC_OK);
    ck_assert_str_eq(a->path, "conf/data/x.gz");
    a = good("path: /data/x.gz\n");
    ck_assert_int_eq(keys_resolve_paths(&section, "conf", &pool, &diag), RC_OK);
    ck_assert_str_eq(a->path, "/data/x.gz");
    a = good("{}");
    ck_assert_int_eq(keys_resolve_paths(&section, "conf", &pool, &diag), RC_OK);
    ck_assert_str_eq(a->path, "");
}
END_TEST

START_TEST(written)
{
    struct str out;
    str_init(&out);
    good("name: no\nrate: 1e-8\nwords: [a b, \"2\"]\nlabel: ''\nraw: 1\nnone: 2.5\npath: /a b\n");
    keys_write(&section, &out, 2);
    ck_assert_str_eq(out.text, "  count: 1\n  any: 0\n  rate: 1e-08\n  share: 0\n  none: 2.5\n"
                               "  shuffle: true\n  name: \"no\"\n  label: \"\"\n  path: \"/a b\"\n"
                               "  mode: none\n  sizes: [3, 5]\n  betas: [0.9]\n"
                               "  words: [\"a b\", \"2\"]\n");
    str_clear(&out);
    good("{}"); /* what only says "not given" is left out */
    keys_write(&section, &out, 0);
    ck_assert_str_eq(out.text, "count: 1\nany: 0\nrate: 0.5\nshare: 0\nshuffle: true\nname: x\n"
                               "mode: none\nsizes: [3, 5]\nbetas: [0.9]\n");
    str_clear(&out);
    keys_write_row(&section, "rate", &out, 4);
    ck_assert_str_eq(out.text, "    rate: 0.5\n");
    str_release(&out);
}
END_TEST

START_TEST(path_written_absolute)
{
    struct str out;
    str_init(&out);
    ck_assert_int_eq(chdir("/"), 0);
    good("path: x.gz\n");
    keys_write_row(&section, "path", &out, 0);
    ck_assert_str_eq(out.text, "path: //x.gz\n");
    str_release(&out);
}
END_TEST

/* Each text must come back as the same text, and not as a number, a boolean or nothing. */
START_TEST(scalars_round_trip)
{
    static const char *const texts[] = {"",
                                        "a",
                                        "no",
                                        "1",
                                        "1e5",
                                        "-",
                                        "- a",
                                        "~",
                                        "null",
                                        "Null",
                                        "true",
                                        "y",
                                        " a",
                                        "a ",
                                        "a: b",
                                        "a #b",
                                        "#",
                                        "[",
                                        "{a}",
                                        "*x",
                                        "&x",
                                        "!x",
                                        "%",
                                        "@",
                                        "`",
                                        "'",
                                        "\"",
                                        "\\",
                                        "a\nb",
                                        "a\tb",
                                        "\x01",
                                        "\x7F",
                                        "\xC2\x85",
                                        "\xE2\x80\xA8",
                                        "\xEF\xBB\xBF",
                                        "\xC3\xA9",
                                        "\xF0\x9F\x98\x80",
                                        "a,b",
                                        ".inf",
                                        "0x1F",
                                        "0o7",
                                        "<<",
                                        "=",
                                        "---",
                                        "...",
                                        "2001-01-01",
                                        "12:30",
                                        "? a",
                                        ":",
                                        "a:",
                                        "/abs/p.gz",
                                        "../p",
                                        "_x",
                                        "a-b.c",
                                        ".",
                                        "..",
                                        "\xEF\xBF\xBF"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct str out;
        const struct value *map = NULL;
        str_init(&out);
        str_puts(&out, "key: ");
        keys_write_scalar(&out, texts[i]);
        str_puts(&out, "\nlist: [");
        keys_write_scalar(&out, texts[i]);
        str_puts(&out, ", x]\n");
        diag_init(&diag);
        enum rc rc = yaml_tree_parse(&map, out.text, out.length, "t.yaml", &pool, &diag);
        ck_assert_msg(rc == RC_OK, "%s: %s", out.text, diag.n_items ? diag.items[0].text : "");
        ck_assert_str_eq(map->items[0]->text, texts[i]);
        ck_assert_str_eq(map->items[1]->items[0]->text, texts[i]);
        double x;
        bool odd = !texts[i][0] || strcmp(texts[i], "~") == 0 ||
                   strcasecmp(texts[i], "null") == 0 || strcmp(texts[i], "true") == 0 ||
                   str_to_float(texts[i], &x);
        ck_assert_msg(!odd || map->items[0]->quoted, "'%s' is not in quotes", texts[i]);
        str_release(&out);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("keys");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, defaults);
    tcase_add_test(tests, everything_given);
    tcase_add_test(tests, numbers);
    tcase_add_test(tests, whole_numbers);
    tcase_add_test(tests, ranges);
    tcase_add_test(tests, booleans);
    tcase_add_test(tests, plain_texts);
    tcase_add_test(tests, choices);
    tcase_add_test(tests, unknown_and_missing);
    tcase_add_test(tests, long_and_odd_text_in_messages);
    tcase_add_test(tests, paths);
    tcase_add_test(tests, written);
    tcase_add_test(tests, path_written_absolute);
    tcase_add_test(tests, scalars_round_trip);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
