/* checkpoint.h: everything that a run needs to go on bit for bit, in one file.
 *
 *     8 bytes   magic "MPTRAIN1"
 *     4 bytes   length of the header, little-endian;  4 bytes CRC-32 of the header
 *     header    JSON: version, config, progress, class names, tensor table
 *     chunks    one a tensor: its byte planes, lowest byte of the elements first, each deflated by
 *               zlib, or stored when deflate does not pay; offsets and lengths are in the tensor
 *               table, and a CRC-32 over the unpacked planes
 * Nothing may follow. The page mptrain-checkpoint(5) is the full description.
 *
 * Written to a temporary file in the same folder, fsync, rename, fsync of the folder: a kill at any
 * moment leaves the old file or the new one. Read as hostile: every size is bounded by the file's
 * before anything is allocated. */
#ifndef CHECKPOINT_H
#define CHECKPOINT_H

#include "base/diag.h"
#include "base/pool.h"
#include "graph/dtype.h"
#include "graph/tensor.h"

#include <stdbool.h>
#include <stdint.h>

/* Where a run is. All of it is saved; train/ owns the live one. */
struct progress {
    int64_t step;      /* attempted optimizer steps */
    int64_t applied;   /* updates that were committed */
    int64_t skipped;   /* steps dropped for a non-finite value */
    int64_t empty;     /* steps without a valid target: neither applied nor skipped */
    int64_t skips_in_a_row;
    int64_t draws;     /* micro-batches run: keys dropout */
    int64_t epoch;     /* from 0 */
    int64_t position;  /* rows of this epoch already used */
    int64_t segment;   /* 1 for the first start, +1 for each resume */
    double epoch_loss; /* sum over the valid targets of this epoch so far */
    int64_t epoch_count;
    double loss_scale;
    int64_t good_steps;      /* clean steps since the last change of the scale */
    int64_t hysteresis_left;
    bool has_best;
    double best_metric;
    int64_t best_step;
    int64_t evals_without_gain;
};

/* One row of the table that maps struct progress to the header and back. */
struct progress_field {
    const char *name;
    enum { PROGRESS_INT /* never negative */, PROGRESS_FLOAT, PROGRESS_BOOL } type;
    size_t offset;
    const char *help;
};
extern const struct progress_field progress_fields[]; /* ends with name NULL */

struct checkpoint_tensor {
    const char *name;
    enum dtype dtype; /* fp32 */
    int rank;
    int64_t dims[TENSOR_MAX_RANK];
    void *data; /* borrowed; for writing, and where reading puts it */
};

/* What goes into a file. Everything borrowed. */
struct checkpoint_content {
    const char *config;      /* effective config, YAML text */
    const char *fingerprint; /* of the plan: layers, shapes, activations (plan.h) */
    const char *data;        /* fingerprint of the training rows; NULL: not known */
    struct progress progress;
    int n_class_names;
    const char *const *class_names;
    int n_tensors;
    const struct checkpoint_tensor *tensors;
};

MUST_USE enum rc checkpoint_write(const char *path, const struct checkpoint_content *content,
                                  int level, struct diag *d);

/* An open file: header parsed, checked against the file's size and CRCs of the header. */
struct checkpoint {
    struct pool pool;
    const char *path;
    int fd;
    const char *version;     /* of the program that wrote it */
    const char *config;
    const char *fingerprint;
    const char *data; /* "": not known */
    struct progress progress;
    int n_class_names;
    const char **class_names;
    int n_tensors;
    struct checkpoint_entry *entries;        /* in the order of the file */
    const struct checkpoint_entry **by_name; /* sorted */
};

/* A tensor in the file. */
struct checkpoint_entry {
    const char *name;
    enum dtype dtype;
    int rank;
    int64_t dims[TENSOR_MAX_RANK];
    uint64_t bytes;  /* of the data, unpacked */
    uint64_t offset; /* of its chunk, from the start of the file */
    uint64_t stored; /* bytes of its chunk */
    uint32_t crc;    /* of the unpacked planes, one after another */
    int n_planes;
    uint64_t plane_bytes[8]; /* stored bytes of each plane; the top bit of none is used */
    bool plane_deflated[8];
};

/* RC_DATA with the reason for a file that is short, damaged, of another version, no checkpoint. */
MUST_USE enum rc checkpoint_open(struct checkpoint *c, const char *path, struct diag *d);
void checkpoint_close(struct checkpoint *c);
const struct checkpoint_entry *checkpoint_find(const struct checkpoint *c, const char *name);
/* Unpacks one tensor into dst (entry->bytes) and checks its CRC. */
MUST_USE enum rc checkpoint_read(const struct checkpoint *c, const struct checkpoint_entry *entry,
                                 void *dst, struct diag *d);
/* Unpacks and checks everything, keeps nothing. */
MUST_USE enum rc checkpoint_verify(const struct checkpoint *c, struct diag *d);

/* Files of a run's checkpoint folder: step-%08d.mpt, and best.mpt. */
char *checkpoint_path(struct pool *pool, const char *folder, int64_t step);
/* The newest step-*.mpt that verifies. *path is NULL where there is none at all; damaged newer ones
 * are named in warnings; RC_DATA where files exist but none is whole. Temporaries are ignored. */
MUST_USE enum rc checkpoint_newest(const char *folder, struct pool *pool, const char **path,
                                   struct diag *d);
/* Removes all but the newest `keep` step files (keep 0: keeps all) and leftover temporaries. */
void checkpoint_prune(const char *folder, int64_t keep);

#endif
