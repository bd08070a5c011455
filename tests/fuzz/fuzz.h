/* fuzz.h: what a fuzz target defines: one call an input, by the name that fuzzing engines expect.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

__attribute__((visibility("default"))) int LLVMFuzzerTestOneInput(const uint8_t *bytes,
                                                                  size_t size);

#endif
