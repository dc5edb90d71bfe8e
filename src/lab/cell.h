/* A cell's parameters and metrics as text, and its name.
 *
 * Text is JSON with sorted keys, no spaces and 17 significant digits: equal values give equal
 * bytes. The name is the SHA-256 of the experiment, the parameters with the repetition, the seed
 * and the result version, a line each. */
#ifndef WT_LAB_CELL_H
#define WT_LAB_CELL_H

#include <jansson.h>

#include "lab/experiment.h"
#include "wattle/store.h"

/* A group is named by the same text without the grouped parameter, groups that are computed
 * together by that without theirs. */
typedef enum wt_cell_part { WT_CELL_WHOLE, WT_CELL_GROUP, WT_CELL_TOGETHER } wt_cell_part;

/* {"dim":8, .., "rep":0} of a trial, `size` in the place of the grouped parameter. To be released.
 */
wt_status wt_cell_parameters(wt_context *context, const wt_experiment *experiment,
                             const wt_trial *trial, double size, wt_cell_part part, char **out);
/* The same for one cell after the other: what cells of a setting share is spelled once. */
typedef struct wt_cell_form {
    wt_cell_part part;
    const wt_experiment *experiment;
    const wt_value *values; /* of the setting the text is of; NULL = none yet */
    char *text;             /* of one of its cells */
    struct {
        size_t at, length;
        bool is_size; /* else the repetition */
    } holes[2];       /* the numbers in it that differ from cell to cell, in their order */
    size_t hole_count;
    char *out; /* the text asked for last */
} wt_cell_form;
/* form->out is the text of a trial's cell as wt_cell_parameters gives it for form->part, valid
 * until the next call or wt_cell_form_free. */
wt_status wt_cell_form_fill(wt_context *context, wt_cell_form *form,
                            const wt_experiment *experiment, const wt_trial *trial, double size);
void wt_cell_form_free(wt_cell_form *form);

wt_status wt_cell_hash(wt_context *context, const wt_experiment *experiment, const char *parameters,
                       uint64_t seed, char out[WT_HASH_TEXT]);
/* {"test_error":0.25, ..}; what is not finite is null. To be released. */
wt_status wt_cell_metrics(wt_context *context, const wt_experiment *experiment,
                          const double *metrics, char **out);

/* What the store declares: "curve 1 activation,bias,..". To be released. */
wt_status wt_cell_meaning(wt_context *context, const wt_experiment *experiment, char **out);

/* Back from the text of a store: values, texts borrowed from `object`, and the repetition. */
wt_status wt_cell_read(wt_context *context, const wt_experiment *experiment, const json_t *object,
                       wt_value *values, uint64_t *rep);

#endif
