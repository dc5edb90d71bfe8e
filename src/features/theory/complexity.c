/* y^T K^-1 y: what a target costs a kernel, measured. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "features/model/features.h"
#include "features/model/kernel.h"
#include "linalg/shifted.h"
#include "wattle/bounds.h"

#define JITTER_LEAST 1e-14
#define JITTER_MOST  1e-6

/* Factors K with the least jitter that lets it. */
static wt_status factorise(wt_context *context, wt_shifted *k, wt_complexity *about) {
    size_t failed_at = 0;
    for (size_t i = 0; i < k->n; i++)
        about->diagonal += k->diagonal[i] / (double)k->n;
    double jitter = 0;
    while (jitter <= JITTER_MOST * 1.5) {
        about->jitter = jitter;
        wt_status status =
            wt_shifted_factor(context, k, jitter * about->diagonal, k->n, &failed_at);
        if (status != WT_OK || failed_at == 0)
            return status;
        jitter = jitter == 0 ? JITTER_LEAST : 10 * jitter;
    }
    return wt_fail(context, WT_DATA,
                   "the kernel matrix of %zu samples is not positive (leading minor %zu), even "
                   "with a jitter of %g times its mean diagonal",
                   k->n, failed_at, JITTER_MOST);
}

static wt_status check(wt_context *context, const wt_model_spec *spec, const wt_sets *sets,
                       size_t count, const size_t *sizes) {
    if (!wt_model_kind_infinite(spec->kind))
        return wt_fail(context, WT_USAGE, "%s has no kernel: take %s-inf",
                       wt_model_kind_name(spec->kind), wt_model_kind_name(spec->kind));
    if (sets->y == NULL)
        return wt_fail(context, WT_USAGE, "the samples have no labels");
    for (size_t i = 0; i < count; i++)
        if (sizes[i] == 0 || sizes[i] > sets->samples || (i > 0 && sizes[i] <= sizes[i - 1]))
            return wt_fail(context, WT_USAGE, "size %zu does not fit %zu samples", sizes[i],
                           sets->samples);
    return WT_OK;
}

/* With K = L L^T and z = L^-1 y, y^T K^-1 y = |z|^2; and as leading blocks factor alike, the first
 * p numbers of z belong to the first p samples: one factor serves every size. */
wt_status wt_complexity_measure(wt_context *context, const wt_model_spec *spec, const wt_sets *sets,
                                const size_t *sizes, size_t count, double *out,
                                wt_complexity *about) {
    wt_shifted k = {0};
    wt_complexity found = {0};
    wt_model_spec model;
    double *z = NULL, sum = 0;
    wt_status status;
    WT_TRY(wt_sized_check(context, "wt_complexity", about, sizeof *about));
    WT_TRY(wt_model_spec_read(context, spec, &model));
    WT_TRY(check(context, &model, sets, count, sizes));
    size_t n = count > 0 ? sizes[count - 1] : 0, q = sets->outputs;
    wt_sets part = wt_sets_part(sets, 0, n);
    WT_TRY(wt_shifted_new(context, n, "the kernel matrix", &k));
    WT_TRY(WT_NEW2(context, &z, n, q, "labels"));
    WT_TRY(wt_kernel_gram(context, &model, &part, k.values, n));
    WT_TRY(wt_shifted_keep(context, &k));
    WT_TRY(factorise(context, &k, &found));
    memcpy(z, part.y, n * q * sizeof *z);
    WT_TRY(wt_solve_lower(context, WT_PLAIN, n, q, k.values, n, z, q));
    for (size_t i = 0, s = 0; s < count; s++) {
        for (; i < sizes[s] * q; i++)
            sum += z[i] * z[i];
        out[s] = sum;
    }
    wt_sized_write(about, &found, sizeof found);
done:
    wt_shifted_free(&k);
    wt_release(z);
    return status;
}
