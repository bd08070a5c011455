/* class_labels.h: labels in a text file -> class numbers.
 *
 * A column of plain integers is taken as it stands; a column of text is numbered by the sorted
 * order of its distinct texts, or as the training set was. The first row says which; a mix is
 * refused, so that a slip such as 7abc does not become a class of its own. */
#ifndef CLASS_LABELS_H
#define CLASS_LABELS_H

#include "dataset/dataset.h"

enum class_labels_kind { CLASS_LABELS_UNKNOWN, CLASS_LABELS_NUMBERS, CLASS_LABELS_TEXTS };

struct class_labels {
    enum class_labels_kind kind;
    struct pool *pool;   /* borrowed: for texts and tables */
    bool fixed;          /* the texts are the training set's: no new ones */
    int first_line;      /* that decided on the kind */
    int n, room;         /* distinct texts */
    const char **texts;  /* in order of appearance */
    int *slots, n_slots; /* hash table of index + 1, 0 empty; owned by the pool; a power of two */
};

/* known: texts of the training set, or n_known 0. */
MUST_USE enum rc class_labels_init(struct class_labels *l, struct pool *pool, int n_known,
                                   const char *const *known, struct diag *d);

/* The number of one label; for texts an intermediate one until class_labels_finish. A bad label is
 * reported at `loc` and *out is 0. */
MUST_USE enum rc class_labels_add(struct class_labels *l, const char *text, struct loc loc,
                                  int64_t *out, struct diag *d);

/* Turns intermediate numbers into final ones and gives ds the class names. */
MUST_USE enum rc class_labels_finish(struct class_labels *l, struct dataset *ds, struct diag *d);

#endif
