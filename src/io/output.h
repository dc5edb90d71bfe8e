/* What the writers of archives need beyond wattle/output.h.
 *
 * Invariants, cited by the tests:
 *  1. until wt_output_commit returns WT_OK or says otherwise, the target is untouched;
 *  2. after any failure the temporary file is gone;
 *  3. every byte goes through one function, where tests make the k-th write fail; flushing to the
 *     disk and renaming count as writes too. */
#ifndef WT_IO_OUTPUT_H
#define WT_IO_OUTPUT_H

#include "base/context.h"
#include "wattle/io.h"
#include "wattle/output.h"

/* The values as the type stores them (WT_TYPE_F64 or WT_TYPE_F32). */
wt_status wt_output_values(wt_output *output, wt_type type, const double *values, size_t count);

/* Where the next byte goes, and going elsewhere within what is written (archives do). */
uint64_t wt_output_position(const wt_output *output);
wt_status wt_output_seek(wt_output *output, uint64_t position);

#endif
