/* test_cpu.c: levels, caps and their errors, on whatever machine runs the tests; and a few exact
 * values of base/half.h (tests/kern/test_cast.c has all of them). */
#include "config.h"

#include "base/cpu.h"
#include "base/half.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct diag diag;

static void setup(void)
{
    unsetenv("MPTRAIN_ISA");
    diag_init(&diag);
}

START_TEST(best_without_cap)
{
    ck_assert_int_eq(cpu_init(NULL, &diag), RC_OK);
    ck_assert_int_eq(cpu_isa(), cpu_best());
    for (int i = 0; i < ISA_COUNT; i++) {
        enum isa isa = (enum isa)i;
        ck_assert_int_eq(cpu_has(isa), isa <= cpu_best());
        ck_assert_int_eq(cpu_missing(isa) == NULL, cpu_has(isa));
        printf("%s: %s\n", isa_name(isa), cpu_has(isa) ? "runs here" : cpu_missing(isa));
    }
#if defined(__x86_64__) && defined(__GNUC__)
    /* the compiler's own detection must agree (it does not know about tiles' permission) */
#ifdef HAVE_AVX2
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    ck_assert_int_eq(cpu_has(ISA_AVX2), avx2);
#endif
#if defined(HAVE_AVX512) && defined(HAVE_AVX2)
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    ck_assert_int_eq(cpu_has(ISA_AVX512), avx512);
#endif
#endif
}
END_TEST

START_TEST(every_level_as_cap)
{
    ck_assert_int_eq(cpu_init(NULL, &diag), RC_OK);
    for (int i = 0; i <= (int)cpu_best(); i++) {
        ck_assert_int_eq(cpu_init(isa_name((enum isa)i), &diag), RC_OK);
        ck_assert_int_eq(cpu_isa(), i);
        setenv("MPTRAIN_ISA", isa_name((enum isa)i), 1);
        ck_assert_int_eq(cpu_init(NULL, &diag), RC_OK);
        ck_assert_int_eq(cpu_isa(), i);
        unsetenv("MPTRAIN_ISA");
    }
    ck_assert_int_eq(cpu_init("scalar", &diag), RC_OK);
    if (cpu_best() > ISA_SCALAR)
        ck_assert_str_eq(cpu_missing(ISA_AVX2), "capped by --isa scalar");
    setenv("MPTRAIN_ISA", "scalar", 1);
    ck_assert_int_eq(cpu_init(NULL, &diag), RC_OK);
    if (cpu_best() > ISA_SCALAR)
        ck_assert_str_eq(cpu_missing(cpu_best()), "capped by MPTRAIN_ISA scalar");
    ck_assert_int_eq(diag.n_errors, 0);
}
END_TEST

START_TEST(option_beats_environment)
{
    setenv("MPTRAIN_ISA", "nonsense", 1);
    ck_assert_int_eq(cpu_init("scalar", &diag), RC_OK);
    ck_assert_int_eq(cpu_isa(), ISA_SCALAR);
}
END_TEST

START_TEST(unknown_names)
{
    ck_assert_int_eq(cpu_init("avx3", &diag), RC_USAGE);
    ck_assert_ptr_nonnull(strstr(diag.items[0].text, "--isa: unknown instruction set 'avx3'"));
    ck_assert_ptr_nonnull(strstr(diag.items[1].text, "did you mean 'avx2'?"));
    diag_init(&diag);
    setenv("MPTRAIN_ISA", "AMX", 1); /* names are exact, as everywhere in the interface */
    ck_assert_int_eq(cpu_init(NULL, &diag), RC_USAGE);
    ck_assert_ptr_nonnull(strstr(diag.items[0].text, "MPTRAIN_ISA: unknown"));
    diag_init(&diag);
    ck_assert_int_eq(cpu_init("", &diag), RC_USAGE);
    diag_init(&diag);
    setenv("MPTRAIN_ISA", "", 1);
    ck_assert_int_eq(cpu_init(NULL, &diag), RC_OK);
    ck_assert_int_eq(cpu_isa(), cpu_best());
}
END_TEST

START_TEST(unavailable_names)
{
    ck_assert_int_eq(cpu_init(NULL, &diag), RC_OK);
    for (int i = (int)cpu_best() + 1; i < ISA_COUNT; i++) {
        diag_init(&diag);
        ck_assert_int_eq(cpu_init(isa_name((enum isa)i), &diag), RC_USAGE);
        ck_assert_ptr_nonnull(strstr(diag.items[0].text, "cannot run here"));
        ck_assert_ptr_nonnull(strstr(diag.items[1].text, isa_name(cpu_best())));
    }
}
END_TEST

START_TEST(facts)
{
    ck_assert_int_eq(cpu_init(NULL, &diag), RC_OK);
    size_t l1 = cpu_cache(1), l2 = cpu_cache(2), l3 = cpu_cache(3);
    ck_assert(l1 >= 8 << 10 && l1 <= 256 << 10);
    ck_assert(l2 >= 128 << 10 && l2 <= 8 << 20);
    ck_assert(l3 >= 256 << 10 && l3 <= 16 << 20);
    ck_assert_uint_gt(strlen(cpu_name()), 0);
    printf("%s: L1 %zu, L2 %zu, L3 %zu bytes a core\n", cpu_name(), l1, l2, l3);
}
END_TEST

/* half.h has no source file of its own. */
START_TEST(half_values)
{
    ck_assert_uint_eq(half_f32_to_f16(65519.99609375f), 0x7BFF);
    ck_assert_uint_eq(half_f32_to_f16(65520.0f), 0x7C00);
    ck_assert_uint_eq(half_f32_to_f16(-1e30f), 0xFC00);
    ck_assert_uint_eq(half_f32_to_f16(0x1p-25f), 0x0000);
    ck_assert_uint_eq(half_f32_to_f16(0x1.000002p-25f), 0x0001);
    ck_assert_uint_eq(half_f32_to_f16(0x1.ffep-15f), 0x0400); /* a tie, up into the normals */
    ck_assert_uint_eq(half_f32_to_bf16(half_bits_float(0x7F7FFFFFu)), 0x7F80);
    ck_assert_uint_eq(half_f32_to_bf16(half_bits_float(0x00018000u)), 0x0002);
    ck_assert_uint_eq(half_float_bits(half_f16_to_f32(0x7C01)), 0x7FC02000u);
    ck_assert_uint_eq(half_float_bits(half_bf16_to_f32(0xFFC0)), 0xFFC00000u);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cpu");
    TCase *t = tcase_create("cpu");
    tcase_set_timeout(t, 60); /* the machine may be busy */
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_add_test(t, best_without_cap);
    tcase_add_test(t, every_level_as_cap);
    tcase_add_test(t, option_beats_environment);
    tcase_add_test(t, unknown_names);
    tcase_add_test(t, unavailable_names);
    tcase_add_test(t, facts);
    tcase_add_test(t, half_values);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
