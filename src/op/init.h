/* init.h: how a param starts. A function of the seed, the param's name and the element alone, so
 * that adding a layer, or changing the precision or the threads, changes no other weight. */
#ifndef INIT_H
#define INIT_H

#include "graph/tensor.h"

#include <stdint.h>

/* Fills all elements of param t, by t->init. */
void init_fill(const struct tensor *t, uint64_t seed, float *out /* (t->dims) f32 */);

#endif
