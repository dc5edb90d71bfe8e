/* What a plan will take. */
#include <math.h>

#include "base/memory.h"
#include "base/sized.h"
#include "lab/plan.h"
#include "linalg/linalg.h"

wt_status wt_plan_group_cost(wt_context *context, const wt_plan_group *group, wt_known_cost *known,
                             wt_cost *out) {
    *out = (wt_cost){NAN, NAN};
    if (known->values != group->trial.values && group->experiment->estimate != NULL)
        WT_PASS(group->experiment->estimate(context, &group->trial, out));
    else if (known->values == group->trial.values)
        *out = known->cost;
    *known = (wt_known_cost){group->trial.values, *out};
    return WT_OK;
}

wt_status wt_plan_total(wt_context *context, const wt_plan *plan, wt_cost *out) {
    wt_known_cost known = {0};
    *out = (wt_cost){0};
    for (size_t g = 0; g < plan->group_count; g++) {
        const wt_plan_group group = wt_plan_at(plan, g);
        wt_cost cost;
        WT_PASS(wt_context_check_cancelled(context));
        if (group.follows || wt_plan_wanted(plan, &group, 0, group.trial.count) == 0)
            continue;
        WT_PASS(wt_plan_group_cost(context, &group, &known, &cost));
        out->flops += cost.flops;
        out->bytes = isnan(cost.bytes) || cost.bytes > out->bytes ? cost.bytes : out->bytes;
    }
    return WT_OK;
}

enum { ORDER = 384 };

/* Of one product on one thread; the best of ten, as other programs may be running. */
wt_status wt_sweep_rate(wt_context *context, double *out) {
    double *a = NULL, best = INFINITY;
    size_t order = ORDER, square = order * order;
    int threads = wt_context_threads(context);
    wt_status status;
    WT_TRY(WT_NEW2(context, &a, 3, square, "a product to measure"));
    for (size_t i = 0; i < 2 * square; i++)
        a[i] = 1;
    WT_TRY(wt_context_set_threads(context, 1));
    for (int i = 0; i < 10; i++) {
        double began = wt_clock();
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, order, order, order, 1, a, order, a + square,
                       order, 0, a + 2 * square, order));
        best = fmin(best, wt_clock() - began);
    }
    *out = 2.0 * ORDER * ORDER * ORDER / best;
done:
    (void)wt_context_set_threads(context, threads);
    wt_release(a);
    return status;
}

wt_status wt_plan_estimate(wt_context *context, const wt_plan *plan, size_t workers, double rate,
                           wt_plan_cost *out) {
    wt_plan_cost found = {.size = sizeof found};
    wt_cost cost;
    WT_PASS(wt_sized_check(context, "wt_plan_cost", out, sizeof found));
    WT_PASS(wt_plan_total(context, plan, &cost));
    if (workers == 0)
        workers = (size_t)wt_context_threads(context);
    double used = fmin((double)workers, fmax(1, (double)plan->group_count));
    found.seconds = cost.flops / rate / used;
    found.bytes = cost.bytes * used;
    wt_sized_write(out, &found, sizeof found);
    return WT_OK;
}
