/* data_kit.h: what the tests of the readers share: files in a folder of their own, gzip, opening a
 * split from filled attrs, and looking for words in a diag. */
#ifndef DATA_KIT_H
#define DATA_KIT_H

#include "dataset/reader.h"

#include <check.h>

extern struct diag data_kit_diag; /* of the last open; cleared before each */

/* Check fixtures: a fresh folder, removed afterwards. */
void data_kit_setup(void);
void data_kit_teardown(void);

/* Writes a file into the folder; returns its path, which lives until the test ends. */
const char *data_kit_write(const char *name, const void *bytes, size_t n);
/* Makes a folder in it; returns its path. */
const char *data_kit_folder(const char *name);
/* The same, as one gzip member. *packed (room bytes) and *n_packed also return it. */
size_t data_kit_gzip(const void *bytes, size_t n, unsigned char *packed, size_t room);

/* A section over attrs as the config would have filled it, with no places. */
struct section data_kit_section(const char *reader, const void *attrs);
enum rc data_kit_open(struct dataset *out, const char *reader, const void *attrs,
                      enum dataset_target target);
enum rc data_kit_open_arrays(struct dataset *out, const char *reader, const char *inputs,
                             const char *targets, enum dataset_target target);

/* True where an item of the diag holds the words. */
bool data_kit_said(const char *words);

/* Caps the address space a little above what is in use: a giant allocation then fails. Not in
 * sanitizer builds, which need their shadow memory. */
void data_kit_cap_memory(void);

/* The inputs of a data set as FP32, element i. */
float data_kit_input(const struct dataset *ds, int64_t i);

/* Runs one case list as a suite; the return value of main. */
int data_kit_run(const char *name, void (*add)(TCase *tc));

#endif
