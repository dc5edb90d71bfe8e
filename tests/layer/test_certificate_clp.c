/* The whole certificate again, its linear programs by the simplex method of CLP. */
#include <stdlib.h>

#include "layer/layers.h"
#include "layer/learn/sculpt_span.h"
#include "linalg/linalg.h"
#include "linalg/simplex.h"
#include "wattle/random.h"
#include "wattle/sculpt.h"

/* Ours ends within 1e-6 of the best, and CLP lets planes be passed by 1e-7. */
#define CLOSE 1e-4

typedef struct {
    wt_layer *teacher;
    wt_sequences *data;
    wt_slabs slabs;
    double *low, *high, *basis; /* basis: rows 0 .. d^2 - m - 1 are orthogonal to the heads */
    size_t unknowns, heads;
    uint64_t seed;
    wt_arena arena; /* of the slabs */
} trial;

/* The rows that the certificate takes: 2% of them, by the sum of W. */
static void find_slabs(wt_context *context, trial *of) {
    wt_arena own = wt_arena_start(context, "patterns");
    wt_patterns patterns;
    double *w;
    size_t count = of->teacher->dim * of->teacher->outputs, pairs;
    CHECK_OK(context, WT_NEW_ZERO(context, &w, count, "the sum of W"));
    for (size_t i = 0; i < of->heads * count; i++)
        w[i % count] += of->teacher->w[i];
    of->arena = wt_arena_start(context, "slabs");
    pairs = of->data->length * (of->data->length - 1) / 2;
    CHECK_OK(context, wt_patterns_open(&own, of->data, &patterns));
    CHECK_OK(context, wt_patterns_find(context, of->data, w, &patterns));
    CHECK_OK(context,
             wt_slabs_collect(&of->arena, of->data, &patterns, true,
                              (size_t)ceil(0.02 * (double)patterns.rows) * pairs, &of->slabs));
    wt_arena_free(&own);
    wt_release(w);
}

/* The body around the first head, and what is orthogonal to all of them. */
static void find_body(wt_context *context, trial *of, double eta) {
    size_t u = of->unknowns;
    double *values;
    CHECK_OK(context, WT_NEW(context, &of->low, of->slabs.count, "slabs"));
    CHECK_OK(context, WT_NEW(context, &of->high, of->slabs.count, "slabs"));
    CHECK_OK(context, WT_NEW_ZERO(context, &of->basis, u * u, "directions"));
    CHECK_OK(context, WT_NEW(context, &values, u, "eigenvalues"));
    for (size_t i = 0; i < of->slabs.count; i++) {
        double at = of->slabs.middle[i];
        for (size_t j = 0; j < u; j++)
            at -= of->slabs.normal[i * u + j] * of->teacher->theta[j];
        of->low[i] = at - eta;
        of->high[i] = at + eta;
    }
    for (size_t head = 0; head < of->heads; head++) {
        const double *theta = of->teacher->theta + head * u;
        double size = 0;
        for (size_t i = 0; i < u; i++)
            size += theta[i] * theta[i];
        for (size_t i = 0; i < u; i++)
            for (size_t j = 0; j <= i; j++)
                of->basis[i * u + j] += theta[i] * theta[j] / size;
    }
    CHECK_OK(context, wt_eigen_symmetric(context, u, of->basis, u, true, values));
    wt_release(values);
}

