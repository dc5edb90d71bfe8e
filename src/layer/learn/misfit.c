#include "layer/learn/misfit.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/work.h"
#include "layer/learn/misfit_features.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

/* More features a family are mixed to so many, more outputs too. */
enum { LEAST_FEATURES = 8, MOST_FEATURES = 64, MOST_OUTPUTS = 32 };
/* Rows that a feature needs, at the least. */
enum { ROWS_A_FEATURE = 8 };
/* Rows that tell the size of a feature. */
enum { SCALE_ROWS = 512 };
/* Squared length of a feature off H, over its rows, that still counts as one of its own. */
#define NEW_FEATURE 1e-8
/* Sequences whose u_s are held at a time. */
enum { BLOCK = 2048 };
/* Normal quantile of a power of 90%. */
#define POWER 1.2816

typedef struct {
    wt_context *context;
    const wt_projection *at;
    const wt_rows *rows;
    size_t R, n, p; /* rows, sequences, outputs after mixing */
    double *e, *f;  /* (R, p): residuals; fitted outputs in units of their size */
    double *w;      /* (m d, p) */
    double *random, *theta;
    double unit;
    size_t longest; /* sequence */
    const wt_feature_family *family;
    size_t width, free;    /* a row's features are (width, q), and `free` outputs may follow each */
    size_t raw, q;         /* columns before and after mixing */
    double *scale, *mixer; /* (raw), (raw, q); mixer NULL = not mixed */
    double *z, *basis;     /* (R width, q) each */
    double *u;             /* (BLOCK or n, q free) */
    size_t begin;          /* of the block */
    double *scratch;
    size_t scratch_each;
} job;

/* What a family's features say of the residuals. */
typedef struct {
    double z;     /* normal deviate of the ratio under noise */
    double part;  /* of |E|^2 explained beyond chance */
    double least; /* misfit that would be seen, squared, in units of y squared */
    bool tried;
} finding;

static size_t length_of(const wt_attention *in, size_t s) {
    return wt_attention_key(in, s + 1) - wt_attention_key(in, s);
}

/* The row r of sequence s; spare holds the scores, the mean, and room. */
static wt_feature_row row_of(const job *work, size_t s, size_t r, double *scratch) {
    const wt_projection *at = work->at;
    const wt_attention *in = &work->rows->in;
    size_t d = in->dim, m = at->heads, k = length_of(in, s);
    size_t first = wt_attention_row(in, s), count = wt_attention_row(in, s + 1) - first;
    double *a = scratch, *score = a + m * k, *mean = score + m * k, *asked = mean + d;
    wt_feature_row row = {.d = d,
                          .m = m,
                          .p = work->p,
                          .k = k,
                          .at = k - count + (r - first),
                          .x = in->query + r * d,
                          .keys = in->key + wt_attention_key(in, s) * d,
                          .mean = mean,
                          .a = a,
                          .score = score,
                          .h = at->h + r * m * d,
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
        const double *theta = at->plain + i * d * d;
        memcpy(a + i * k, at->weights + m * at->starts[s] + (i * count + r - first) * k,
               k * sizeof *a);
        memset(asked, 0, d * sizeof *asked);
        for (size_t u = 0; u < d; u++)
            for (size_t j = 0; j < d; j++)
                asked[j] += row.x[u] * theta[u * d + j];
        for (size_t b = 0; b < k; b++) {
            score[i * k + b] = 0;
            for (size_t j = 0; j < d; j++)
                score[i * k + b] += asked[j] * row.keys[b * d + j];
        }
    }
    return row;
}

static size_t row_scratch(const job *work) {
    size_t d = work->rows->in.dim, m = work->at->heads, k = work->longest;
    return 2 * m * k + d + k + d;
}

/* Features in units of their size. */
static wt_status measure_features(job *work) {
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
    return WT_OK;
}

