/* record.c: the tables of record.h. The man page's tables and the reader follow them.
 *
 * The order of the rows is the order of the fields in a line. */
#include "config.h"

#include "log/record.h"

#define BIT(type) (1u << RECORD_##type)
#define EVERY ((1u << RECORD_COUNT) - 1)
#define LATER (EVERY & ~BIT(HEADER))

#define ROW(types, name, type, member, help)                                                       \
    {                                                                                              \
        types, name, type, offsetof(struct record, member), help, 0                                \
    }

const struct record_type_row record_types[RECORD_COUNT] = {
    [RECORD_HEADER] = {"header", "the first line of each start or resume: what runs, on what"},
    [RECORD_STEP] = {"step", "an optimizer step that was tried"},
    [RECORD_OVERFLOW] = {"overflow", "the cause of a skipped step: the first value that was not "
                                     "finite; right behind the step's own line"},
    [RECORD_SCALE] = {"scale", "the loss scale changed, or came to one of its limits"},
    [RECORD_EVAL] = {"eval", "an evaluation on a split of the data"},
    [RECORD_CHECKPOINT] = {"checkpoint", "a checkpoint was written"},
    [RECORD_END] = {"end", "the run ended by itself; missing after a kill or a crash"},
};

const struct record_field record_fields[] = {
    ROW(EVERY, "segment", FIELD_INT, segment,
        "1 for the first start of the run, one more for each resume; of a step that is logged "
        "twice the line of the higher segment counts"),
    ROW(LATER, "step", FIELD_INT, step, "steps tried so far, this one included"),

    ROW(BIT(HEADER), "version", FIELD_TEXT, version, "of mptrain"),
    ROW(BIT(HEADER), "started", FIELD_TEXT, started, "date and time, UTC, ISO 8601"),
    ROW(BIT(HEADER), "seed", FIELD_INT, seed, "of the random numbers"),
    ROW(BIT(HEADER), "threads", FIELD_INT, threads, "threads in use"),
    ROW(BIT(HEADER), "cpu", FIELD_TEXT, cpu, "the processor's name"),
    ROW(BIT(HEADER), "isa", FIELD_TEXT, isa, "instruction set level in use"),
    ROW(BIT(HEADER), "rows", FIELD_TEXT, rows, "kernel rows in use, which explain the exact bits"),
    ROW(BIT(HEADER), "parameters", FIELD_INT, parameters, "trainable values of the model"),
    ROW(BIT(HEADER), "fingerprint", FIELD_TEXT, fingerprint, "of the plan: layers and shapes"),
    ROW(BIT(HEADER), "resumed_from", FIELD_INT, resumed_from,
        "step of the checkpoint that the run went on from; 0 for a fresh start"),
    ROW(BIT(HEADER), "config", FIELD_TEXT, config, "the effective configuration, YAML"),

    ROW(BIT(STEP) | BIT(EVAL), "epoch", FIELD_INT, epoch, "epoch, from 0"),
    ROW(BIT(STEP) | BIT(END), "applied", FIELD_INT, applied, "updates committed so far"),
    ROW(BIT(STEP), "committed", FIELD_BOOL, committed,
        "this step's update was committed; false: the step was skipped, or had no valid target"),
    ROW(BIT(EVAL), "split", FIELD_TEXT, split, "name of the split"),
    ROW(BIT(STEP) | BIT(EVAL), "loss", FIELD_FLOAT, loss,
        "mean over the valid targets, unscaled; of a step: before its update"),
    {BIT(EVAL), "accuracy", FIELD_FLOAT, offsetof(struct record, accuracy),
     "share of the valid targets that were predicted right, 0 to 1; only for classes",
     offsetof(struct record, has_accuracy)},
    ROW(BIT(EVAL), "best", FIELD_BOOL, best, "the best evaluation of the run so far"),
    ROW(BIT(STEP), "lr", FIELD_FLOAT, lr, "learning rate of this step's update"),
    ROW(BIT(STEP) | BIT(OVERFLOW), "loss_scale", FIELD_FLOAT, loss_scale,
        "loss scale used in this step"),
    ROW(BIT(STEP), "next_scale", FIELD_FLOAT, next_scale, "loss scale of the next step"),
    ROW(BIT(STEP), "good_steps", FIELD_INT, good_steps,
        "clean steps since the loss scale last changed"),
    ROW(BIT(STEP) | BIT(END), "skipped_total", FIELD_INT, skipped_total,
        "steps skipped for a non-finite value so far"),
    ROW(BIT(STEP), "grad_norm", FIELD_FLOAT, grad_norm,
        "2-norm of all gradients, unscaled, before clipping"),
    ROW(BIT(STEP), "clip_factor", FIELD_FLOAT, clip_factor,
        "what the gradients were multiplied by to keep the norm below its limit; 1: nothing"),
    ROW(BIT(STEP), "zero_grads", FIELD_INT, zero_grads,
        "weights and biases whose gradient is 0 in every element: in fp16, a sign of underflow"),
    ROW(BIT(STEP) | BIT(EVAL), "examples", FIELD_INT, examples,
        "rows of data in the step, or in the split"),
    ROW(BIT(STEP), "step_ms", FIELD_FLOAT, step_ms, "wall time of the step, milliseconds"),

    ROW(BIT(OVERFLOW), "where", FIELD_TEXT, where,
        "forward or gradient: where the value was found"),
    ROW(BIT(OVERFLOW), "node", FIELD_TEXT, node, "first layer with a non-finite value"),
    ROW(BIT(OVERFLOW), "tensor", FIELD_TEXT, tensor, "first tensor with a non-finite value"),
    ROW(BIT(OVERFLOW), "kind", FIELD_TEXT, kind, "inf or nan"),
    ROW(BIT(OVERFLOW), "count", FIELD_INT, count, "non-finite values in that tensor"),
    ROW(BIT(OVERFLOW), "max_finite", FIELD_FLOAT, max_finite,
        "largest magnitude among its finite values"),
    ROW(BIT(OVERFLOW), "micro_batch", FIELD_INT, micro_batch, "micro-batch of the step, from 0"),
    ROW(BIT(OVERFLOW), "action", FIELD_TEXT, action, "what was done about it"),

    ROW(BIT(SCALE), "old", FIELD_FLOAT, old_scale, "loss scale before"),
    ROW(BIT(SCALE), "new", FIELD_FLOAT, new_scale, "loss scale from the next step on"),

    ROW(BIT(CHECKPOINT), "path", FIELD_TEXT, path, "the file"),
    ROW(BIT(CHECKPOINT), "bytes", FIELD_INT, bytes, "size of the file"),
    ROW(BIT(CHECKPOINT), "write_ms", FIELD_FLOAT, write_ms,
        "wall time of packing and writing, milliseconds"),

    ROW(BIT(SCALE) | BIT(END), "reason", FIELD_TEXT, reason,
        "why the loss scale changed, or why the run ended"),
    ROW(BIT(END), "exit_code", FIELD_INT, exit_code, "exit code of mptrain"),
    ROW(BIT(END), "seconds", FIELD_FLOAT, seconds, "wall time since this start"),
    {0, NULL, FIELD_INT, 0, NULL, 0},
};
