/* fuzz_checkpoint.c: hostile checkpoints. The bytes as they are, and the same with the header's
 * checksum made right, so that the fuzzer gets behind it. Whatever is accepted must be readable. */
#include "config.h"

#include "fuzz.h"

#include "checkpoint/checkpoint.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

enum { PREAMBLE = 16, MOST_BYTES = 1 << 24 };

static void check(const struct checkpoint *c, struct diag *d)
{
    bool whole = checkpoint_verify(c, d) == RC_OK;
    for (int i = 0; i < c->n_tensors; i++) {
        const struct checkpoint_entry *e = &c->entries[i];
        BUG_IF(checkpoint_find(c, e->name) != e);
        if (e->bytes > MOST_BYTES)
            continue;
        void *data = malloc(e->bytes);
        BUG_IF(!data);
        enum rc rc = checkpoint_read(c, e, data, d);
        BUG_IF(whole && rc != RC_OK);
        free(data);
    }
}

static void try(const uint8_t *bytes, size_t size)
{
    static struct diag d;
    struct checkpoint c;
    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    BUG_IF(fd < 0 || write(fd, bytes, size) != (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    diag_init(&d);
    enum rc rc = checkpoint_open(&c, path, &d);
    BUG_IF((rc == RC_OK) != (d.n_errors == 0));
    if (rc == RC_OK) {
        check(&c, &d);
        checkpoint_close(&c);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    try(bytes, size);
    if (size < PREAMBLE)
        return 0;
    uint32_t length;
    uint8_t *repaired = malloc(size);
    BUG_IF(!repaired);
    memcpy(repaired, bytes, size);
    memcpy(repaired, "MPTRAIN1", 8);
    memcpy(&length, repaired + 8, 4);
    if (length > size - PREAMBLE)
        length = (uint32_t)(size - PREAMBLE);
    uint32_t crc = (uint32_t)crc32_z(0, repaired + PREAMBLE, length);
    memcpy(repaired + 8, &length, 4);
    memcpy(repaired + 12, &crc, 4);
    try(repaired, size);
    free(repaired);
    return 0;
}