static void mix_features(const job *work, const double *raw, double *z) {
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
    const job *work = argument;
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
static double feature_work(const job *work) {
    const wt_projection *at = work->at;
    size_t d = work->rows->in.dim, pairs = at->starts[work->rows->in.sequences];
    double scores = wt_work_product(work->R, d, d) + wt_work_product(pairs, d, 1);
    double mixing =
        work->mixer == NULL ? 0 : wt_work_product(work->R * work->width, work->q, work->raw);
    return (double)at->heads * scores + mixing;
}

/* Z off the span of H. */
static wt_status project(job *work) {
    const wt_projection *at = work->at;
    wt_context *context = work->context;
    size_t n = at->columns, R = work->R, q = work->width * work->q;
    double *part = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &part, n * q, "features within H"));
    for (int pass = 0; pass < 2; pass++) {
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, n, q, R, 1, at->qt, R, work->z, q, 0, part, q));
        WT_TRY(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, R, q, n, -1, at->qt, R, part, q, 1,
                       work->z, q));
    }
done:
    wt_release(part);
    return status;
}

/* Orthonormal columns of the same span in basis (R, *kept), dependent ones dropped. */
static wt_status orthonormalise(job *work, size_t *kept) {
    wt_context *context = work->context;
    size_t q = work->q, R = work->R * work->width;
    double *gram = NULL, *values = NULL;
    wt_status status;
    *kept = 0;
    WT_TRY(WT_NEW(context, &gram, q * q, "features"));
    WT_TRY(WT_NEW(context, &values, q, "features"));
    WT_TRY(wt_gram(context, WT_TRANSPOSED, R, q, work->z, q, 0, gram, q));
    WT_TRY(wt_eigen_symmetric(context, q, gram, q, true, values));
    size_t first = 0;
    while (first < q && !(values[first] > NEW_FEATURE * (double)R))
        first++;
    *kept = q - first;
    for (size_t i = first; i < q; i++)
        for (size_t j = 0; j < q; j++)
            gram[i * q + j] /= sqrt(values[i]);
    if (*kept > 0)
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, R, *kept, q, 1, work->z, q,
                       gram + first * q, q, 0, work->basis, *kept));
done:
    wt_release(gram);
    wt_release(values);
    return status;
}

/* u_s (q, free) of sequences begin .. end-1 of the block. */
static wt_status fill_scores(void *argument, size_t begin, size_t end, int worker) {
    const job *work = argument;
    const wt_attention *in = &work->rows->in;
    size_t q = work->q, p = work->free, width = work->width;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        size_t s = work->begin + i, last = wt_attention_row(in, s + 1) * width;
        double *u = work->u + i * q * p;
        memset(u, 0, q * p * sizeof *u);
        for (size_t r = wt_attention_row(in, s) * width; r < last; r++)
            for (size_t j = 0; j < q; j++) {
                double z = work->basis[r * q + j];
                for (size_t c = 0; c < p; c++)
                    u[j * p + c] += z * work->e[r * p + c];
            }
    }
    return WT_OK;
}

/* Sums over sequences of u_s, |u_s|^2, |u_s|^4, and |sum u u^T|^2. */
typedef struct {
    double total, squares, fourths, cross;
} sums;

static void add_block(const job *work, size_t count, double *sum, sums *out) {
    size_t side = work->q * work->free;
    for (size_t i = 0; i < count; i++) {
        double square = 0;
        for (size_t j = 0; j < side; j++) {
            double u = work->u[i * side + j];
            sum[j] += u;
            square += u * u;
        }
        out->squares += square;
        out->fourths += square * square;
    }
}

