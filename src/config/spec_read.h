/* spec_read.h: what the files that read a config share. Not for other folders: they want spec.h. */
#ifndef SPEC_READ_H
#define SPEC_READ_H

#include "config/spec.h"

/* Layers written in one list, rules in all precision lists: what more is, is no real config. */
enum { SPEC_MAX_LIST = 4096 };

/* A config while it is being read. */
struct spec_reader {
    struct spec *spec;
    struct pool *pool; /* the spec's */
    struct diag *d;
};

/* For results that need no look: reading goes on, and config_load counts the errors in the diag. */
static inline void spec_go_on(enum rc rc)
{
    (void)rc;
}

/* What spec_top_keys fills. */
struct spec_top {
    int64_t seed;
};

/* A value that may be missing: then the place is that of the whole. */
struct spec_entry {
    const struct value *v;
    struct loc loc;
};

/* ---- spec_keys.c ---- */
/* Where else in a config a word is a key: "train.epochs"; also for names that other programs use.
 * NULL: nowhere. */
const char *spec_key_home(const char *word);
/* Has this key of `loss_scale` an effect with this type? */
bool spec_key_scale_uses(int type, const char *key);

/* ---- spec_section.c ---- */
/* keys_read() with notes about keys that belong elsewhere, and with paths resolved. */
void spec_section_read(const struct spec_reader *r, struct section *out, const char *where,
                       const struct key *rows, size_t size, struct spec_entry map,
                       const char *const *other);
/* Two tables that fill two structs from one map; `rows` comes first. */
struct spec_half {
    struct section *out;
    const struct key *rows;
    size_t size;
};
void spec_section_read_both(const struct spec_reader *r, const char *where, struct spec_half first,
                            struct spec_half second, struct spec_entry map);
/* The map that a value stands for: `cosine` for {type: cosine}. `key` is "type". */
const struct value *spec_section_expand(const struct spec_reader *r, const char *key,
                                        const struct value *v);
/* The same for `loss_scale`, where a number stands for {type: static, scale: number}. */
const struct value *spec_section_loss_scale(const struct spec_reader *r, const struct value *v);
/* The part of a map whose keys are rows; what is no map comes back as it is. */
const struct value *spec_section_part(const struct spec_reader *r, const struct value *map,
                                      const struct key *rows);
/* A map of one pair. */
const struct value *spec_section_pair(const struct spec_reader *r, const struct value *key,
                                      const struct value *item);
const struct value *spec_section_text(const struct spec_reader *r, const char *text,
                                      struct loc loc);

/* ---- spec_model.c ---- */
void spec_model_read(const struct spec_reader *r, const struct value *model, struct loc loc);
void spec_model_read_loss(const struct spec_reader *r, const struct value *loss, struct loc loc);

/* ---- spec_name.c: layers and their names in the value tree ---- */
/* A layer item taken apart: its word (op, residual, repeat) and what stands behind it. */
struct spec_name_item {
    const struct value *word; /* NULL: the item has no such shape */
    const struct value *body; /* NULL: nothing */
};
struct spec_name_item spec_name_split(const struct value *item);
/* Names of the layers of a list, given or made; NULL: out of memory. */
const char **spec_name_list(struct pool *pool, const struct value *list);
/* The list of layers inside a residual or repeat; NULL where there is none. */
const struct value *spec_name_inner(struct spec_name_item item);

/* ---- spec_precision.c ---- */
void spec_precision_read(const struct spec_reader *r, const struct value *v, struct loc loc);
/* Words of the rules that are neither a layer of the model (as written) nor an op. */
void spec_precision_check(const struct spec_reader *r, const struct value *model);

/* ---- spec_set.c ---- */
/* The tree with all --set applied. NULL: wrong, reported. */
const struct value *spec_set_apply(const struct spec_reader *r, const struct value *root,
                                   const char *const *sets, int n_sets);

#endif
