/* reader_idx.c: IDX, the format of MNIST (Y. LeCun): two zero bytes, a type, the number of
 * dimensions, each dimension in 32 bits big-endian, then the elements, big-endian.
 *
 * A file of grey images (N,H,W) gives rows of (H,W,1), since images are NHWC inside. */
#include "config.h"

#include "dataset/dataset.h"

#include "dataset/reader.h"

#include <string.h>

static const struct key idx_keys[] = {
    {"inputs", KEY_PATH, offsetof(struct idx_attrs, inputs), NULL, 0, 0, 0, NULL,
     "IDX file of the inputs, plain or gzip: (N,C), (N,H,W) or (N,H,W,C)"},
    {"targets", KEY_PATH, offsetof(struct idx_attrs, targets), "", 0, 0, 0, NULL,
     "IDX file of the targets: integers (N) are classes; for values (N) or (N,C)"},
    {0},
};

static bool type_of(unsigned char code, enum data_array_type *out)
{
    static const struct {
        unsigned char code;
        enum data_array_type type;
    } types[] = {{0x08, DATA_ARRAY_U8},  {0x09, DATA_ARRAY_I8},  {0x0B, DATA_ARRAY_I16},
                 {0x0C, DATA_ARRAY_I32}, {0x0D, DATA_ARRAY_F32}, {0x0E, DATA_ARRAY_F64}};
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (types[i].code == code) {
            *out = types[i].type;
            return true;
        }
    return false;
}

static enum rc check_magic(const unsigned char magic[4], size_t n, struct loc file, struct diag *d)
{
    if (n == 0)
        return diag_error(d, RC_DATA, file, "not an IDX file: it is empty");
    if (n < 4)
        return diag_error(d, RC_DATA, file, "not an IDX file: it has %zu bytes only", n);
    if (magic[0] != 0 || magic[1] != 0)
        return diag_error(d, RC_DATA, file,
                          "not an IDX file: it starts with %02X %02X %02X %02X, "
                          "an IDX file with 00 00",
                          magic[0], magic[1], magic[2], magic[3]);
    if (magic[3] < 1 || magic[3] > TENSOR_MAX_RANK)
        return diag_error(d, RC_DATA, file, "has %d dimensions; 1 to %d are supported", magic[3],
                          TENSOR_MAX_RANK);
    return RC_OK;
}

enum rc reader_idx_header(struct data_array *out, struct data_file *f, struct diag *d)
{
    struct loc file = {f->name, 0, 0};
    unsigned char bytes[4];
    size_t got;
    TRY(data_file_read(f, bytes, sizeof(bytes), &got, d));
    TRY(check_magic(bytes, got, file, d));
    if (!type_of(bytes[2], &out->type))
        return diag_error(d, RC_DATA, file,
                          "has elements of type %02X; IDX knows 08, 09, 0B, 0C, 0D and 0E",
                          bytes[2]);
    out->rank = bytes[3];
    out->big_endian = true;
    for (int i = 0; i < out->rank; i++) {
        TRY(data_file_read(f, bytes, sizeof(bytes), &got, d));
        if (got < sizeof(bytes))
            return diag_error(d, RC_DATA, file, "is cut off within its header");
        out->dims[i] = (int64_t)((uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
                                 (uint32_t)bytes[2] << 8 | bytes[3]);
    }
    return RC_OK;
}

static void images_get_a_channel(struct dataset *ds)
{
    if (ds->rank == 2)
        ds->dims[ds->rank++] = 1;
}

static enum rc idx_open(struct dataset *out, const struct section *split,
                        const struct dataset_want *want, struct diag *d)
{
    const struct idx_attrs *attrs = split->at;
    TRY(data_array_open(out, attrs->inputs, attrs->targets, reader_idx_header, want->target, split,
                        d));
    images_get_a_channel(out);
    return RC_OK;
}

static enum rc idx_open_inputs(struct dataset *out, const char *path, const struct section *split,
                               struct diag *d)
{
    TRY(data_array_open(out, path, "", reader_idx_header, DATASET_NO_TARGET, split, d));
    images_get_a_channel(out);
    return RC_OK;
}

const struct reader reader_idx = {
    .name = "idx",
    .help = "IDX files as of MNIST, plain or gzip",
    .keys = idx_keys,
    .attrs_size = sizeof(struct idx_attrs),
    .open = idx_open,
    .open_inputs = idx_open_inputs,
};