/* The Gram matrix of the u_s is as large as the smaller of its sides: sequences, or entries. */
static wt_status add_scores(job *work, sums *out) {
    wt_context *context = work->context;
    size_t side = work->q * work->free, n = work->n;
    bool by_sequence = n <= side;
    size_t block = by_sequence || n < BLOCK ? n : BLOCK, order = by_sequence ? n : side;
    double *gram = NULL, *sum = NULL;
    wt_status status;
    *out = (sums){0};
    WT_TRY(WT_NEW_ZERO(context, &gram, order * order, "scores of residuals"));
    WT_TRY(WT_NEW_ZERO(context, &sum, side, "scores of residuals"));
    WT_TRY(WT_NEW(context, &work->u, block * side, "scores of residuals"));
    wt_work_add(context, wt_work_product(work->R * work->width, work->q, work->free));
    for (work->begin = 0; work->begin < n; work->begin += block) {
        size_t count = n - work->begin < block ? n - work->begin : block;
        WT_TRY(wt_parallel_for(context, count, 16, fill_scores, work));
        add_block(work, count, sum, out);
        WT_TRY(wt_gram(context, by_sequence ? WT_PLAIN : WT_TRANSPOSED, count, side, work->u, side,
                       work->begin == 0 ? 0 : 1, gram, order));
    }
    for (size_t j = 0; j < side; j++)
        out->total += sum[j] * sum[j];
    for (size_t i = 0; i < order; i++)
        for (size_t j = 0; j <= i; j++)
            out->cross += (i == j ? 1 : 2) * gram[i * order + j] * gram[i * order + j];
done:
    wt_release(gram);
    wt_release(sum);
    wt_release(work->u);
    work->u = NULL;
    return status;
}

/* The normal deviate of an F ratio of the given freedoms, by Wilson and Hilferty's cube roots (as
 * Paulson has it): good to a few percent of the chance down to 1e-6. */
double wt_misfit_deviate(double ratio, double top, double bottom) {
    double root = cbrt(ratio), a = 2 / (9 * top), b = 2 / (9 * bottom);
    return (root * (1 - b) - (1 - a)) / sqrt(b * root * root + a);
}

/* The ratio of that deviate. */
static double ratio_of(double z, double top, double bottom) {
    double low = 0, high = 2;
    while (wt_misfit_deviate(high, top, bottom) < z && high < 1e12)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        *(wt_misfit_deviate(middle, top, bottom) < z ? &low : &high) = middle;
    }
    return high;
}

double wt_misfit_chance(double z) {
    return erfc(z / sqrt(2)) / 2;
}

/* The deviate that noise passes with the given chance. */
static double deviate_of(double p) {
    double low = 0, high = 40;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        *(wt_misfit_chance(middle) > p ? &low : &high) = middle;
    }
    return high;
}

static double square_of(size_t count, const double *x) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sum;
}

/* T against A, with H's part in A made up for. */
static wt_status hold_against(job *work, double critical, finding *out) {
    double n = (double)work->n, left = 1 - (double)work->at->columns / (double)work->R;
    double whole = square_of(work->R * work->p, work->e), side = (double)(work->q * work->free);
    sums all;
    wt_status status;
    WT_TRY(add_scores(work, &all));
    double mean = all.squares / n, spread = fmax(all.fourths / n - mean * mean, 0) * n / (n - 1);
    double cross = fmax(all.cross - all.fourths, 0) * n / (n - 1), noise = all.squares / left;
    if (!(noise > 0))
        goto done;
    double top = cross > 0 ? all.squares * all.squares / cross : side;
    double bottom = spread > 0 ? 2 * n * mean * mean / spread : 1e9;
    top = fmin(fmax(top, 1), side);
    bottom = fmax(bottom, 2);
    out->tried = true;
    out->z = wt_misfit_deviate(all.total / noise, top, bottom);
    out->part = (all.total - noise) / whole;
    out->least = noise * (ratio_of(critical + POWER, top, bottom) - 1);
done:
    return status;
}

static wt_status draw_mixer(job *work, uint64_t seed) {
    double *mixer = NULL;
    wt_status status = WT_OK;
    if (work->raw == work->q)
        goto done;
    WT_TRY(WT_NEW(work->context, &mixer, work->raw * work->q, "mixed features"));
    wt_random_normal(wt_stream_for(seed, work->family->name, 0), 0, work->raw * work->q, mixer);
    for (size_t i = 0; i < work->raw * work->q; i++)
        mixer[i] /= sqrt((double)work->raw);
    work->mixer = mixer;
done:
    return status;
}

