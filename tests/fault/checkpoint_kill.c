/* checkpoint_kill.c: a process that saves to one path again and again is killed at 200 random
 * moments (B22). After each kill the file must be whole, hold the newest save that was finished (or
 * the one after it), and be of one piece: every value in it belongs to the same save. */
#include "config.h"

#include "checkpoint/checkpoint.h"

#include "base/par.h"
#include "base/rng.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KILLS = 200, N = 4000, TENSORS = 3 };

static char folder[64], path[96];
static float values[TENSORS][N];
static int64_t longest_wait_us; /* a few saves long */
static struct diag d;

static void fail(const char *what, int kill_number)
{
    fprintf(stderr, "checkpoint_kill: kill %d: %s\n", kill_number, what);
    diag_print(&d, 0, stderr);
    exit(1);
}

/* Values that tell to which save they belong, half of them noise. */
static void fill(int64_t step)
{
    for (int t = 0; t < TENSORS; t++)
        for (int i = 0; i < N; i++)
            values[t][i] = (float)(step * 10 + t) + (i % 2 ? 0.0f : (float)i / N);
}

/* The child: saves until it is killed, and says after each save which one is done. */
static _Noreturn void save_for_ever(int64_t step, int told)
{
    static const char *const names[TENSORS] = {"a", "b", "c"};
    struct checkpoint_tensor t[TENSORS];
    for (int i = 0; i < TENSORS; i++)
        t[i] = (struct checkpoint_tensor){names[i], DTYPE_F32, 1, {N}, values[i]};
    struct checkpoint_content content = {
        .config = "", .fingerprint = "", .n_tensors = TENSORS, .tensors = t};
    for (;; step++) {
        fill(step);
        content.progress.step = step;
        if (checkpoint_write(path, &content, 1, &d) != RC_OK)
            fail("the save itself failed", -1);
        if (write(told, &step, sizeof(step)) != (ssize_t)sizeof(step))
            _exit(1);
    }
}

/* The step in the file, after all of it was compared. */
static int64_t check(int kill_number)
{
    struct checkpoint c;
    static float back[N];
    if (checkpoint_open(&c, path, &d) != RC_OK || checkpoint_verify(&c, &d) != RC_OK)
        fail("the checkpoint is not whole", kill_number);
    int64_t step = c.progress.step;
    fill(step);
    for (int i = 0; i < TENSORS; i++) {
        if (checkpoint_read(&c, &c.entries[i], back, &d) != RC_OK)
            fail("cannot read", kill_number);
        if (memcmp(back, values[i], sizeof(back)) != 0)
            fail("the values belong to another save", kill_number);
    }
    checkpoint_close(&c);
    return step;
}

static void wait_us(int64_t us)
{
    struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};
    while (nanosleep(&t, &t) != 0)
        ;
}

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Returns the step found; `from` is the one known to be in the file. */
static int64_t one_kill(int number, int64_t from)
{
    int ends[2];
    int64_t done = from, told;
    if (pipe(ends) != 0)
        fail("no pipe", number);
    pid_t child = fork();
    if (child < 0)
        fail("no process", number);
    if (child == 0) {
        close(ends[0]);
        save_for_ever(from + 1, ends[1]);
    }
    close(ends[1]);
    if (number == 0) {
        int64_t start = now_us();
        if (read(ends[0], &done, sizeof(done)) != (ssize_t)sizeof(done))
            fail("the first save did not come", number);
        longest_wait_us = 8000 + 4 * (now_us() - start);
    }
    wait_us((int64_t)rng_below(rng_key(1, RNG_SYNTHETIC, 0, 0), (uint64_t)number,
                               (uint64_t)longest_wait_us));
    kill(child, SIGKILL);
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
        fail("the child ended by itself", number);
    while (read(ends[0], &told, sizeof(told)) == (ssize_t)sizeof(told))
        done = told;
    close(ends[0]);
    int64_t found = check(number);
    if (found != done && found != done + 1)
        fail("the newest finished save is not what stands in the file", number);
    return found;
}

static int clean_up(void)
{
    int left = 0;
    checkpoint_prune(folder, 1);
    DIR *dir = opendir(folder);
    const struct dirent *item;
    while (dir && (item = readdir(dir)) != NULL)
        left += strstr(item->d_name, ".tmp-") != NULL;
    if (dir)
        closedir(dir);
    unlink(path);
    rmdir(folder);
    return left;
}

int main(void)
{
    int64_t step = 0;
    diag_init(&d);
    strcpy(folder, "/tmp/checkpoint_kill-XXXXXX");
    if (!mkdtemp(folder))
        fail("no temporary folder", 0);
    snprintf(path, sizeof(path), "%s/step-00000001.mpt", folder);
    for (int i = 0; i < KILLS; i++)
        step = one_kill(i, step);
    int left = clean_up();
    printf("%d kills, %lld saves, %d leftovers after pruning\n", KILLS, (long long)step, left);
    return left != 0 || step < KILLS / 10;
}
