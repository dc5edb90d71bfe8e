/* What the kernels promise whatever their values: symmetry, bits, memory, sentences. */
#include "base/memory.h"
#include "check.h"
#include "features/kernel_cases.h"
#include "features/model/kernel.h"
#include "linalg/linalg.h"

enum { SEVERAL_TILES = KERNEL_CASES - 1, REPEATED = 5 };

/* The kernel of a side with itself, to be released. */
static double *gram(wt_context *context, const wt_model_spec *spec, const wt_sets *sets) {
    double *out;
    CHECK_OK(context, WT_NEW_ZERO(context, &out, sets->samples * sets->samples, "kernel"));
    CHECK_OK(context, wt_kernel_gram(context, spec, sets, out, sets->samples));
    return out;
}

/* Same bits for 1 to 4 threads, and the Gram matrix is the lower triangle of the whole. */
static void threads_change_no_bit(void **state) {
    const kernel_case *shape = &kernel_cases[SEVERAL_TILES];
    size_t n = shape->samples, threads = (size_t)wt_context_threads(*state);
    wt_sets sets = case_draw(*state, shape, 1);
    for (size_t k = 0; k < KERNEL_KINDS; k++) {
        wt_model_spec spec = case_spec(shape, kernel_kinds[k], 2);
        double *whole;
        CHECK_OK(*state, WT_NEW(*state, &whole, n * n, "kernel"));
        CHECK_OK(*state, wt_kernel_matrix(*state, &spec, &sets, &sets, whole, n));
        for (int t = 1; t <= 4; t++) {
            CHECK_OK(*state, wt_context_set_threads(*state, t));
            double *lower = gram(*state, &spec, &sets);
            for (size_t i = 0; i < n; i++) {
                assert_memory_equal(lower + i * n, whole + i * n, (i + 1) * sizeof(double));
                for (size_t j = i + 1; j < n; j++)
                    assert_true(lower[i * n + j] == 0);
            }
            wt_release(lower);
        }
        wt_release(whole);
    }
    CHECK_OK(*state, wt_context_set_threads(*state, (int)threads));
    wt_sets_close(&sets);
}

/* K(x,x') = K(x',x) and the order of keys does not count, to 1e-13 of the diagonal: sums of up to
 * 256 terms in another order. rfmlp-inf is symmetric too, and does depend on the order. */
static void order_does_not_count(void **state) {
    const kernel_case *shape = &kernel_cases[SEVERAL_TILES];
    size_t n = shape->samples, keys = shape->keys, d = shape->dim;
    wt_sets sets = case_draw(*state, shape, 1), turned = case_draw(*state, shape, 1);
    /* Every other sample, for one order for all is but a rotation of z. */
    for (size_t s = 1; s < n; s += 2)
        for (size_t i = 0; i < keys; i++) {
            size_t from = s * keys + keys - 1 - i, to = s * keys + i;
            turned.mask[to] = sets.mask[from];
            memcpy(turned.key + to * d, sets.key + from * d, d * sizeof(double));
        }
    for (size_t k = 0; k < KERNEL_KINDS; k++) {
        wt_model_spec spec = case_spec(shape, kernel_kinds[k], 2);
        double *whole, *other = gram(*state, &spec, &turned), most = 0;
        CHECK_OK(*state, WT_NEW(*state, &whole, n * n, "kernel"));
        CHECK_OK(*state, wt_kernel_matrix(*state, &spec, &sets, &sets, whole, n));
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++) {
                double scale = sqrt(whole[i * n + i] * whole[j * n + j]);
                assert_true(fabs(whole[i * n + j] - whole[j * n + i]) <= 1e-13 * scale);
                most = fmax(most, fabs(whole[i * n + j] - other[i * n + j]) / scale);
            }
        assert_true(spec.kind == WT_MODEL_KIND_RFMLP_INF ? most > 1e-3 : most <= 1e-13);
        wt_release(whole);
        wt_release(other);
    }
    wt_sets_close(&sets);
    wt_sets_close(&turned);
}

/* K + 1e-10 (trace / n) I has a Cholesky factor, so no eigenvalue is below -1e-10 of the largest;
 * with a sample given twice K itself is singular. */
static void kernels_are_positive(void **state) {
    kernel_case shape = kernel_cases[REPEATED];
    shape.samples = 80;
    wt_sets sets = case_draw(*state, &shape, 4);
    for (size_t k = 0; k < KERNEL_KINDS; k++) {
        wt_model_spec spec = case_spec(&shape, kernel_kinds[k], 4);
        double *matrix = gram(*state, &spec, &sets), trace = 0;
        size_t failed_at;
        for (size_t i = 0; i < 80; i++)
            trace += matrix[i * 81];
        assert_true(matrix[80] == matrix[0] || fabs(matrix[80] / matrix[0] - 1) < 1e-14);
        for (size_t i = 0; i < 80; i++)
            matrix[i * 81] += 1e-10 * trace / 80;
        CHECK_OK(*state, wt_cholesky(*state, 80, matrix, 80, &failed_at));
        assert_int_equal(failed_at, 0);
        wt_release(matrix);
    }
    wt_sets_close(&sets);
}

