/* y^T K^-1 y: what a target costs a kernel, measured. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "features/model/features.h"
#include "features/model/kernel.h"
#include "linalg/linalg.h"
#include "wattle/bounds.h"

#define JITTER_LEAST 1e-14
#define JITTER_MOST  1e-6

typedef struct {
    size_t n;
    double *kernel; /* (n, n): K in the strict upper triangle, the factor in the lower one */
    double *diagonal;
    wt_complexity about;
} factor;

/* Moves K's strict lower triangle (from the upper) and diagonal back to where wt_cholesky reads. */
static void restore(factor *of, double shift) {
    size_t n = of->n;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            of->kernel[i * n + j] = of->kernel[j * n + i];
        of->kernel[i * n + i] = of->diagonal[i] + shift;
    }
}

static wt_status factorise(wt_context *context, factor *of) {
    size_t n = of->n, failed_at = 0;
    for (size_t i = 0; i < n; i++)
        of->about.diagonal += of->diagonal[i] / (double)n;
    double jitter = 0;
    while (jitter <= JITTER_MOST * 1.5) {
        restore(of, jitter * of->about.diagonal);
        of->about.jitter = jitter;
        wt_status status = wt_cholesky(context, n, of->kernel, n, &failed_at);
        if (status != WT_OK || failed_at == 0)
            return status;
        jitter = jitter == 0 ? JITTER_LEAST : 10 * jitter;
    }
    return wt_fail(context, WT_DATA,
                   "the kernel matrix of %zu samples is not positive (leading minor %zu), even "
                   "with a jitter of %g times its mean diagonal",
                   n, failed_at, JITTER_MOST);
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
    factor of = {.n = 0};
    double *z = NULL;
    wt_status status;
    wt_model_spec model;
    WT_TRY(wt_sized_check(context, "wt_complexity", about, sizeof *about));
    WT_TRY(wt_model_spec_read(context, spec, &model));
    WT_TRY(check(context, &model, sets, count, sizes));
    size_t n = of.n = count > 0 ? sizes[count - 1] : 0, q = sets->outputs;
    wt_sets part = wt_sets_part(sets, 0, n);
    size_t entries;
    if (!wt_multiply(n, n, &entries)) {
        status = wt_fail(context, WT_MEMORY, "a kernel of %zu samples is beyond any memory", n);
        goto done;
    }
    WT_TRY(WT_NEW(context, &of.kernel, entries, "the kernel matrix"));
    WT_TRY(WT_NEW(context, &of.diagonal, n, "the kernel's diagonal"));
    WT_TRY(WT_NEW(context, &z, n * q, "labels"));
    WT_TRY(wt_kernel_gram(context, &model, &part, of.kernel, n));
    for (size_t i = 0; i < n; i++) {
        of.diagonal[i] = of.kernel[i * n + i];
        for (size_t j = 0; j < i; j++)
            of.kernel[j * n + i] = of.kernel[i * n + j];
    }
    WT_TRY(factorise(context, &of));
    memcpy(z, part.y, n * q * sizeof *z);
    WT_TRY(wt_solve_lower(context, WT_PLAIN, n, q, of.kernel, n, z, q));
    double sum = 0;
    for (size_t i = 0, k = 0; k < count; k++) {
        for (; i < sizes[k] * q; i++)
            sum += z[i] * z[i];
        out[k] = sum;
    }
    wt_sized_write(about, &of.about, sizeof of.about);
done:
    wt_release(of.kernel);
    wt_release(of.diagonal);
    wt_release(z);
    return status;
}