static wt_status try_family(job *work, const wt_feature_family *family, uint64_t seed,
                            double critical, finding *out) {
    wt_context *context = work->context;
    size_t d = work->rows->in.dim, kept;
    size_t most = family->by_output        ? MOST_FEATURES
                  : 4 * d < LEAST_FEATURES ? LEAST_FEATURES
                                           : 4 * d;
    size_t workers = (size_t)wt_context_threads(context);
    wt_status status = WT_OK;
    *out = (finding){0};
    work->family = family;
    work->width = family->by_output ? work->p : 1;
    work->free = family->by_output ? 1 : work->p;
    size_t room = (work->R - work->at->columns) * work->width / ROWS_A_FEATURE;
    most = most > MOST_FEATURES ? MOST_FEATURES : most;
    most = most > room ? room : most;
    work->raw = family->columns(d, work->at->heads, work->p);
    work->q = work->raw < most ? work->raw : most;
    if (work->q == 0)
        goto done;
    work->scratch_each = row_scratch(work) + work->width * work->raw;
    WT_TRY(WT_NEW(context, &work->scratch, workers * work->scratch_each, "features"));
    WT_TRY(WT_NEW(context, &work->scale, work->raw, "sizes of features"));
    WT_TRY(WT_NEW(context, &work->z, work->R * work->width * work->q, "features"));
    WT_TRY(WT_NEW(context, &work->basis, work->R * work->width * work->q, "features"));
    WT_TRY(draw_mixer(work, seed));
    WT_TRY(measure_features(work));
    WT_TRY(wt_parallel_for(context, work->R, 64, fill_rows, work));
    wt_work_add(context, feature_work(work));
    WT_TRY(project(work));
    WT_TRY(orthonormalise(work, &kept));
    work->q = kept;
    if (kept > 0)
        WT_TRY(hold_against(work, critical, out));
done:
    wt_release(work->scratch);
    wt_release(work->scale);
    wt_release(work->mixer);
    wt_release(work->z);
    wt_release(work->basis);
    work->scratch = work->scale = work->mixer = work->z = work->basis = NULL;
    return status;
}

/* E and F = Y - E, of at most MOST_OUTPUTS columns. */
static wt_status take_outputs(job *work, uint64_t seed) {
    const wt_projection *at = work->at;
    wt_context *context = work->context;
    size_t R = work->R, all = work->rows->outputs, p = all < MOST_OUTPUTS ? all : MOST_OUTPUTS;
    double *mixer = NULL, *fitted = NULL;
    wt_status status;
    work->p = p;
    WT_TRY(WT_NEW(context, &work->e, R * p, "residuals"));
    WT_TRY(WT_NEW(context, &work->f, R * p, "fitted outputs"));
    WT_TRY(WT_NEW(context, &fitted, R * all, "fitted outputs"));
    WT_TRY(WT_NEW_ZERO(context, &mixer, all * p, "mixed outputs"));
    for (size_t i = 0; i < R * all; i++)
        fitted[i] = work->rows->y[i] - at->e[i];
    if (p < all)
        wt_random_normal(wt_stream_for(seed, "misfit outputs", 0), 0, all * p, mixer);
    for (size_t i = 0; i < all * p; i++)
        mixer[i] = p < all ? mixer[i] / sqrt((double)p) : (i / p == i % p);
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, R, p, all, 1, at->e, all, mixer, p, 0, work->e, p));
    WT_TRY(
        wt_gemm(context, WT_PLAIN, WT_PLAIN, R, p, all, 1, fitted, all, mixer, p, 0, work->f, p));
    WT_TRY(WT_NEW(context, &work->w, at->columns * p, "W"));
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, at->columns, p, all, 1, at->w, all, mixer, p, 0,
                   work->w, p));
    double size = sqrt(square_of(R * p, work->f) / (double)(R * p));
    for (size_t i = 0; i < R * p; i++)
        work->f[i] /= size > 0 ? size : 1;
