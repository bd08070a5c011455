/* columns.h: passes over a matrix (rows, columns) tile by tile, where each column has numbers of
 * its own, and sums over the rows: for normalisation over a batch. A tile is contiguous: whole
 * rows, or part of one. Cut by the size alone, summed in a fixed order. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "op/op.h"

enum { COLUMNS_MOST_PARTS = 64 };

/* Some rows, and all of their columns or, of one row, some. */
struct columns_tile {
    int64_t at, n; /* elements */
    int64_t rows, col, cols;
};

/* fn for every tile, on all threads. */
void columns_each(int64_t rows, int64_t columns,
                  void (*fn)(void *context, const struct columns_tile *t), void *context);

/* The same for rows row .. end-1, on the calling thread. */
void columns_walk(int64_t row, int64_t end, int64_t columns,
                  void (*fn)(void *context, const struct columns_tile *t), void *context);

/* Two sums over the rows for each column: fn adds a tile's to sum and square (cols), FP32, which
 * are added up in FP64: out (2, columns). scratch: columns_scratch(columns) bytes. */
void columns_sums(int64_t rows, int64_t columns,
                  void (*fn)(void *context, const struct columns_tile *t, float *first,
                             float *second),
                  void *context, void *scratch, double *out);
size_t columns_scratch(int64_t columns);

#endif
