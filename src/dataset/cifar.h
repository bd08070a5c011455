/* cifar.h: the binary form of CIFAR-10 and CIFAR-100. */
#ifndef CIFAR_H
#define CIFAR_H

#include "dataset/dataset.h"

struct cifar_attrs {
    const char *folder;
    struct key_list files;
    int labels; /* cifar100: fine or coarse */
};

#define CIFAR_FOLDER_KEY(help)                                                                     \
    {                                                                                              \
        "folder", KEY_PATH, offsetof(struct cifar_attrs, folder), NULL, 0, 0, KEY_NOT_EMPTY, NULL, \
            help                                                                                   \
    }
#define CIFAR_FILES_KEY(help)                                                                      \
    {                                                                                              \
        "files", KEY_TEXTS, offsetof(struct cifar_attrs, files), NULL, 0, 0, 0, NULL, help         \
    }

/* A flavour of the format. */
struct cifar_flavour {
    int label_bytes;
    int at, classes; /* of the label that is taken */
};

/* All files of a split, whose section is filled by the keys above. */
MUST_USE enum rc cifar_read(struct dataset *out, const struct section *split,
                            const struct dataset_want *want, const struct cifar_flavour *k,
                            struct diag *d);

#endif
