/* test_yaml_tree.c: YAML text to value tree: places, and every refusal with its exact words. */
#include "config.h"

#include "config/yaml_tree.h"

#include "base/str.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct pool pool;
static struct diag diag;

static void setup(void)
{
    pool_init(&pool);
    diag_init(&diag);
}

static void teardown(void)
{
    pool_release(&pool);
}

static const struct value *good(const char *text)
{
    const struct value *v = NULL;
    diag_init(&diag);
    enum rc rc = yaml_tree_parse(&v, text, strlen(text), "t.yaml", &pool, &diag);
    ck_assert_msg(rc == RC_OK, "%s", diag.n_items ? diag.items[0].text : "no message");
    ck_assert_int_eq(diag.n_items, 0);
    return v;
}

/* All messages, one a line, must be exactly these. */
static void bad_bytes(const char *text, size_t length, const char *expected)
{
    const struct value *v = NULL;
    struct str all;
    diag_init(&diag);
    str_init(&all);
    ck_assert_int_eq(yaml_tree_parse(&v, text, length, "t.yaml", &pool, &diag), RC_CONFIG);
    for (int i = 0; i < diag.n_items; i++)
        str_printf(&all, "%s\n", diag.items[i].text);
    ck_assert_str_eq(all.text, expected);
    str_release(&all);
}

static void bad(const char *text, const char *expected)
{
    bad_bytes(text, strlen(text), expected);
}

START_TEST(places_and_kinds)
{
    const struct value *v = good("a: 1\nb:\n  - x\n  - {c: \"2\"}\nd: |\n  e\nf:\n");
    ck_assert_int_eq(v->kind, VALUE_MAP);
    ck_assert_int_eq(v->n, 4);
    ck_assert_str_eq(v->keys[1]->text, "b");
    ck_assert_int_eq(v->keys[1]->loc.line, 2);
    ck_assert_int_eq(v->keys[1]->loc.column, 1);
    ck_assert_str_eq(v->items[0]->text, "1");
    ck_assert(!v->items[0]->quoted);
    ck_assert_int_eq(v->items[0]->loc.column, 4);
    const struct value *b = value_get(v, "b");
    ck_assert_int_eq(b->kind, VALUE_LIST);
    ck_assert_int_eq(b->n, 2);
    ck_assert_int_eq(b->items[0]->loc.line, 3);
    ck_assert_int_eq(b->items[0]->loc.column, 5);
    const struct value *c = value_get(b->items[1], "c");
    ck_assert(c->quoted);
    ck_assert_int_eq(c->loc.line, 4);
    ck_assert_int_eq(c->loc.column, 9);
    ck_assert_str_eq(c->loc.file, "t.yaml");
    ck_assert_str_eq(value_get(v, "d")->text, "e\n");
    ck_assert(value_get(v, "d")->quoted);
    ck_assert_str_eq(value_get(v, "f")->text, "");
    ck_assert(!value_get(v, "f")->quoted);
}
END_TEST

START_TEST(mark_is_removed) /* B30 */
{
    const struct value *v = good("\xEF\xBB\xBFseed: 1\n");
    ck_assert_str_eq(v->keys[0]->text, "seed");
    ck_assert_int_eq(v->keys[0]->loc.column, 1);
    bad("\xEF\xBB\xBF\xEF\xBB\xBFseed: 1\n",
        "t.yaml:1:1: error: a byte-order mark in the middle of the text\n");
}
END_TEST

START_TEST(columns_count_characters)
{
    const struct value *v = good("\xC3\xA9\xC3\xA9: x\n");
    ck_assert_int_eq(v->items[0]->loc.column, 5);
}
END_TEST

START_TEST(aliases)
{
    const struct value *v = good("a: &x {b: [1, 2]}\nc: *x\nd: *x\n");
    const struct value *c = value_get(v, "c");
    ck_assert_int_eq(c->kind, VALUE_MAP);
    ck_assert_str_eq(value_get(c, "b")->items[1]->text, "2");
    ck_assert_int_eq(value_get(c, "b")->loc.line, 1);
    bad("a: &x [1, *x]\n", "t.yaml:1:11: error: this alias stands inside its own anchor\n");
    bad("a: *y\n", "t.yaml:1:4: error: no anchor of this name above\n");
    bad("a: &x 1\nb: &x 2\n", "t.yaml:2:4: error: this anchor name was used before\n");
}
END_TEST

