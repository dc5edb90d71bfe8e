/* The head of an npy file or member. */
#ifndef WT_IO_NPY_H
#define WT_IO_NPY_H

#include "io/source.h"
#include "wattle/io.h"

#define WT_NPY_MAGIC        "\x93NUMPY"
#define WT_NPY_MAGIC_BYTES  6
#define WT_NPY_HEADER_BYTES 65535 /* the longest header read; NumPy itself stops at 10000 */

/* Reads the head from the input and fills all of the array but its name and member; the input is
 * left at the first value. `total` are the bytes of the whole file or member: the values must end
 * where it ends. */
wt_status wt_npy_read_head(wt_context *context, wt_input *input, uint64_t total, wt_array *out);

/* The literal inside: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }. Fills type,
 * fortran, rank and shape; `start` is where the text stands in the file, for the sentences. */
wt_status wt_npy_parse(wt_context *context, const wt_input *input, const char *text, size_t bytes,
                       uint64_t start, wt_array *out);

#endif
