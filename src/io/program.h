/* An outside program, run without a shell: text in, bytes out. */
#ifndef WT_IO_PROGRAM_H
#define WT_IO_PROGRAM_H

#include "base/context.h"

typedef struct wt_program {
    const char *const *words; /* the program and its arguments; ends with NULL */
    const char *install;      /* "apt-get install gnuplot-nox", for the sentence when missing */
    const char *input;        /* what it reads, `input_bytes` long */
    size_t input_bytes;
    double seconds; /* it is ended when it takes longer */
} wt_program;

/* Runs it to its end. *out is what it wrote, ended by a 0 that *bytes does not count, to be
 * released with wt_release. WT_UNAVAILABLE when the program is missing, fails (the sentence ends
 * with its first words of complaint) or runs out of time; WT_INTERRUPTED when cancelled. */
wt_status wt_program_run(wt_context *context, const wt_program *program, char **out, size_t *bytes);

#endif
