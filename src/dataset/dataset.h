/* dataset.h: rows of inputs and targets. One reader a format: reader_<name>.c and a line in
 * dataset.list. A reader turns files into a struct dataset, all in memory, and refuses anything
 * broken with file, row or line, and value. gzip is told by content, not by name.
 *
 * Random order is a function of (seed, epoch), so that resume and threads do not matter. */
#ifndef DATASET_H
#define DATASET_H

#include "base/keys.h"
#include "graph/dtype.h"
#include "graph/tensor.h"

#include <stdbool.h>
#include <stdint.h>

enum dataset_target { DATASET_NO_TARGET, DATASET_CLASSES, DATASET_VALUES };

struct dataset {
    struct pool pool;
    const char *name;  /* "train", "test", ...: for messages */
    const char *source; /* the file of the inputs */
    const char *target_source; /* the file of the targets, may be the same */
    int first_line;    /* text formats: line of row 0, so that messages can say file:line; else 0 */
    int64_t rows;
    int64_t *origin;   /* (rows) line (text formats) or row (from 1) in the file, for messages;
                        * NULL: counting on from first_line or from row 1; owned */
    int rank;          /* of one input row */
    int64_t dims[TENSOR_MAX_RANK];
    int64_t columns;   /* elements of one input row */
    enum dtype dtype;  /* of inputs: DTYPE_F32 or DTYPE_U8 */
    void *inputs;      /* (rows, columns), owned */
    enum dataset_target target;
    int64_t target_columns; /* values: per row */
    int64_t *classes;  /* (rows) as in the file, range not yet checked; owned */
    float *values;     /* (rows, target_columns); owned */
    bool reconstructs; /* the targets are the inputs, normalised and not augmented: no values */
    int n_class_names; /* text labels: in order of their class; else 0 */
    const char **class_names;
    const char **column_names; /* from a CSV header, or NULL */
};

/* What the run needs from a split; filled by the caller. */
struct dataset_want {
    enum dataset_target target;
    /* text labels of the training set, so that other splits use the same numbers; NULL: none yet */
    int n_class_names;
    const char *const *class_names;
    uint64_t seed;  /* synthetic data */
};

struct reader {
    const char *name, *help;
    const struct key *keys; /* of one split: `data: {type: idx, train: {...}}` */
    size_t attrs_size;
    enum rc (*open)(struct dataset *out, const struct section *split,
                    const struct dataset_want *want, struct diag *d);
    /* Called by dataset_open_inputs(). NULL: not for prediction. */
    enum rc (*open_inputs)(struct dataset *out, const char *path, const struct section *split,
                           struct diag *d);
};

const struct reader *dataset_reader(const char *name); /* NULL: none */
const struct reader *dataset_reader_at(int i);         /* NULL behind the last */

/* Reads a split. On failure *out is released. */
MUST_USE enum rc dataset_open(struct dataset *out, const struct reader *reader, const char *name,
                              const struct section *split, const struct dataset_want *want,
                              struct diag *d);
/* The inputs of a file alone, for prediction; split: the keys of the format, as at training.
 * RC_CONFIG where the reader reads no file. On failure *out is released. */
MUST_USE enum rc dataset_open_inputs(struct dataset *out, const struct reader *reader,
                                     const char *path, const struct section *split,
                                     struct diag *d);
void dataset_release(struct dataset *ds);

/* Moves a share of ds's rows, picked by seed, into *held (for a validation split). */
MUST_USE enum rc dataset_hold_out(struct dataset *ds, double share, uint64_t seed,
                                  struct dataset *held, struct diag *d);

/* From now on the targets of ds are its inputs. */
void dataset_reconstruct(struct dataset *ds);

/* Every class must be in 0 .. n_classes-1, or be the ignored label (-1: none). Reports the first
 * few offenders with file, row, value and range. */
MUST_USE enum rc dataset_check_classes(const struct dataset *ds, int64_t n_classes,
                                       int64_t ignored_label, struct diag *d);

/* CRC-32 of all inputs and targets: tells whether two splits hold the same rows. */
uint32_t dataset_crc(const struct dataset *ds);

/* Input normalisation: x -> (x - shift) * factor, constants from the training split. */
enum normalize { NORMALIZE_NONE, NORMALIZE_STANDARD, NORMALIZE_MINMAX };
enum normalize_by { NORMALIZE_BY_COLUMN, NORMALIZE_BY_CHANNEL, NORMALIZE_BY_ALL };

struct normalizer {
    int64_t columns; /* 1: the same for all columns */
    float *shift, *factor; /* (columns), owned */
};

/* divide: all inputs are divided by it first. A constant column becomes 0 with a warning. */
MUST_USE enum rc normalizer_init(struct normalizer *n, const struct dataset *train, double divide,
                                 enum normalize how, enum normalize_by by, struct diag *d);
void normalizer_release(struct normalizer *n);

/* order[i] = row that comes i-th in this epoch. shuffle false: 0, 1, 2 ... */
void dataset_order(int64_t rows, bool shuffle, uint64_t seed, int64_t epoch, int64_t *order);

struct augmenter;

/* Copies n rows (order[0..n-1]) into inputs (n, columns) f32, normalised, and targets: (n) i32 for
 * classes or (n, target_columns) f32 for values; either may be NULL. augmenter: NULL, or what
 * changes the inputs at random. All threads. */
void dataset_gather(const struct dataset *ds, const struct normalizer *norm,
                    const struct augmenter *augmenter, const int64_t *order, int64_t n,
                    float *inputs, void *targets);

#endif
