/* par.c: see par.h.
 *
 * par_for publishes the job and then a ticket: a counter with the size of the team in its low
 * bits. A worker whose number lies within the team takes blocks from the shared counter until none
 * is left. Both travel in one word, so that a worker that wakes up late cannot take the size of
 * one job for the counter of another. */
#include "config.h"

#include "base/par.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    TEAM_BITS = 9, /* holds PAR_MAX_THREADS */
    SPINS = 200    /* yields before a thread sleeps: some 50 to 100 microseconds */
};

static struct {
    int workers; /* started; the caller is thread 0 and not among them */
    bool forks_watched;

    void (*body)(void *context, int64_t block);
    void *context;
    int64_t n_blocks;
    atomic_int_fast64_t next; /* block */
    atomic_uint_fast64_t ticket;
    atomic_int busy;          /* workers of this job that have not finished */

    pthread_mutex_t lock; /* for sleeping only */
    pthread_cond_t work, done;
} team = { .lock = PTHREAD_MUTEX_INITIALIZER,
           .work = PTHREAD_COND_INITIALIZER,
           .done = PTHREAD_COND_INITIALIZER };

static int n_threads = 1;
static _Thread_local int thread_number;

static void take_blocks(void)
{
    int64_t i;
    while ((i = atomic_fetch_add_explicit(&team.next, 1, memory_order_relaxed)) < team.n_blocks)
        team.body(team.context, i);
}

static uint_fast64_t next_ticket(uint_fast64_t seen)
{
    for (int i = 0; i < SPINS; i++) {
        uint_fast64_t t = atomic_load_explicit(&team.ticket, memory_order_acquire);
        if (t != seen)
            return t;
        sched_yield();
    }
    pthread_mutex_lock(&team.lock);
    uint_fast64_t t;
    while ((t = atomic_load_explicit(&team.ticket, memory_order_acquire)) == seen)
        pthread_cond_wait(&team.work, &team.lock);
    pthread_mutex_unlock(&team.lock);
    return t;
}

static void *worker_main(void *number)
{
    thread_number = (int)(intptr_t)number;
    uint_fast64_t seen = 0;
    for (;;) {
        seen = next_ticket(seen);
        if (thread_number >= (int)(seen & ((1U << TEAM_BITS) - 1)))
            continue;
        take_blocks();
        if (atomic_fetch_sub_explicit(&team.busy, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&team.lock);
            pthread_cond_signal(&team.done);
            pthread_mutex_unlock(&team.lock);
        }
    }
    return NULL;
}

/* A child has none of its parent's threads: it starts its own. */
static void after_fork(void)
{
    team.workers = 0;
    atomic_store(&team.ticket, 0);
    pthread_mutex_init(&team.lock, NULL);
    pthread_cond_init(&team.work, NULL);
    pthread_cond_init(&team.done, NULL);
}

/* As many workers as can be had, up to n; signals stay with the thread that asked. */
static void start_workers(int n)
{
    if (team.workers >= n)
        return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!team.forks_watched)
        team.forks_watched = pthread_atfork(NULL, NULL, after_fork) == 0;
    while (team.workers < n) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker_main, (void *)(intptr_t)(team.workers + 1)) != 0)
            break;
        pthread_detach(thread);
        team.workers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void par_set_threads(int n)
{
    if (n <= 0) {
        cpu_set_t cores;
        n = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
    }
    n_threads = n > PAR_MAX_THREADS ? PAR_MAX_THREADS : n;
}

int par_threads(void)
{
    return n_threads;
}

static void wait_for_workers(void)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&team.busy, memory_order_acquire) == 0)
            return;
        sched_yield();
    }
    pthread_mutex_lock(&team.lock);
    while (atomic_load_explicit(&team.busy, memory_order_acquire) != 0)
        pthread_cond_wait(&team.done, &team.lock);
    pthread_mutex_unlock(&team.lock);
}

void par_for(int64_t n_blocks, void (*body)(void *context, int64_t block), void *context)
{
    int size = n_blocks < n_threads ? (int)n_blocks : n_threads;
    if (size > 1)
        start_workers(size - 1);
    if (size > team.workers + 1)
        size = team.workers + 1;
    if (size <= 1) {
        for (int64_t i = 0; i < n_blocks; i++)
            body(context, i);
        return;
    }
    team.body = body;
    team.context = context;
    team.n_blocks = n_blocks;
    atomic_store_explicit(&team.next, 0, memory_order_relaxed);
    atomic_store_explicit(&team.busy, size - 1, memory_order_relaxed);

    uint_fast64_t last = atomic_load_explicit(&team.ticket, memory_order_relaxed);
    uint_fast64_t ticket = (((last >> TEAM_BITS) + 1) << TEAM_BITS) | (unsigned)size;
    pthread_mutex_lock(&team.lock); /* or a worker that is about to sleep would miss it */
    atomic_store_explicit(&team.ticket, ticket, memory_order_release);
    pthread_cond_broadcast(&team.work);
    pthread_mutex_unlock(&team.lock);

    take_blocks();
    wait_for_workers();
}

int par_thread(void)
{
    return thread_number;
}
