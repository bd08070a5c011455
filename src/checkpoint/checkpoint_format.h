/* checkpoint_format.h: the header of a checkpoint file, from and to JSON, and its byte planes.
 * For checkpoint_write.c and checkpoint_read.c only. */
#ifndef CHECKPOINT_FORMAT_H
#define CHECKPOINT_FORMAT_H

#include "checkpoint/checkpoint.h"

enum {
    CHECKPOINT_FORMAT = 1,           /* raised when an older program could not read the file */
    CHECKPOINT_PREAMBLE = 16,        /* magic, length and CRC-32 of the header */
    CHECKPOINT_MAX_HEADER = 1 << 24, /* far above any real one; bounds what a parser may be fed */
    CHECKPOINT_MAX_RATIO = 1032,     /* deflate cannot do better: 258 bytes for 2 bits */
};

#define CHECKPOINT_MAGIC "MPTRAIN1"

/* The header's JSON, on the heap; RC_FAILED where a text is not UTF-8. entries: one a tensor. */
MUST_USE enum rc checkpoint_format_text(const struct checkpoint_content *content,
                                        const struct checkpoint_entry *entries, char **text,
                                        struct diag *d);

/* Fills c from the header's JSON. The chunks must lie one behind the other from `start` to `end`,
 * which is the size of the file. RC_DATA with the reason. */
MUST_USE enum rc checkpoint_format_parse(struct checkpoint *c, const char *text, size_t length,
                                         uint64_t start, uint64_t end, struct diag *d);

#endif