START_TEST(hostile_expansion)
{
    struct str s;
    str_init(&s);
    str_puts(&s, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 10; i++) {
        str_printf(&s, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++)
            str_printf(&s, "%s*a%d", k ? ", " : "", i - 1);
        str_puts(&s, "]\n");
    }
    bad(s.text, "t.yaml:5:45: error: more than 100000 values, with aliases written out\n");
    str_clear(&s);
    for (int i = 0; i < 65; i++)
        str_puts(&s, "[");
    bad(s.text, "t.yaml:1:65: error: nested deeper than 64 levels\n");
    str_clear(&s);
    str_puts(&s, "- &a0 [x]\n"); /* deep only by its aliases */
    for (int i = 1; i < 70; i++)
        str_printf(&s, "- &a%d [*a%d]\n", i, i - 1);
    bad(s.text, "t.yaml:63:9: error: nested deeper than 64 levels\n");
    str_clear(&s);
    for (int i = 0; i < 5000; i++)
        str_printf(&s, "k%d: 1\n", i);
    bad(s.text, "t.yaml:4097:1: error: more than 4096 keys in one map\n");
    str_release(&s);
}
END_TEST

START_TEST(duplicates) /* B36 */
{
    bad("optimizer:\n  lr: 0.1\n  type: sgd\n  lr: 0.001\n",
        "t.yaml:4:3: error: the key 'lr' stands here twice\n"
        "t.yaml:2:3: note: the first one is here\n");
    bad("a: 1\nb: {c: 1, c: 2}\na: 2\n", "t.yaml:2:11: error: the key 'c' stands here twice\n"
                                         "t.yaml:2:5: note: the first one is here\n"
                                         "t.yaml:3:1: error: the key 'a' stands here twice\n"
                                         "t.yaml:1:1: note: the first one is here\n");
    bad("a: 1\n\"a\": 2\n", "t.yaml:2:1: error: the key 'a' stands here twice\n"
                            "t.yaml:1:1: note: the first one is here\n");
}
END_TEST

START_TEST(documents)
{
    bad("a: 1\n---\na: 2\n",
        "t.yaml:2:1: error: a second document starts here: one file is one config\n");
    bad("", "t.yaml: error: there is nothing in it\n");
    bad("# only a comment\n", "t.yaml: error: there is nothing in it\n");
    bad("---\n", "t.yaml: error: there is nothing in it\n");
    good("---\na: 1\n...\n");
}
END_TEST

START_TEST(refused_yaml)
{
    bad("a: !!str 1\n", "t.yaml:1:4: error: tags (!) are not supported: leave it out\n");
    bad("!x {a: 1}\n", "t.yaml:1:1: error: tags (!) are not supported: leave it out\n");
    bad("a: &x {b: 1}\nc:\n  <<: *x\n",
        "t.yaml:3:3: error: merge keys (<<) are not supported: write the keys out\n");
    bad("? [a]\n: 1\n", "t.yaml:1:3: error: a key must be plain text\n");
    bad("? {a: 1}\n: 1\n", "t.yaml:1:3: error: a key must be plain text\n");
    bad("x: &k a\n*k : 1\n", "t.yaml:2:1: error: a key must be plain text\n");
    bad("'': 1\n", "t.yaml:1:1: error: a key must not be empty\n");
    bad("a: \"x\\0y\"\n", "t.yaml:1:4: error: text must not hold a NUL character\n");
    good("\"<<\": 1\n");
}
END_TEST

START_TEST(syntax)
{
    bad("a:\n\tb: 1\n", "t.yaml:2:1: error: found character that cannot start any token while "
                        "scanning for the next token\n"
                        "t.yaml:2:1: note: indent with blanks: YAML takes no tabs\n");
    bad("a: [1, 2\nb: 3\n", "t.yaml:2:2: error: did not find expected ',' or ']' while parsing a "
                            "flow sequence\nt.yaml:1:4: note: it began here\n");
    bad("a: 1\n  b: 2\n", "t.yaml:2:4: error: mapping values are not allowed in this context\n");
    bad("a: \x07\n", "t.yaml:1:4: error: control characters are not allowed (0x07)\n");
}
END_TEST

