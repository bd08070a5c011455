/* fuzz_readers.c: hostile data files. Two bytes of options, then the file: idx, npy or csv, plain
 * or gzip. Whatever is accepted must be whole; whatever is refused must have words. */
#include "config.h"

#include "fuzz.h"

#include "dataset/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_BYTES = 2, FORMATS = 3, KEYS_MAX = 16 };

static void check(const struct dataset *ds)
{
    int64_t columns = 1;
    for (int i = 0; i < ds->rank; i++)
        columns *= ds->dims[i];
    BUG_IF(ds->rows < 1 || columns < 1 || columns != ds->columns);
    int64_t *order = malloc((size_t)ds->rows * sizeof(*order));
    float *inputs = malloc((size_t)(ds->rows * columns) * sizeof(*inputs));
    size_t target_columns = ds->target_columns > 0 ? (size_t)ds->target_columns : 1;
    float *targets = malloc((size_t)ds->rows * target_columns * sizeof(*targets));
    BUG_IF(!order || !inputs || !targets);
    dataset_order(ds->rows, true, 1, 0, order);
    dataset_gather(ds, NULL, NULL, order, ds->rows, inputs, ds->target ? targets : NULL);
    for (int64_t i = 0; i < ds->rows * columns; i++)
        BUG_IF(!isfinite(inputs[i]));
    free(order);
    free(inputs);
    free(targets);
}

static enum rc read_array(struct dataset *ds, struct data_file *f, data_array_header *header,
                          enum dataset_target target, struct diag *d)
{
    struct data_array a;
    TRY(data_array_load(&a, f, header, d));
    enum rc rc = data_array_to_inputs(&a, ds, d);
    if (rc == RC_OK && a.data && target != DATASET_NO_TARGET)
        rc = data_array_to_targets(&a, target, ds, d);
    data_array_release(&a);
    return rc;
}

static enum rc read_csv(struct dataset *ds, struct data_file *f, unsigned options,
                        enum dataset_target target, struct diag *d)
{
    static const char *const columns[] = {"x", "2"};
    static struct key_origin origin[KEYS_MAX];
    struct csv_attrs attrs = {
        .header = (int)(options % 3),
        .delimiter = (int)(options / 3 % 5),
        .skip_lines = options / 15 % 2,
        .features = {(int)(options / 30 % 2), columns},
        .target = {(int)(options / 60 % 2), columns + 1},
    };
    struct section split = {.rows = dataset_reader("csv")->keys, .at = &attrs, .origin = origin};
    struct dataset_want want = {.target = target};
    return reader_csv_load(ds, f, &split, &want, options / 120 % 2, d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < OPTION_BYTES)
        return 0;
    static struct diag d;
    struct data_file f;
    struct dataset ds = {.name = "train", .source = "input", .target_source = "input"};
    enum dataset_target target = bytes[0] / FORMATS % 3;
    diag_init(&d);
    pool_init(&ds.pool);
    enum rc rc = data_file_open_memory(&f, "input", bytes + OPTION_BYTES, size - OPTION_BYTES, &d);
    if (rc == RC_OK) {
        switch (bytes[0] % FORMATS) {
        case 0:
            rc = read_array(&ds, &f, reader_idx_header, target, &d);
            break;
        case 1:
            rc = read_array(&ds, &f, reader_npy_header, target, &d);
            break;
        default:
            rc = read_csv(&ds, &f, bytes[1], target, &d);
        }
        data_file_close(&f);
    }
    BUG_IF((rc == RC_OK) != (d.n_errors == 0));
    if (rc == RC_OK)
        check(&ds);
    dataset_release(&ds);
    return 0;
}
