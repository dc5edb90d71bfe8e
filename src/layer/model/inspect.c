#include <math.h>

#include "base/memory.h"
#include "base/sized.h"
#include "layer/model/products.h"
#include "linalg/linalg.h"

/* Mean and standard deviation in two passes; the spread of fewer than two numbers is NaN. */
typedef struct {
    double count, sum, squares;
} moments;

static double spread_of(const moments *of) {
    return of->count > 1 ? sqrt(of->squares / (of->count - 1)) : NAN;
}

static void judge_diagonal(size_t d, const double *theta, wt_head_summary *out) {
    moments on = {0}, off = {0};
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            moments *of = i == j ? &on : &off;
            of->sum += theta[i * d + j];
            of->count++;
        }
    out->diagonal_mean = on.sum / on.count;
    out->off_mean = off.count > 0 ? off.sum / off.count : NAN;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double from_mean = theta[i * d + j] - (i == j ? out->diagonal_mean : out->off_mean);
            (i == j ? &on : &off)->squares += from_mean * from_mean;
        }
    out->diagonal_spread = spread_of(&on);
    out->off_spread = spread_of(&off);
    out->standard_errors = out->diagonal_mean / (out->off_spread / sqrt((double)d));
    out->identity = out->diagonal_mean;
}

/* The largest few, and (sum s)^2 / sum s^2; the sum of squares. */
static double judge_values(size_t count, const double *singular, double shown[WT_SINGULAR_SHOWN],
                           double *effective_rank) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += singular[i];
        squares += singular[i] * singular[i];
    }
    for (size_t i = 0; i < WT_SINGULAR_SHOWN; i++)
        shown[i] = i < count ? singular[i] : 0;
    *effective_rank = squares > 0 ? sum / squares * sum : 0;
    return squares;
}

void wt_spectrum_judge(size_t d, double rounding, size_t count, const double *singular,
                       wt_head_summary *out) {
    judge_values(count, singular, out->singular, &out->effective_rank);
    out->spectral = singular[0];
    out->rank = 0;
    for (size_t i = 0; i < count; i++)
        out->rank += singular[i] > (double)d * rounding * singular[0];
}

void wt_spectrum_judge_ov(size_t count, const double *singular, wt_head_summary *out) {
    out->ov_frobenius =
        sqrt(judge_values(count, singular, out->ov_singular, &out->ov_effective_rank));
}

void wt_spectrum_no_ov(wt_head_summary *out) {
    for (size_t i = 0; i < WT_SINGULAR_SHOWN; i++)
        out->ov_singular[i] = NAN;
    out->ov_effective_rank = out->ov_frobenius = NAN;
}

wt_status wt_products_inspect(wt_context *context, const wt_products *products, size_t head,
                              wt_head_summary *given) {
    wt_head_summary full = {.head = head, .dim = products->dim}, *out = &full;
    wt_status status = wt_sized_check(context, "wt_head_summary", given, sizeof full);
    if (status == WT_OK && head >= products->heads)
        status =
            wt_fail(context, WT_USAGE, "there is no head %zu among %zu", head, products->heads);
    if (status != WT_OK)
        return status;
    size_t d = products->dim;
    const double *theta = products->theta + head * d * d;
    double *singular;
    WT_TRY(WT_NEW(context, &singular, d, "singular values"));
    WT_TRY(wt_svd(context, d, d, theta, d, NULL, singular, NULL));
    judge_diagonal(d, theta, out);
    wt_spectrum_judge(d, products->rounding, d, singular, out);
    wt_spectrum_no_ov(out);
    if (products->w != NULL) {
        size_t p = products->outputs;
        WT_TRY(wt_svd(context, d, p, products->w + head * d * p, p, NULL, singular, NULL));
        wt_spectrum_judge_ov(d < p ? d : p, singular, out);
    }
    double all = 0, crossed = 0;
    for (size_t i = 0; i < d; i++) {
        double row = 0, column = 0;
        for (size_t j = 0; j < d; j++) {
            row += theta[i * d + j] * theta[i * d + j];
            crossed += theta[i * d + j] * theta[j * d + i];
            column += theta[j * d + i] * theta[j * d + i];
        }
        out->rows_21 += sqrt(row);
        out->columns_21 += sqrt(column);
        all += row;
    }
    out->frobenius = sqrt(all);
    out->identity_share = all > 0 ? (double)d * out->identity * out->identity / all : NAN;
    out->symmetric = all > 0 ? 0.5 + 0.5 * crossed / all : NAN;
    wt_sized_write(given, out, sizeof full);
done:
    wt_release(singular);
    return status;
}

wt_status wt_products_profile(wt_context *context, const wt_products *products, size_t head,
                              size_t reach, double *out) {
    size_t d = products->dim;
    if (head >= products->heads || reach >= d)
        return wt_fail(context, WT_USAGE, "there is no head %zu with offsets to %zu", head, reach);
    const double *theta = products->theta + head * d * d;
    for (size_t at = 0; at <= 2 * reach; at++) {
        size_t down = at < reach ? reach - at : 0, right = at > reach ? at - reach : 0;
        double sum = 0;
        for (size_t i = 0; i + down + right < d; i++)
            sum += theta[(i + down) * d + i + right];
        out[at] = sum / (double)(d - down - right);
    }
    return WT_OK;
}