/* Half of the width along a random direction, by CLP. */
static double half_width(wt_context *context, const trial *of, size_t index) {
    size_t u = of->unknowns, count = u - of->heads;
    const wt_body body = {.rows = of->slabs.count,
                          .columns = u,
                          .a = of->slabs.normal,
                          .low = of->low,
                          .high = of->high};
    double *direction, *mix, size = 0, there, back;
    CHECK_OK(context, WT_NEW_ZERO(context, &direction, u, "a direction"));
    CHECK_OK(context, WT_NEW(context, &mix, count, "a direction"));
    wt_random_normal(wt_stream_for(of->seed, "direction", index), 0, count, mix);
    for (size_t i = 0; i < count; i++)
        size += mix[i] * mix[i];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < u; j++)
            direction[j] += mix[i] / sqrt(size) * of->basis[i * u + j];
    there = simplex_reach(context, &body, direction);
    for (size_t j = 0; j < u; j++)
        direction[j] = -direction[j];
    back = simplex_reach(context, &body, direction);
    wt_release(direction);
    wt_release(mix);
    return (there + back) / 2;
}

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void beside_clp(wt_context *context, size_t heads, size_t dim, wt_law law, uint64_t seed) {
    enum { DIRECTIONS = 6, OUTPUTS = 12, LENGTH = 2, EXAMPLES = 6000 };
    trial of = {.heads = heads, .unknowns = dim * dim, .seed = seed};
    wt_certificate_options options;
    WT_INIT(wt_certificate_options, &options);
    wt_certificate_result ours = WT_SIZED(wt_certificate_result);
    double widths[DIRECTIONS];
    CHECK_OK(context, make_teacher(context, heads, dim, OUTPUTS, 2, 0, seed, &of.teacher));
    CHECK_OK(context, wt_sequences_new(context, EXAMPLES, LENGTH, dim, OUTPUTS, &of.data));
    CHECK_OK(context, wt_layer_draw(context, of.teacher, law, 1, 0, seed, 0, of.data));
    options.directions = DIRECTIONS;
    options.seed = seed;
    CHECK_OK(context, wt_certificate_compute(context, of.data, of.teacher, &options, &ours));
    find_slabs(context, &of);
    assert_int_equal(of.slabs.count, ours.slabs);
    find_body(context, &of, ours.eta);
    for (size_t i = 0; i < DIRECTIONS; i++)
        widths[i] = half_width(context, &of, i) / ours.theta_size;
    qsort(widths, DIRECTIONS, sizeof *widths, by_value);
    double largest = widths[DIRECTIONS - 1];
    double median = (widths[DIRECTIONS / 2 - 1] + widths[DIRECTIONS / 2]) / 2;
    if (!(fabs(ours.largest - largest) <= CLOSE * largest + 1e-6) ||
        !(fabs(ours.median - median) <= CLOSE * median + 1e-6))
        fail_msg("seed %d: largest %.9g, median %.9g, by CLP %.9g and %.9g", (int)seed,
                 ours.largest, ours.median, largest, median);
    wt_arena_free(&of.arena);
    wt_layer_free(of.teacher);
    wt_sequences_free(of.data);
    wt_release(of.low);
    wt_release(of.high);
    wt_release(of.basis);
}

static double worst_violation(const trial *of) {
    double most = 0;
    for (size_t head = 0; head < of->heads; head++)
        most = fmax(most, wt_slabs_violation(&of->slabs, of->teacher->theta + head * of->unknowns));
    return most;
}

static void scale_heads(trial *of, double by) {
    for (size_t i = 0; i < of->heads * of->unknowns; i++)
        of->teacher->theta[i] *= by;
}

/* eta is a tenth above the largest violation, and one above 1 is refused: heads scaled so that it
 * is 3% below and 3% above. The slabs rest on the sum of W alone, so that scaling leaves them. */
static void test_eta(void **state) {
    wt_context *context = *state;
    wt_certificate_options options;
    WT_INIT(wt_certificate_options, &options);
    wt_certificate_result result = WT_SIZED(wt_certificate_result);
    trial of = {.heads = 2, .unknowns = 25};
    options.directions = 1;
    CHECK_OK(context, make_teacher(context, 2, 5, 12, 2, 0, 3, &of.teacher));
    CHECK_OK(context, wt_sequences_new(context, 8000, 2, 5, 12, &of.data));
    CHECK_OK(context, wt_layer_draw(context, of.teacher, WT_LAW_GAUSSIAN, 1, 0, 4, 0, of.data));
    find_slabs(context, &of);
    CHECK_OK(context, wt_certificate_compute(context, of.data, of.teacher, &options, &result));
    CHECK_NEAR(result.eta, 1.1 * worst_violation(&of), 1e-12); /* sums of 25 products */
    for (int above = 0; above < 2; above++) {
        double low = 1, high = 8, wanted = above ? 1.03 : 0.97;
        for (int i = 0; i < 50; i++) {
            double middle = (low + high) / 2;
            scale_heads(&of, middle);
            *(1.1 * worst_violation(&of) < wanted ? &low : &high) = middle;
            scale_heads(&of, 1 / middle);
        }
        scale_heads(&of, low);
        CHECK_NEAR(1.1 * worst_violation(&of), wanted, 1e-9);
        assert_int_equal(wt_certificate_compute(context, of.data, of.teacher, &options, &result),
                         above ? WT_MISSED : WT_OK);
        scale_heads(&of, 1 / low);
    }
    wt_arena_free(&of.arena);
    wt_layer_free(of.teacher);
    wt_sequences_free(of.data);
}

static void test_beside_clp(void **state) {
    beside_clp(*state, 2, 5, WT_LAW_GAUSSIAN, 3);
    beside_clp(*state, 2, 7, WT_LAW_GAUSSIAN, 5);
    beside_clp(*state, 2, 8, WT_LAW_BOOLEAN, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_eta),
                                       cmocka_unit_test(test_beside_clp)};
    return cmocka_run_group_tests(tests, check_open, check_close);
}
