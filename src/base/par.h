/* par.h: threads. The only place that starts any.
 *
 * One team for the process: the caller of par_for and threads that are started once, when they
 * are first wanted. A thread that waits spins for a moment, yielding, then sleeps: a machine that
 * runs more threads than it has cores slows down by what it shares, not by what it spins away
 * (OpenMP's threads spin; how long can be said only before the program starts).
 *
 * Invariant (promise 4): work is cut into blocks by the size of the problem, never by the number
 * of threads, and no two blocks write the same place, so that every thread count gives the same
 * bits. A block function may call anything but par_for; par_for is called by one thread only. */
#ifndef PAR_H
#define PAR_H

#include <stdint.h>

enum { PAR_MAX_THREADS = 256 };

/* The number of threads from now on; 0: all cores that the process may use. */
void par_set_threads(int n);
int par_threads(void);

/* Calls body(context, i) for every i in 0 .. n_blocks-1, in any order, on any thread. Where no
 * thread can be started, the caller does all of it. */
void par_for(int64_t n_blocks, void (*body)(void *context, int64_t block), void *context);

/* Which thread runs this block, 0 .. par_threads()-1: for picking a scratch buffer only. */
int par_thread(void);

#endif
