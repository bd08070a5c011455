/* test_par.c: base/par.h: every block once, whatever the number of threads; jobs in quick
 * succession, jobs after a pause in which the threads went to sleep, and a forked child. */
#include "config.h"

#include "base/par.h"

#include <check.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 1000 };

struct tally {
    atomic_int times[BLOCKS]; /* how often each block ran */
    atomic_int bad_thread;
};

static void count(void *context, int64_t block)
{
    struct tally *t = context;
    atomic_fetch_add(&t->times[block], 1);
    if (par_thread() < 0 || par_thread() >= par_threads())
        atomic_store(&t->bad_thread, 1);
}

static void run(int threads, int64_t blocks)
{
    static struct tally t;
    for (int i = 0; i < BLOCKS; i++)
        atomic_store(&t.times[i], 0);
    par_set_threads(threads);
    par_for(blocks, count, &t);
    for (int i = 0; i < BLOCKS; i++)
        ck_assert_int_eq(atomic_load(&t.times[i]), i < blocks);
    ck_assert_int_eq(atomic_load(&t.bad_thread), 0);
}

START_TEST(each_block_once)
{
    static const int64_t sizes[] = { 0, 1, 2, 3, 7, 64, BLOCKS };
    for (int threads = 1; threads <= 5; threads++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            run(threads, sizes[i]);
    for (int i = 0; i < 2000; i++) /* fewer, more: those who sit out must not join later */
        run(1 + i % 4, 1 + i % 9);
}
END_TEST

START_TEST(after_a_sleep)
{
    for (int i = 0; i < 20; i++) {
        run(3, 50);
        usleep(3000);
    }
}
END_TEST

START_TEST(in_a_child)
{
    run(3, 50);
    pid_t child = fork();
    if (child == 0) {
        run(3, 50);
        _Exit(0);
    }
    int status = 1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    run(3, 50);
}
END_TEST

START_TEST(all_cores)
{
    par_set_threads(0);
    ck_assert_int_ge(par_threads(), 1);
    par_set_threads(PAR_MAX_THREADS + 1);
    ck_assert_int_eq(par_threads(), PAR_MAX_THREADS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("par");
    TCase *cases = tcase_create("par");
    tcase_add_test(cases, each_block_once);
    tcase_add_test(cases, after_a_sleep);
    tcase_add_test(cases, in_a_child);
    tcase_add_test(cases, all_cores);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