/* What is planned is what is held, to a few per cent. */
static void the_plan_is_kept(void **state) {
    (void)state;
    const kernel_case shape = {"plan", 300, 16, 8, 1, false, false};
    for (size_t k = 0; k < KERNEL_KINDS; k++)
        for (int both = 0; both < 2; both++) {
            wt_context *context;
            assert_int_equal(wt_context_new(&context), WT_OK);
            wt_model_spec spec = case_spec(&shape, kernel_kinds[k], 1);
            wt_sets a = case_draw(context, &shape, 1), b = case_draw(context, &shape, 2);
            double *out;
            CHECK_OK(context, WT_NEW(context, &out, 300 * 300, "kernel"));
            size_t before = wt_context_memory_used(context);
            size_t plan = wt_kernel_scratch_bytes(context, &spec, 300, both ? 300 : 0);
            CHECK_OK(context, both ? wt_kernel_matrix(context, &spec, &a, &b, out, 300)
                                   : wt_kernel_gram(context, &spec, &a, out, 300));
            size_t held = wt_context_memory_peak(context) - before;
            assert_true(held <= plan && (double)held >= 0.97 * (double)plan);
            assert_int_equal(wt_context_memory_used(context), before);
            wt_release(out);
            wt_sets_close(&a);
            wt_sets_close(&b);
            wt_context_free(context);
        }
}

static void a_failed_allocation_is_no_harm(void **state) {
    wt_context *context = *state;
    const kernel_case *shape = &kernel_cases[0];
    wt_sets a = case_draw(context, shape, 1), b = case_draw(context, shape, 2);
    static double out[37 * 37];
    size_t before = wt_context_memory_used(context);
    for (size_t k = 0; k < KERNEL_KINDS; k++) {
        wt_model_spec spec = case_spec(shape, kernel_kinds[k], 1);
        wt_status status = WT_MEMORY;
        long failing = 0;
        while (status == WT_MEMORY) {
            atomic_store(&context->allocation_to_fail, ++failing);
            status = wt_kernel_matrix(context, &spec, &a, &b, out, 37);
            assert_int_equal(wt_context_memory_used(context), before);
        }
        atomic_store(&context->allocation_to_fail, 0);
        assert_int_equal(status, WT_OK);
        assert_true(failing > 5);
    }
    wt_sets_close(&a);
    wt_sets_close(&b);
}

static void a_cancelled_call_stops(void **state) {
    wt_context *context = *state;
    wt_sets sets = case_draw(context, &kernel_cases[0], 1);
    wt_model_spec spec = case_spec(&kernel_cases[0], WT_MODEL_KIND_RFA_INF, 0);
    static double out[37 * 37];
    wt_context_cancel(context);
    CHECK_FAILS(context, wt_kernel_gram(context, &spec, &sets, out, 37), WT_INTERRUPTED,
                "interrupted");
    atomic_store(&context->cancels, 0);
    CHECK_OK(context, wt_kernel_gram(context, &spec, &sets, out, 37));
    wt_sets_close(&sets);
}

static void bad_input_gets_a_sentence(void **state) {
    wt_context *context = *state;
    const kernel_case shape = {"bad", 4, 3, 2, 1, true, false};
    wt_sets a = case_draw(context, &shape, 1), b = case_draw(context, &shape, 2), other = b;
    wt_model_spec rfa = case_spec(&shape, WT_MODEL_KIND_RFA_INF, 0), spec = rfa;
    double out[16];
    spec.kind = WT_MODEL_KIND_RFA;
    spec.heads = 3;
    CHECK_FAILS(context, wt_kernel_matrix(context, &spec, &a, &b, out, 4), WT_USAGE,
                "rfa has finitely many heads");
    spec = rfa;
    spec.activation = WT_ACTIVATION_SOFTMAX;
    CHECK_FAILS(context, wt_kernel_matrix(context, &spec, &a, &b, out, 4), WT_USAGE, "softmax");
    spec = case_spec(&shape, WT_MODEL_KIND_BRFA_INF, 1e30);
    CHECK_FAILS(context, wt_kernel_matrix(context, &spec, &a, &b, out, 4), WT_USAGE, "1e+30");
    spec = rfa;
    spec.dim = 3;
    CHECK_FAILS(context, wt_kernel_matrix(context, &spec, &a, &b, out, 4), WT_DATA,
                "3 dimensions cannot take tokens of 2");
    other.keys = 2;
    spec = case_spec(&shape, WT_MODEL_KIND_RFMLP_INF, 0);
    CHECK_FAILS(context, wt_kernel_matrix(context, &spec, &a, &other, out, 4), WT_DATA,
                "3 and 2 keys");
    other.keys = 0;
    CHECK_FAILS(context, wt_kernel_matrix(context, &rfa, &a, &other, out, 4), WT_DATA, "1 key");
    CHECK_FAILS(context, wt_kernel_matrix(context, &rfa, &a, &b, out, 3), WT_USAGE, "4 columns");
    b.key[2 * 3 * 2] = 1e41;
    b.mask[2 * 3] = 1;
    CHECK_FAILS(context, wt_kernel_matrix(context, &rfa, &a, &b, out, 4), WT_DATA,
                "sample 2 has length 1e+41");
    b.key[2 * 3 * 2] = NAN;
    CHECK_FAILS(context, wt_kernel_matrix(context, &spec, &a, &b, out, 4), WT_DATA,
                "sample 2 has length");
    memset(b.mask + 3, 0, 3);
    CHECK_FAILS(context, wt_kernel_matrix(context, &rfa, &a, &b, out, 4), WT_DATA,
                "sample 1 has every key masked");
    wt_sets_close(&a);
    wt_sets_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_no_bit),          cmocka_unit_test(order_does_not_count),
        cmocka_unit_test(kernels_are_positive),           cmocka_unit_test(the_plan_is_kept),
        cmocka_unit_test(a_failed_allocation_is_no_harm), cmocka_unit_test(a_cancelled_call_stops),
        cmocka_unit_test(bad_input_gets_a_sentence),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
