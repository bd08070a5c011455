/* reader_cifar10.c: CIFAR-10, 10 classes. The format is in cifar.c. */
#include "config.h"

#include "dataset/cifar.h"

static const struct key cifar10_keys[] = {
    CIFAR_FOLDER_KEY("folder of the files, cifar-10-batches-bin"),
    CIFAR_FILES_KEY("names of files in it: data_batch_1.bin and so on, or test_batch.bin"),
    {0},
};

static enum rc cifar10_open(struct dataset *out, const struct section *split,
                            const struct dataset_want *want, struct diag *d)
{
    static const struct cifar_flavour one_label = {1, 0, 10};
    return cifar_read(out, split, want, &one_label, d);
}

const struct reader reader_cifar10 = {
    .name = "cifar10",
    .help = "CIFAR-10, binary version",
    .keys = cifar10_keys,
    .attrs_size = sizeof(struct cifar_attrs),
    .open = cifar10_open,
};
