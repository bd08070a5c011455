/* kern_gemm_gather.h: operand A of a convolution: gathered from the image while it is packed, so
 * that no matrix of patches ever stands in memory. Used by kern_gemm_block.c and the rows that read
 * A themselves.
 *
 * Rows of the matrix of patches are pixels of the output, columns (ky,kx,c): struct gemm_patches.
 */
#ifndef KERN_GEMM_GATHER_H
#define KERN_GEMM_GATHER_H

#include "kern/kern_gemm_block.h"

enum { GATHER_MOST_ROWS = 512 }; /* of one call */

/* Where element (row, col) of a block goes, counted from the block's corner:
 * row * row_step + col / group * group_step + col % group elements. */
struct gather_layout {
    int64_t row_step, group, group_step;
};

/* Rows row .. row+rows-1 and columns col .. col+cols-1 of the matrix of patches, of elements of
 * `item` bytes (2 or 4); zero where a patch reaches over the edge. */
void kern_gemm_gather(const struct gemm_patches *p, const void *image, size_t item,
                      const struct gemm_part *block, const struct gather_layout *layout, void *to);

/* What block->pack_a does, from an image. strip: kern_gemm_gather_bytes of room. */
bool kern_gemm_gather_pack(const struct gemm_block *b, const struct gemm_desc *d,
                           const struct gemm_operand *s, void *strip, void *panel, void *low);
size_t kern_gemm_gather_bytes(const struct gemm_block *b, const struct gemm_desc *d);

#endif
