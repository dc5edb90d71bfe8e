/* What `refine` concludes from its starts. */
#include <math.h>
#include <stdio.h>

#include "layer/learn/refine_parts.h"

/* Starts that end at a floor which is no noise, until a lower one is given up. */
enum { MISFIT_STARTS = 6 };
/* A fit that leaves more of y, fitted or held out, says too little of the layer to be called one.
 */
#define MOST_NOISE 0.5
#define MOST_HELD  0.6
/* Families that explain less than this leave room for another head, which no few features follow.
 */
#define LITTLE 0.3

double wt_refine_unknowns(const wt_refinement *work) {
    const wt_recover_options *options = work->options;
    double bias = options->bias ? 1 : 0, p = (double)work->held.outputs;
    return wt_recover_unknowns(work->heads, work->data->dim, work->held.outputs, options->rank,
                               options->groups) +
           bias * ((double)(work->heads * work->data->dim) + p);
}

/* Held-out sequences confirm the fit, and it explains most of y. Fitted rows have less left than
 * the noise, by the part of it that the unknowns follow. */
static bool confirmed(const wt_refinement *work) {
    double numbers = (double)(work->fitted_rows * work->held.outputs);
    double noise = work->best_error / sqrt(fmax(1 - wt_refine_unknowns(work) / numbers, 0.1));
    return work->best_error < MOST_NOISE && work->best_held <= fmin(2 * noise, MOST_HELD);
}

static bool is_noise(const wt_refinement *work) {
    return work->tested && confirmed(work) && !work->misfit.blind &&
           work->misfit.p >= WT_MISFIT_LEVEL && work->unbounded == work->heads;
}

/* What is left depends on x, whether or not there is a better minimum. */
static bool depends(const wt_refinement *work) {
    return work->tested && work->misfit.p < WT_MISFIT_LEVEL;
}

static bool is_misfit(const wt_refinement *work) {
    return work->tested &&
           (work->unbounded < work->heads || (depends(work) && work->same >= WT_REFINE_FLOOR));
}

bool wt_refine_decided(const wt_refinement *work) {
    return work->reached || work->late || is_noise(work) ||
           (work->tested && work->same >= MISFIT_STARTS);
}

static wt_recover_verdict verdict_of(const wt_refinement *work) {
    if (work->reached)
        return isnan(work->best_held)          ? WT_RECOVER_VERDICT_NOT_FOUND
               : work->unbounded < work->heads ? WT_RECOVER_VERDICT_MISFIT
                                               : WT_RECOVER_VERDICT_EXACT;
    return is_misfit(work)  ? WT_RECOVER_VERDICT_MISFIT
           : is_noise(work) ? WT_RECOVER_VERDICT_NOISE
                            : WT_RECOVER_VERDICT_NOT_FOUND;
}

/* Why the verdict is no. */
static void explain(const wt_refinement *work, wt_recover_report *report) {
    const wt_misfit *misfit = &work->misfit;
    char what[WT_RECOVER_WARNING_BYTES] = "", *out = report->reason;
    out[0] = '\0';
    if (report->recovered)
        return;
    if (depends(work))
        snprintf(what, sizeof what, "%s%s%s (%.2g%% of what is left)%s", misfit->words,
                 misfit->also == NULL ? "" : " Or ", misfit->also == NULL ? "" : misfit->also,
                 100 * misfit->part, misfit->part < LITTLE ? " Or more heads?" : "");
    if (report->verdict == WT_RECOVER_VERDICT_MISFIT && work->unbounded < work->heads)
        snprintf(out, WT_RECOVER_WARNING_BYTES,
                 "the Theta of head %zu grows without bound: it attends to %s", work->unbounded,
                 work->itself ? "the token itself; a residual connection?"
                              : "single tokens; a maximum in place of the softmax?");
    else if (report->verdict == WT_RECOVER_VERDICT_MISFIT)
        snprintf(out, WT_RECOVER_WARNING_BYTES, "%s", what);
    else if (work->late)
        snprintf(out, WT_RECOVER_WARNING_BYTES, "the time is over");
    else if (isnan(work->best_held))
        snprintf(out, WT_RECOVER_WARNING_BYTES,
                 "no sequence was held out, so that nothing confirms the fit");
    else if (depends(work))
        snprintf(out, WT_RECOVER_WARNING_BYTES, "starts end apart; %.200s", what);
    else if (!confirmed(work))
        snprintf(out, WT_RECOVER_WARNING_BYTES,
                 "held-out sequences do not confirm the fit: error %.3g, and %.3g on the fitted",
                 work->best_held, work->best_error);
    else
        snprintf(out, WT_RECOVER_WARNING_BYTES,
                 "%zu sequences are too few to tell noise from a misfit, error %.3g",
                 work->data->samples, work->settled_error);
}

void wt_refine_conclude(const wt_refinement *work, wt_recover_report *report) {
    bool tested = work->tested && !work->reached;
    report->verdict = verdict_of(work);
    report->exact = report->verdict == WT_RECOVER_VERDICT_EXACT;
    report->recovered = report->exact || report->verdict == WT_RECOVER_VERDICT_NOISE;
    report->goal = work->goal;
    report->misfit_chance = tested ? work->misfit.p : NAN;
    report->misfit_part = tested ? work->misfit.part : NAN;
    report->misfit_visible = tested ? work->misfit.seen : NAN;
    report->misfit_kind = tested ? work->misfit.kind : NULL;
    explain(work, report);
}
