/* The method `auto`: refine, with sculpt as the rescue of starts that fail. */
#include <string.h>

#include "layer/learn/recovery.h"

/* Pairs of tokens for every unknown of a Theta: sculpt accepts a few in a hundred, and needs two.
 */
enum { LEAST_PAIRS = 40 };
/* Above this product of m - 1 and k - 1 no row shows all heads attending alike. */
enum { MOST_FREEDOM = 3 };

/* What can be seen beforehand; sculpt itself looks at the sum of W and at the rows. */
static bool may_work(const wt_sequences *data, size_t heads) {
    size_t m = heads == 0 ? 2 : heads, k = data->length;
    if (k < 2 || k > WT_SCULPT_MAX_TOKENS || m > WT_SCULPT_MAX_HEADS)
        return false;
    size_t pairs_a_sequence = k * (k * (k - 1) / 2);
    double pairs = (double)data->samples * (double)pairs_a_sequence;
    return (m - 1) * (k - 1) <= MOST_FREEDOM &&
           pairs >= LEAST_PAIRS * (double)data->dim * (double)data->dim;
}

typedef struct {
    wt_context *context;
    wt_sculpt_report *stages;
} sculptor;

static wt_status sculpt_start(void *user, const wt_sequences *fitted, size_t heads,
                              wt_layer **out) {
    const sculptor *job = user;
    wt_sculpt_options options;
    WT_INIT(wt_sculpt_options, &options);
    *out = NULL;
    if (!may_work(fitted, heads))
        return WT_OK;
    options.heads = heads;
    wt_status status = wt_sculpt(job->context, fitted, &options, out, job->stages);
    if (status == WT_MISSED) {
        /* small problems run inside a parallel loop of one chunk */
        wt_remark(job->context, "sculpt has no start to give: %s",
                  wt_chunk_message != NULL ? wt_chunk_message : wt_context_message(job->context));
        return WT_OK;
    }
    return status;
}

wt_status wt_recover_auto(wt_context *context, const wt_sequences *data,
                          const wt_recover_options *options, wt_layer **out,
                          wt_recover_report *report, wt_sculpt_report *stages) {
    sculptor job = {.context = context, .stages = stages};
    const wt_rescue rescue = {.start = sculpt_start, .user = &job, .name = "sculpt"};
    /* sculpt knows whole sequences of plain layers alone */
    wt_layer_form form = wt_recover_form(options);
    bool whole = data->lengths == NULL && !data->partial && wt_layer_is_plain(&form);
    wt_status status =
        wt_refine_rescued(context, data, options, whole ? &rescue : NULL, out, report);
    if (status == WT_OK && strcmp(report->start_from, rescue.name) == 0)
        report->method = "sculpt";
    return status;
}
