/* The method `auto`: refine, with sculpt as the rescue of starts that fail. */
#include <string.h>

#include "base/sized.h"
#include "layer/learn/recovery.h"
#include "wattle/sculpt.h"

/* Pairs of tokens for every unknown of a Theta: sculpt accepts a few in a hundred, and needs two.
 */
enum { LEAST_PAIRS = 40 };
/* Above this product of m - 1 and k - 1 no row shows all heads attending alike. */
enum { MOST_FREEDOM = 3 };

/* What can be seen beforehand; sculpt itself looks at the sum of W and at the rows. */
static bool may_work(const wt_sequences *data, size_t heads) {
    size_t m = heads == 0 ? 2 : heads, k = data->length;
    if (k < 2 || k > WT_SCULPT_TOKENS || m > WT_SCULPT_HEADS)
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

wt_status wt_recover(wt_context *context, const wt_sequences *data, const wt_recover_options *given,
                     wt_layer **out, wt_recover_report *report, wt_sculpt_report *stages) {
    wt_sculpt_report of_sculpt = WT_SIZED(wt_sculpt_report);
    wt_recover_report full = {0};
    wt_recover_options options;
    sculptor job = {.context = context, .stages = &of_sculpt};
    const wt_rescue rescue = {.start = sculpt_start, .user = &job, .name = "sculpt"};
    wt_status status;
    *out = NULL;
    WT_TRY(wt_recover_open(context, given, report, &options));
    WT_TRY(wt_sized_check(context, "wt_sculpt_report", stages, sizeof of_sculpt));
    /* sculpt knows whole sequences alone */
    bool whole = options.lengths == NULL && !options.last_row;
    status = wt_refine_rescued(context, data, &options, whole ? &rescue : NULL, out, &full);
    if (status == WT_OK && strcmp(full.start_from, rescue.name) == 0)
        full.method = "sculpt";
    wt_sized_write(report, &full, sizeof full);
    wt_sized_write(stages, &of_sculpt, sizeof of_sculpt);
done:
    return status;
}
