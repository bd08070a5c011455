/* record.h: one line of log.jsonl. One field table serves the writer, the reader, the report and
 * the tables of mptrain-log(5).
 *
 * To add a field: a member here and a row in record.c. To add a record type: an enum value, a row
 * in record_types, and its fields. */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_type {
    RECORD_HEADER,     /* first line of each start or resume */
    RECORD_STEP,       /* an attempted step */
    RECORD_OVERFLOW,   /* why a step was skipped */
    RECORD_SCALE,      /* the loss scale changed, or reached a limit */
    RECORD_EVAL,       /* an evaluation */
    RECORD_CHECKPOINT, /* a checkpoint was written */
    RECORD_END,        /* the run ended by itself */
    RECORD_COUNT
};

enum field_type {
    FIELD_INT,    /* int64_t */
    FIELD_FLOAT,  /* double; printed so that it reads back exactly; non-finite: null, and the name
                     goes to "nonfinite": {"loss": "inf"} with inf, -inf or nan */
    FIELD_BOOL,   /* bool */
    FIELD_TEXT,   /* const char *; left out where NULL */
};

/* Members that a type does not use stay unset and are not written. */
struct record {
    enum record_type type;
    int64_t segment;
    int64_t step;
    /* header */
    const char *version, *config, *cpu, *isa, *rows, *fingerprint, *started;
    int64_t seed, threads, parameters;
    int64_t resumed_from; /* step, or 0 */
    /* step */
    int64_t epoch, applied, good_steps, skipped_total, examples, zero_grads;
    bool committed; /* this step's update was applied */
    double loss, lr, loss_scale, next_scale, grad_norm, clip_factor, step_ms;
    /* overflow */
    const char *tensor, *node, *kind, *where, *action;
    int64_t count, micro_batch;
    double max_finite;
    /* scale */
    double old_scale, new_scale;
    const char *reason; /* also of end */
    /* eval */
    const char *split;
    double accuracy;
    bool has_accuracy; /* accuracy is written only where true */
    bool best;
    /* checkpoint */
    const char *path;
    double write_ms;
    int64_t bytes;
    /* end */
    int64_t exit_code;
    double seconds;
};

struct record_field {
    unsigned types; /* bit 1 << enum record_type for each type that has it */
    const char *name;
    enum field_type type;
    size_t offset;
    const char *help;
    size_t has; /* offset of the bool that tells whether the field is there; 0: it always is */
};

struct record_type_row {
    const char *name, *help;
};

extern const struct record_type_row record_types[RECORD_COUNT];
extern const struct record_field record_fields[]; /* ends with name NULL */

#endif
