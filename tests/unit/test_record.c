/* test_record.c: the record table is sound: it names every member once, and says what it is. */
#include "config.h"

#include "log/record.h"

#include "base/rc.h"

#include <check.h>
#include <string.h>

static const size_t sizes[] = {[FIELD_INT] = sizeof(int64_t),
                               [FIELD_FLOAT] = sizeof(double),
                               [FIELD_BOOL] = sizeof(bool),
                               [FIELD_TEXT] = sizeof(const char *)};

START_TEST(types_have_words)
{
    for (int t = 0; t < RECORD_COUNT; t++) {
        ck_assert_ptr_nonnull(record_types[t].name);
        ck_assert_uint_gt(strlen(record_types[t].help), 10);
        for (int u = 0; u < t; u++)
            ck_assert_str_ne(record_types[t].name, record_types[u].name);
    }
}
END_TEST

START_TEST(fields_have_words)
{
    for (const struct record_field *f = record_fields; f->name; f++) {
        ck_assert_uint_ne(f->types, 0);
        ck_assert_uint_eq(f->types >> RECORD_COUNT, 0);
        ck_assert_msg(f->help && strlen(f->help) >= 5, "%s", f->name);
        ck_assert_str_ne(f->name, "type");
        ck_assert_str_ne(f->name, "nonfinite");
        for (const struct record_field *g = record_fields; g != f; g++)
            ck_assert_str_ne(f->name, g->name);
    }
}
END_TEST

/* Each byte of struct record but `type` and `has_accuracy` belongs to one row: a member without a
 * row would be lost without a word. Holes between members are at most 7 bytes. */
START_TEST(every_member_has_a_row)
{
    unsigned char owned[sizeof(struct record)] = {0};
    memset(owned + offsetof(struct record, type), 1, sizeof(enum record_type));
    memset(owned + offsetof(struct record, has_accuracy), 1, sizeof(bool));
    for (const struct record_field *f = record_fields; f->name; f++)
        for (size_t i = 0; i < sizes[f->type]; i++)
            ck_assert_msg(!owned[f->offset + i]++, "%s", f->name);
    size_t hole = 0;
    for (size_t i = 0; i < sizeof(owned); i++) {
        hole = owned[i] ? 0 : hole + 1;
        ck_assert_msg(hole < 8, "no row for what ends at byte %zu", i);
    }
}
END_TEST

START_TEST(only_accuracy_is_optional)
{
    for (const struct record_field *f = record_fields; f->name; f++)
        ck_assert_int_eq(f->has != 0, strcmp(f->name, "accuracy") == 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("record");
    TCase *c = tcase_create("record");
    tcase_add_test(c, types_have_words);
    tcase_add_test(c, fields_have_words);
    tcase_add_test(c, every_member_has_a_row);
    tcase_add_test(c, only_accuracy_is_optional);
    suite_add_tcase(suite, c);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
