/* A matrix and its factors in one room: each shift solves its own equations, whatever was factored
 * before, and a factor that fails leaves the matrix whole. */
#include "linalg/shifted.h"

#include "reference.h"

enum { N = 150, ORDER = 70, COLUMNS = 3 }; /* more than one tile, and a part of one */

/* K = A A^T / N of normal numbers, and a copy of it that is whole. */
static double *open(wt_context *context, wt_shifted *k) {
    double *a = draw(context, "shifted", N, N);
    CHECK_OK(context, wt_shifted_new(context, N, "a matrix", k));
    CHECK_OK(context, wt_gram(context, WT_PLAIN, N, N, a, N, 0, k->values, N));
    for (size_t i = 0; i < (size_t)N * N; i++)
        k->values[i] /= N;
    CHECK_OK(context, wt_shifted_keep(context, k));
    memcpy(a, k->values, (size_t)N * N * sizeof *a);
    return a;
}

/* |(K + shift I) x - b| of the leading block. */
static double residual(const double *k, size_t order, double shift, const double *x,
                       const double *b) {
    double most = 0;
    for (size_t i = 0; i < order; i++)
        for (size_t c = 0; c < COLUMNS; c++) {
            double sum = shift * x[i * COLUMNS + c] - b[i * COLUMNS + c];
            for (size_t j = 0; j < order; j++)
                sum += k[i * N + j] * x[j * COLUMNS + c];
            most = fmax(most, fabs(sum));
        }
    return most;
}

static void each_shift_solves_its_equations(void **state) {
    wt_shifted k;
    double *whole = open(*state, &k), *b = draw(*state, "sides", N, COLUMNS);
    static const struct {
        double shift;
        size_t order;
    } cases[] = {{1, N}, {0.01, ORDER}, {-1, N}, {-1, ORDER}, {100, N}, {0.01, N}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double *x = copy_of(*state, b, (size_t)N * COLUMNS);
        size_t order = cases[i].order, failed_at;
        CHECK_OK(*state, wt_shifted_factor(*state, &k, cases[i].shift, order, &failed_at));
        assert_true((failed_at != 0) == (cases[i].shift < 0));
        if (failed_at == 0) {
            CHECK_OK(*state, wt_shifted_solve(*state, &k, order, COLUMNS, x, COLUMNS));
            /* The condition is 400 at most: rounding times that, the order and sides of about 3. */
            CHECK_BELOW(residual(whole, order, cases[i].shift, x, b), 1e-11, "case %zu", i);
        }
        wt_release(x);
    }
    double trace = 0;
    for (size_t i = 0; i < ORDER; i++)
        trace += whole[i * N + i];
    assert_true(wt_shifted_trace(&k, ORDER) == trace);
    wt_shifted_free(&k);
    wt_release(whole);
    wt_release(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_shift_solves_its_equations)};
    return cmocka_run_group_tests(tests, check_open, check_close);
}
