/* A family's features on all rows: filled, mixed to not too many, projected off H, orthonormal. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/work.h"
#include "layer/learn/misfit_parts.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

/* More features a family are mixed to so many. */
enum { LEAST_FEATURES = 8, MOST_FEATURES = 64 };
/* Rows that a feature needs, at the least. */
enum { ROWS_A_FEATURE = 8 };
/* Rows that tell the size of a feature. */
enum { SCALE_ROWS = 512 };
/* Squared length of a feature off H, over its rows, that still counts as one of its own. */
#define NEW_FEATURE 1e-8

/* The row r of sequence s; spare holds the scores, the mean, and room. */
static wt_feature_row row_of(const wt_misfit_work *work, size_t s, size_t r, double *scratch) {
    const wt_projection *at = work->at;
    const wt_attention *in = &work->rows->in;
    size_t d = in->dim, e = at->asked, m = at->heads, keys = wt_misfit_keys(in, s);
    size_t k = wt_attention_seen(in, s, r);
    size_t first = wt_attention_row(in, s), count = wt_attention_row(in, s + 1) - first;
    double *a = scratch, *score = a + m * k, *mean = score + m * k, *asked = mean + d;
    wt_feature_row row = {.d = d,
                          .m = m,
                          .p = work->p,
                          .k = k,
                          .at = wt_attention_place(in, s, r),
                          .x = in->query + r * e,
                          .keys = in->key + wt_attention_key(in, s) * d,
                          .mean = mean,
                          .a = a,
                          .score = score,
                          .h = at->h + r * at->columns,
                          .w = work->w,
                          .f = work->f + r * work->p,
                          .random = work->random,
                          .theta = work->theta,
                          .unit = work->unit,
                          .spare = asked};
    memset(mean, 0, d * sizeof *mean);
    for (size_t b = 0; b < k; b++)
        for (size_t j = 0; j < d; j++)
            mean[j] += row.keys[b * d + j] / (double)k;
    for (size_t i = 0; i < m; i++) {
        const double *theta = at->plain + i * e * d;
        memcpy(a + i * k, at->weights + m * at->starts[s] + (i * count + r - first) * keys,
               k * sizeof *a);
        memset(asked, 0, d * sizeof *asked);
        for (size_t u = 0; u < e; u++)
            for (size_t j = 0; j < d; j++)
                asked[j] += row.x[u] * theta[u * d + j];
        for (size_t b = 0; b < k; b++) {
            score[i * k + b] = wt_vector_dot(d, asked, row.keys + b * d);
        }
    }
    return row;
}

static size_t row_scratch(const wt_misfit_work *work) {
    size_t d = work->rows->in.dim, m = work->at->heads, k = work->longest;
    return 2 * m * k + d + k + d;
}

/* Features in units of their size. */
static void measure_features(wt_misfit_work *work) {
    size_t step = work->R / SCALE_ROWS + 1, counted = 0;
    double *z = work->scratch + row_scratch(work);
    memset(work->scale, 0, work->raw * sizeof *work->scale);
    for (size_t r = 0; r < work->R; r += step, counted++) {
        wt_feature_row row = row_of(work, work->rows->sequence_of[r], r, work->scratch);
        work->family->fill(&row, z);
        for (size_t j = 0; j < work->width * work->raw; j++)
            work->scale[j % work->raw] += z[j] * z[j];
    }
    for (size_t j = 0; j < work->raw; j++) {
        double size = sqrt(work->scale[j] / (double)(counted * work->width));
        work->scale[j] = size > 0 ? 1 / size : 0;
    }
}

static void mix_features(const wt_misfit_work *work, const double *raw, double *z) {
    memset(z, 0, work->q * sizeof *z);
    for (size_t i = 0; i < work->raw; i++) {
        double value = raw[i] * work->scale[i];
        if (work->mixer == NULL)
            z[i] = value;
        for (size_t j = 0; work->mixer != NULL && j < work->q; j++)
            z[j] += value * work->mixer[i * work->q + j];
    }
}

static wt_status fill_rows(void *argument, size_t begin, size_t end, int worker) {
    const wt_misfit_work *work = argument;
    double *scratch = work->scratch + (size_t)worker * work->scratch_each;
    double *raw = scratch + row_scratch(work);
    for (size_t r = begin; r < end; r++) {
        wt_feature_row row = row_of(work, work->rows->sequence_of[r], r, scratch);
        work->family->fill(&row, raw);
        for (size_t c = 0; c < work->width; c++)
            mix_features(work, raw + c * work->raw, work->z + (r * work->width + c) * work->q);
    }
    return WT_OK;
}