done:
    wt_release(mixer);
    wt_release(fitted);
    return status;
}

/* Random directions and heads in units of the tokens' size. */
static wt_status draw_random(job *work, uint64_t seed) {
    const wt_attention *in = &work->rows->in;
    size_t d = in->dim, tokens = wt_attention_key(in, in->sequences);
    double per = sqrt((double)d);
    wt_status status;
    work->unit = sqrt(square_of(tokens * d, in->key) / (double)(tokens * d));
    WT_TRY(WT_NEW(work->context, &work->random, WT_FEATURE_DIRECTIONS * d, "directions"));
    WT_TRY(WT_NEW(work->context, &work->theta, 2 * d * d, "random heads"));
    wt_random_normal(wt_stream_for(seed, "misfit directions", 0), 0, WT_FEATURE_DIRECTIONS * d,
                     work->random);
    wt_random_normal(wt_stream_for(seed, "misfit heads", 0), 0, 2 * d * d, work->theta);
    for (size_t i = 0; i < WT_FEATURE_DIRECTIONS * d; i++)
        work->random[i] /= per * work->unit;
    for (size_t i = 0; i < 2 * d * d; i++)
        work->theta[i] *= (i < d * d ? 1 : 3) / ((double)d * work->unit * work->unit);
done:
    return status;
}

/* The first of those in the table that explain nearly as much as the most telling one, as simple
 * families come first; and that one, where it is another. */
static void choose(size_t count, const finding *found, double critical, wt_misfit *out) {
    size_t most = count;
    for (size_t i = 0; i < count; i++)
        if (found[i].tried && found[i].z > critical &&
            (most == count || found[i].part > found[most].part))
            most = i;
    for (size_t i = 0; most < count && out->kind == NULL; i++)
        if (found[i].tried && found[i].z > critical && found[i].part >= 0.7 * found[most].part) {
            out->kind = wt_feature_families[i].name;
            out->words = wt_feature_families[i].words;
            out->also = i == most ? NULL : wt_feature_families[most].words;
            out->part = found[most].part;
        }
}

wt_status wt_misfit_test(wt_context *context, const wt_projection *at, uint64_t seed,
                         wt_misfit *out) {
    enum { MOST_FAMILIES = 32 };
    const wt_rows *rows = at->rows;
    job work = {
        .context = context, .at = at, .rows = rows, .R = rows->rows, .n = rows->in.sequences};
    finding found[MOST_FAMILIES];
    size_t count = wt_feature_family_count, tried = 0;
    double critical = deviate_of(WT_MISFIT_LEVEL / (double)count), most = -INFINITY, least = 0;
    wt_status status = WT_OK;
    *out = (wt_misfit){.p = NAN, .part = NAN, .seen = NAN, .blind = true};
    if (work.R <= at->columns || work.n < 3)
        goto done;
    for (size_t s = 0; s < work.n; s++)
        work.longest =
            length_of(&rows->in, s) > work.longest ? length_of(&rows->in, s) : work.longest;
    WT_TRY(take_outputs(&work, seed));
    WT_TRY(draw_random(&work, seed));
    for (size_t i = 0; i < count; i++) {
        WT_TRY(try_family(&work, &wt_feature_families[i], seed, critical, &found[i]));
        if (!found[i].tried)
            continue;
        tried++;
        most = fmax(most, found[i].z);
        least = fmax(least, found[i].least);
    }
    if (tried == 0)
        goto done;
    out->p = fmin(1, wt_misfit_chance(most) * (double)count);
    out->seen = sqrt(least) / rows->norm;
    out->blind = least > square_of(work.R * work.p, work.e) / 2;
    choose(count, found, critical, out);
done:
    wt_release(work.e);
    wt_release(work.f);
    wt_release(work.w);
    wt_release(work.random);
    wt_release(work.theta);
    return status;
}
