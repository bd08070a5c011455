/* augment.h: random changes to training images (H,W,C), made while rows are gathered, before
 * normalisation. What happens to a row is a function of (seed, epoch, row) alone, so that threads,
 * batches and resume do not matter. */
#ifndef AUGMENT_H
#define AUGMENT_H

#include "dataset/dataset.h"

/* `data.augment`; all 0: nothing. In this order: crop and flip, brightness, contrast, saturation,
 * cutout. */
struct augment {
    bool flip;
    int64_t crop, cutout;
    double brightness, contrast, saturation;
};
extern const struct key augment_keys[];

/* For one epoch. */
struct augmenter {
    const struct augment *how;
    uint64_t seed;
    int64_t epoch;
};

bool augment_is_on(const struct augment *a);
/* RC_CONFIG at loc where the rows are no images, or too small. */
MUST_USE enum rc augment_check(const struct augment *a, const struct dataset *ds, struct loc loc,
                               struct diag *d);
/* Row `row` of ds, changed and normalised: to (H,W,C) f32. */
void augment_row(const struct augmenter *a, const struct dataset *ds, const struct normalizer *norm,
                 int64_t row, float *to);

#endif
