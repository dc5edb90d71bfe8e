/* What the learners of recovery share: checks before, warnings after. */
#ifndef WT_LEARN_RECOVER_H
#define WT_LEARN_RECOVER_H

#include "base/parallel.h"
#include "learn/rows.h"

/* How many sequences are fitted; wt_holdout_split chooses the rest. */
size_t wt_recover_train_samples(const wt_sequences *data, const wt_recover_options *options);
/* Output rows of those. */
size_t wt_recover_train_rows(const wt_sequences *data, const wt_recover_options *options);
double wt_recover_mean_square(const wt_sequences *data);
/* |y - F(x)| / |y| of a layer over rows. */
wt_status wt_recover_error(wt_context *context, const wt_layer *layer, const wt_rows *rows,
                           double *out);

/* Runs the body once (items 0 .. 1), on one thread where its loops are too short to be shared. */
wt_status wt_recover_run(wt_context *context, const wt_sequences *data,
                         const wt_recover_options *options, wt_body_fn body, void *argument);

/* Checks data and options, clears the report, and warns of what can be seen beforehand. */
wt_status wt_recover_begin(wt_context *context, const char *method, const wt_sequences *data,
                           const wt_recover_options *options, wt_recover_report *report);
/* Merges duplicate heads where m was to be found, and warns of what cannot be identified. */
void wt_recover_end(wt_context *context, const wt_sequences *data,
                    const wt_recover_options *options, wt_layer *layer, wt_recover_report *report);
/* A sentence for the report and the context's log. */
__attribute__((format(printf, 3, 4))) void
wt_recover_warn(wt_context *context, wt_recover_report *report, const char *format, ...);

/* `refine` with m given; adds to the report's counts. */
wt_status wt_refine_heads(wt_context *context, const wt_sequences *data,
                          const wt_recover_options *options, size_t heads, wt_layer *out,
                          wt_recover_report *report);

#endif