/* Of fill_rows: the scores of every row, and the mixing; the families' own formulas are short. */
static double feature_work(const wt_misfit_work *work) {
    const wt_projection *at = work->at;
    size_t d = work->rows->in.dim, pairs = at->starts[work->rows->in.sequences];
    double scores = wt_work_product(work->R, d, d) + wt_work_product(pairs, d, 1);
    double mixing =
        work->mixer == NULL ? 0 : wt_work_product(work->R * work->width, work->q, work->raw);
    return (double)at->heads * scores + mixing;
}

/* Z off the span of H. */
static wt_status project(wt_misfit_work *work) {
    const wt_projection *at = work->at;
    wt_context *context = work->context;
    size_t n = at->spanned, R = work->R, q = work->width * work->q;
    double *part = NULL;
    wt_status status;
    WT_TRY(WT_NEW2(context, &part, n, q, "features within H"));
    for (int pass = 0; pass < 2; pass++) {
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, n, q, R, 1, at->qt, R, work->z, q, 0, part, q));
        WT_TRY(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, R, q, n, -1, at->qt, R, part, q, 1,
                       work->z, q));
    }
done:
    wt_release(part);
    return status;
}

/* Orthonormal columns of the same span in basis, dependent ones dropped from q. */
static wt_status orthonormalise(wt_misfit_work *work) {
    wt_context *context = work->context;
    size_t q = work->q, R = work->R * work->width;
    wt_arena arena = wt_arena_start(context, "features");
    wt_status status;
    double *gram = WT_TAKE(&arena, double, q, q);
    double *values = WT_TAKE(&arena, double, q);
    WT_TRY(arena.status);
    WT_TRY(wt_gram(context, WT_TRANSPOSED, R, q, work->z, q, 0, gram, q));
    WT_TRY(wt_eigen_symmetric(context, q, gram, q, true, values));
    size_t first = 0;
    while (first < q && !(values[first] > NEW_FEATURE * (double)R))
        first++;
    work->q = q - first;
    for (size_t i = first; i < q; i++)
        for (size_t j = 0; j < q; j++)
            gram[i * q + j] /= sqrt(values[i]);
    if (work->q > 0)
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, R, work->q, q, 1, work->z, q,
                       gram + first * q, q, 0, work->basis, work->q));
done:
    wt_arena_free(&arena);
    return status;
}

static void draw_mixer(wt_misfit_work *work, uint64_t seed) {
    wt_random_normal(wt_stream_for(seed, work->family->name, 0), 0, work->raw * work->q,
                     work->mixer);
    for (size_t i = 0; i < work->raw * work->q; i++)
        work->mixer[i] /= sqrt((double)work->raw);
}

/* The columns of a family, before and after mixing. */
static void choose_columns(wt_misfit_work *work, const wt_feature_family *family) {
    size_t d = work->rows->in.dim;
    size_t most = family->by_output        ? MOST_FEATURES
                  : 4 * d < LEAST_FEATURES ? LEAST_FEATURES
                                           : 4 * d;
    work->family = family;
    work->width = family->by_output ? work->p : 1;
    work->free = family->by_output ? 1 : work->p;
    size_t room = (work->R - work->at->spanned) * work->width / ROWS_A_FEATURE;
    most = most > MOST_FEATURES ? MOST_FEATURES : most;
    most = most > room ? room : most;
    work->raw = wt_feature_columns(family, d, work->at->heads, work->p);
    work->q = work->raw < most ? work->raw : most;
}

wt_status wt_misfit_basis(wt_misfit_work *work, const wt_feature_family *family, uint64_t seed) {
    wt_context *context = work->context;
    size_t workers = (size_t)wt_context_threads(context);
    choose_columns(work, family);
    if (work->q == 0)
        return WT_OK;
    bool mixed = work->q < work->raw;
    work->scratch_each = row_scratch(work) + work->width * work->raw;
    work->scratch = WT_TAKE(&work->arena, double, workers, work->scratch_each);
    work->scale = WT_TAKE(&work->arena, double, work->raw);
    work->mixer = mixed ? WT_TAKE(&work->arena, double, work->raw, work->q) : NULL;
    work->z = WT_TAKE(&work->arena, double, work->R, work->width, work->q);
    work->basis = WT_TAKE(&work->arena, double, work->R, work->width, work->q);
    WT_PASS(work->arena.status);
    if (mixed)
        draw_mixer(work, seed);
    measure_features(work);
    WT_PASS(wt_parallel_for(context, work->R, 64, fill_rows, work));
    wt_work_add(context, feature_work(work));
    WT_PASS(project(work));
    return orthonormalise(work);
}
