/* reader_cifar100.c: CIFAR-100, 100 classes in 20 groups. The format is in cifar.c. */
#include "config.h"

#include "dataset/cifar.h"

enum { LABELS_FINE, LABELS_COARSE };

static const struct key cifar100_keys[] = {
    CIFAR_FOLDER_KEY("folder of the files, cifar-100-binary"),
    CIFAR_FILES_KEY("names of files in it: train.bin or test.bin"),
    {"labels", KEY_CHOICE, offsetof(struct cifar_attrs, labels), "fine", 0, 0, 0, "fine|coarse",
     "the 100 classes, or the 20 groups that they belong to"},
    {0},
};

static enum rc cifar100_open(struct dataset *out, const struct section *split,
                             const struct dataset_want *want, struct diag *d)
{
    static const struct cifar_flavour flavours[] = {
        [LABELS_FINE] = {2, 1, 100}, [LABELS_COARSE] = {2, 0, 20}};
    const struct cifar_attrs *a = split->at;
    return cifar_read(out, split, want, &flavours[a->labels], d);
}

const struct reader reader_cifar100 = {
    .name = "cifar100",
    .help = "CIFAR-100, binary version",
    .keys = cifar100_keys,
    .attrs_size = sizeof(struct cifar_attrs),
    .open = cifar100_open,
};
