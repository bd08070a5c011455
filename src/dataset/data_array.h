/* data_array.h: an array as a file stores it, and how it becomes inputs or targets.
 *
 * What IDX and npy share: their readers understand a header, this does the rest. Invariant: sizes
 * are multiplied with overflow checks, and no memory is taken that the file does not fill. */
#ifndef DATA_ARRAY_H
#define DATA_ARRAY_H

#include "dataset/data_file.h"
#include "dataset/dataset.h"

enum data_array_type {
    DATA_ARRAY_U8,
    DATA_ARRAY_I8,
    DATA_ARRAY_U16,
    DATA_ARRAY_I16,
    DATA_ARRAY_U32,
    DATA_ARRAY_I32,
    DATA_ARRAY_I64,
    DATA_ARRAY_F16,
    DATA_ARRAY_F32,
    DATA_ARRAY_F64,
    DATA_ARRAY_TYPES
};

/* The header fills everything but data. dims[0] counts the rows. */
struct data_array {
    const char *name; /* the file; borrowed */
    enum data_array_type type;
    bool big_endian;
    bool fortran; /* first index fastest; data_array_load turns it into C order */
    int rank;
    int64_t dims[TENSOR_MAX_RANK];
    void *data; /* owned */
};

/* Reads a header from f into everything of *out but its data. */
typedef enum rc data_array_header(struct data_array *out, struct data_file *f, struct diag *d);

/* Header, then data: afterwards C order, of this machine's byte order. Refuses empty arrays. */
MUST_USE enum rc data_array_load(struct data_array *out, struct data_file *f,
                                 data_array_header *header, struct diag *d);
void data_array_release(struct data_array *a);

/* Moves an array into ds: rows, rank, dims, dtype, inputs. u8 stays u8, all else becomes f32
 * (rounded to nearest); a number that FP32 cannot hold, inf or NaN is refused with its row. */
MUST_USE enum rc data_array_to_inputs(struct data_array *a, struct dataset *ds, struct diag *d);
/* Converts an array into ds->classes or ds->values, as `target` says; row counts must agree. */
MUST_USE enum rc data_array_to_targets(const struct data_array *a, enum dataset_target target,
                                       struct dataset *ds, struct diag *d);

/* A whole split from one or two files (targets "": none); split has a key `targets`. */
MUST_USE enum rc data_array_open(struct dataset *out, const char *inputs, const char *targets,
                                 data_array_header *header, enum dataset_target target,
                                 const struct section *split, struct diag *d);

#endif