START_TEST(encodings)
{
    bad_bytes("\xFF\xFE"
              "a\0:\0",
              6, "t.yaml:1:1: error: the text is UTF-16: save it as UTF-8\n");
    bad_bytes("\xFE\xFF\0a", 4, "t.yaml:1:1: error: the text is UTF-16: save it as UTF-8\n");
    bad_bytes("a: 1\nb: \0\n", 10,
              "t.yaml:2:4: error: NUL byte at offset 8: this is no text file\n");
    bad("a: 1\nb: \xC3\xA9 \xE9t\n",
        "t.yaml:2:6: error: byte 0xE9 at offset 11 is not valid UTF-8\n");
    bad("a: \xC3", "t.yaml:1:4: error: byte 0xC3 at offset 3 is not valid UTF-8\n");
    bad("a: \xF5\x80\x80\x80 1", "t.yaml:1:4: error: byte 0xF5 at offset 3 is not valid UTF-8\n");
    bad("a: \xED\xA0\x80", "t.yaml:1:4: error: byte 0xED at offset 3 is not valid UTF-8\n");
}
END_TEST

static void bad_file(const char *path, const char *expected)
{
    const struct value *v = NULL;
    diag_init(&diag);
    ck_assert_int_eq(yaml_tree_read(&v, path, &pool, &diag), RC_CONFIG);
    ck_assert_str_eq(diag.items[0].text, expected);
}

START_TEST(files)
{
    char folder[] = "/tmp/test_yaml_tree.XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    bad_file("none.yaml", "none.yaml: error: cannot read the config: No such file or directory");
    ck_assert_int_eq(mkdir("dir.yaml", 0700), 0);
    bad_file("dir.yaml", "dir.yaml: error: cannot read the config: it is a directory");
    FILE *f = fopen("big.yaml", "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(ftruncate(fileno(f), YAML_TREE_MAX_BYTES + 1), 0);
    fclose(f);
    bad_file("big.yaml", "big.yaml: error: larger than 16 MiB");
    f = fopen("empty.yaml", "w");
    ck_assert_ptr_nonnull(f);
    fclose(f);
    bad_file("empty.yaml", "empty.yaml: error: there is nothing in it");
    if (geteuid() != 0) { /* root may read everything */
        ck_assert_int_eq(chmod("empty.yaml", 0), 0);
        bad_file("empty.yaml", "empty.yaml: error: cannot read the config: Permission denied");
    }
    const struct value *v = NULL;
    diag_init(&diag);
    f = fopen("good.yaml", "w");
    ck_assert_ptr_nonnull(f);
    fputs("a: 1\n", f);
    fclose(f);
    ck_assert_int_eq(yaml_tree_read(&v, "good.yaml", &pool, &diag), RC_OK);
    ck_assert_str_eq(v->loc.file, "good.yaml");
    unlink("big.yaml"), unlink("empty.yaml"), unlink("good.yaml"), rmdir("dir.yaml");
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(one_value)
{
    const struct loc loc = {"--set a.b=[1, 2]", 0, 0};
    const struct value *v = NULL;
    ck_assert_int_eq(yaml_tree_parse_value(&v, "[1, 2]", loc, &pool, &diag), RC_OK);
    ck_assert_int_eq(v->n, 2);
    ck_assert_int_eq(v->items[1]->loc.line, 0);
    ck_assert_int_eq(yaml_tree_parse_value(&v, "", loc, &pool, &diag), RC_OK);
    ck_assert_int_eq(v->kind, VALUE_SCALAR);
    ck_assert_str_eq(v->text, "");
    ck_assert_int_eq(yaml_tree_parse_value(&v, "[1", loc, &pool, &diag), RC_CONFIG);
    ck_assert_str_eq(diag.items[0].text, "--set a.b=[1, 2]: error: did not find expected ',' or "
                                         "']' while parsing a flow sequence");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("yaml_tree");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, places_and_kinds);
    tcase_add_test(tests, mark_is_removed);
    tcase_add_test(tests, columns_count_characters);
    tcase_add_test(tests, aliases);
    tcase_add_test(tests, hostile_expansion);
    tcase_add_test(tests, duplicates);
    tcase_add_test(tests, documents);
    tcase_add_test(tests, refused_yaml);
    tcase_add_test(tests, syntax);
    tcase_add_test(tests, encodings);
    tcase_add_test(tests, files);
    tcase_add_test(tests, one_value);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
