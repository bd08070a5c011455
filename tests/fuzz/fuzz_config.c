/* fuzz_config.c: any bytes as a config. What is accepted must write an effective config that is
 * accepted too and comes out the same. The first line, if it begins with "#set ", is a --set. */
#include "config.h"

#include "config/spec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void round_trip(const struct spec *spec)
{
    static struct diag diag;
    struct spec again;
    struct str first, second;
    str_init(&first);
    str_init(&second);
    diag_init(&diag);
    config_write(spec, &first);
    if (config_load_text(&again, first.text, first.length, "again", "/", NULL, 0, &diag) != RC_OK) {
        fputs(first.text, stderr);
        diag_print(&diag, 0, stderr);
        abort();
    }
    config_write(&again, &second);
    if (strcmp(first.text, second.text) != 0)
        abort();
    spec_release(&again);
    str_release(&first);
    str_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct diag diag;
    struct spec spec;
    char set[256] = "";
    const char *sets[] = {set};
    const char *end = size > 5 && memcmp(data, "#set ", 5) == 0 ? memchr(data, '\n', size) : NULL;
    if (end && (size_t)(end - (const char *)data) - 5 < sizeof(set))
        memcpy(set, data + 5, (size_t)(end - (const char *)data) - 5);
    diag_init(&diag);
    if (config_load_text(&spec, (const char *)data, size, "fuzz", ".", sets, set[0] ? 1 : 0,
                         &diag) != RC_OK)
        return 0;
    round_trip(&spec);
    spec_release(&spec);
    return 0;
}
