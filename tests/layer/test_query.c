/* Learning by asking. The oracle is the layer itself, so that answers are exact to rounding; the
 * parameter error asked for, 1e-9, leaves five digits and more for the conditioning of a layer. */
#include <float.h>

#include "check.h"
#include "layer/layers.h"
#include "wattle/query.h"

#define EXACT 1e-9

enum { MOST_HEADS = 3, MOST_ANSWER = 64 * 64 };

typedef struct {
    wt_context *context;
    wt_layer *layer;
    size_t asked;
    size_t fail_at; /* the question that fails; 0 = none */
    bool single;    /* tokens and answers are rounded to float32 */
    double twist;   /* times the square of the first answer, added: no layer does that */
} oracle;

static wt_status ask(void *user, size_t k, const double *x, double *y) {
    static double all[MOST_ANSWER], tokens[MOST_ANSWER];
    oracle *one = user;
    size_t p = one->layer->outputs, d = one->layer->dim;
    assert_true(k * p <= MOST_ANSWER && k * d <= MOST_ANSWER);
    if (++one->asked == one->fail_at)
        return wt_fail(one->context, WT_UNAVAILABLE, "the line is dead");
    for (size_t i = 0; i < k * d; i++)
        tokens[i] = one->single ? (double)(float)x[i] : x[i];
    wt_status status = wt_layer_forward(one->context, one->layer, 1, k, tokens, all);
    for (size_t i = 0; i < p; i++)
        y[i] = one->single ? (double)(float)all[(k - 1) * p + i] : all[(k - 1) * p + i];
    y[0] += one->twist * y[0] * y[0];
    return status;
}

static oracle make(wt_context *context, size_t heads, size_t d, size_t p, uint64_t seed) {
    oracle one = {.context = context};
    CHECK_OK(context, make_teacher(context, heads, d, p, 2, 0, seed, &one.layer));
    return one;
}

static double relative(size_t count, const double *a, const double *b) {
    double apart = 0, whole = 0;
    for (size_t i = 0; i < count; i++) {
        apart += (a[i] - b[i]) * (a[i] - b[i]);
        whole += a[i] * a[i];
    }
    return sqrt(apart / whole);
}

/* The largest relative error of a head's theta or w, head h of `a` against order[h] of `b`. */
static double error_in_order(const wt_layer *a, const wt_layer *b, const size_t *order) {
    size_t square = a->dim * a->dim, tall = a->dim * a->outputs;
    double worst = 0;
    for (size_t h = 0; h < a->heads; h++) {
        size_t g = order[h];
        worst = fmax(worst, relative(square, a->theta + h * square, b->theta + g * square));
        worst = fmax(worst, relative(tall, a->w + h * tall, b->w + g * tall));
    }
    return worst;
}

/* The same in the best order of heads, up to three. */
static double error_of(const wt_layer *a, const wt_layer *b) {
    double best = INFINITY;
    size_t m = a->heads;
    assert_true(m == b->heads && m <= MOST_HEADS);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            for (size_t k = 0; k < m; k++) {
                size_t order[MOST_HEADS] = {i, j, k};
                if ((m > 1 && i == j) || (m > 2 && (i == k || j == k)))
                    continue;
                best = fmin(best, error_in_order(a, b, order));
            }
    return best;
}

static void learn_and_compare(wt_context *context, size_t heads, size_t d, size_t p, uint64_t seed,
                              wt_query_report *report) {
    oracle one = make(context, heads, d, p, seed);
    wt_query_options options;
    WT_INIT(wt_query_options, &options);
    wt_layer *found;
    options.heads = heads;
    options.seed = seed + 1000;
    CHECK_OK(context, wt_layer_query(context, ask, &one, d, p, &options, &found, report));
    double error = error_of(one.layer, found);
    if (!report->reached || !(error <= EXACT))
        fail_msg("%zu heads, d = %zu, p = %zu, seed %zu: error %g, residual %g, fresh %g", heads, d,
                 p, (size_t)seed, error, report->residual, report->check_error);
    assert_int_equal(one.asked,
                     report->start_queries + report->polish_queries + report->check_queries);
    wt_layer_free(found);
    wt_layer_free(one.layer);
}

static void one_head_takes_d_squared_and_d_questions(void **state) {
    wt_query_report report = WT_SIZED(wt_query_report);
    for (size_t d = 2; d <= 16; d++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            learn_and_compare(*state, 1, d, 1, seed, &report);
            assert_int_equal(report.start_queries, d * d + d);
            assert_int_equal(report.polish_queries, 0);
            learn_and_compare(*state, 1, d, 3, seed, &report);
            assert_int_equal(report.start_queries, d * d + d);
        }
}

/* Logits beyond what rounding lets through need shorter vectors, and more questions. */
static void a_sharp_head_is_asked_again(void **state) {
    oracle one = {.context = *state};
    wt_query_options options;
    WT_INIT(wt_query_options, &options);
    wt_query_report report = WT_SIZED(wt_query_report);
    wt_layer *found;
    options.heads = 1;
    CHECK_OK(*state, make_teacher(*state, 1, 6, 1, 300, 0, 5, &one.layer));
    CHECK_OK(*state, wt_layer_query(*state, ask, &one, 6, 1, &options, &found, &report));
    assert_true(report.start_queries > 6 * 6 + 6);
    assert_true(error_of(one.layer, found) <= EXACT);
    wt_layer_free(found);
    wt_layer_free(one.layer);
}

static void several_heads_are_exact_after_the_polish(void **state) {
    static const struct {
        size_t heads, d, p, seeds;
    } cases[] = {{2, 4, 1, 10}, {3, 4, 1, 10}, {2, 8, 1, 5}, {3, 8, 1, 5},
                 {2, 4, 3, 3},  {3, 8, 4, 2},  {2, 3, 1, 3}, {3, 16, 1, 1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (uint64_t seed = 1; seed <= cases[c].seeds; seed++) {
            wt_query_report report = WT_SIZED(wt_query_report);
            learn_and_compare(*state, cases[c].heads, cases[c].d, cases[c].p, seed, &report);
            assert_true(report.starts >= 1 && report.polish_queries > 0);
        }
}

static void the_number_of_heads_is_found(void **state) {
    for (size_t heads = 1; heads <= 3; heads++) {
        oracle one = make(*state, heads, 4, 2, 7);
        wt_query_options options;
        WT_INIT(wt_query_options, &options);
        wt_query_report report = WT_SIZED(wt_query_report);
        wt_layer *found;
        CHECK_OK(*state, wt_layer_query(*state, ask, &one, 4, 2, &options, &found, &report));
        assert_int_equal(report.heads, heads);
        assert_true(report.reached);
        assert_true(error_of(one.layer, found) <= EXACT);
        assert_int_equal(one.asked,
                         report.start_queries + report.polish_queries + report.check_queries);
        wt_layer_free(found);
        wt_layer_free(one.layer);
    }
}

/* Sum W_h = 0 answers nothing to single tokens, and is learned all the same. */
static void heads_may_cancel(void **state) {
    oracle one = make(*state, 2, 4, 1, 3);
    wt_query_options options;
    WT_INIT(wt_query_options, &options);
    wt_query_report report = WT_SIZED(wt_query_report);
    wt_layer *found;
    options.heads = 2;
    for (size_t i = 0; i < 4; i++)
        one.layer->w[4 + i] = -one.layer->w[i];
    CHECK_OK(*state, wt_layer_query(*state, ask, &one, 4, 1, &options, &found, &report));
    assert_true(report.reached);
    assert_true(error_of(one.layer, found) <= EXACT);
    wt_layer_free(found);
    wt_layer_free(one.layer);
}

static void threads_change_no_bit(void **state) {
    enum { D = 16 }; /* large enough for the polish to use them */
    oracle one = make(*state, 2, D, 1, 2);
    wt_query_options options;
    WT_INIT(wt_query_options, &options);
    wt_query_report report = WT_SIZED(wt_query_report);
    wt_layer *found[2];
    int before = wt_context_threads(*state);
    options.heads = 2;
    for (int i = 0; i < 2; i++) {
        CHECK_OK(*state, wt_context_set_threads(*state, 1 + i));
        CHECK_OK(*state, wt_layer_query(*state, ask, &one, D, 1, &options, &found[i], &report));
    }
    assert_memory_equal(found[0]->theta, found[1]->theta, 2 * D * D * sizeof(double));
    assert_memory_equal(found[0]->w, found[1]->w, 2 * D * sizeof(double));
    wt_layer_free(found[0]);
    wt_layer_free(found[1]);
    wt_layer_free(one.layer);
    CHECK_OK(*state, wt_context_set_threads(*state, before));
}

/* What two layers answer, apart over the answers of `a`: parameters of layers with a norm are known
 * up to what it takes away. */
static double answers_apart(wt_context *context, const wt_layer *a, const wt_layer *b) {
    wt_comparison between = WT_SIZED(wt_comparison);
    wt_compare_options options;
    WT_INIT(wt_compare_options, &options);
    CHECK_OK(context, wt_layer_compare(context, a, b, &options, &between));
    double apart = fmax(between.distance[0], between.distance[1]);
    wt_comparison_free(&between);
    return apart;
}

/* Answers rounded to float32 are explained to that rounding, without being told. */
static void float_answers_are_explained_to_their_rounding(void **state) {
    for (size_t heads = 1; heads <= 3; heads++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            oracle one = make(*state, heads, 8, 1, seed);
            wt_query_options options;
            wt_query_report report = WT_SIZED(wt_query_report);
            wt_layer *found;
            WT_INIT(wt_query_options, &options);
            one.single = true;
            options.heads = heads;
            options.seed = seed;
            CHECK_OK(*state, wt_layer_query(*state, ask, &one, 8, 1, &options, &found, &report));
            assert_true(report.reached && !(report.residual > 1e-6));
            CHECK_NEAR(report.tolerance, 16 * (double)FLT_EPSILON, 0);
            assert_true(error_of(one.layer, found) <= 1e-4);
            wt_layer_free(found);
            wt_layer_free(one.layer);
        }
}

/* Beyond 32 dimensions float32 answers of several heads are asked for at random at once: the
 * rational start, thousands of questions at d = 36, is not asked for. */
static void float_answers_of_many_dimensions(void **state) {
    oracle one = make(*state, 2, 36, 36, 1);
    wt_query_options options;
    wt_query_report report = WT_SIZED(wt_query_report);
    wt_layer *found;
    WT_INIT(wt_query_options, &options);
    one.single = true;
    options.heads = 2;
    CHECK_OK(*state, wt_layer_query(*state, ask, &one, 36, 36, &options, &found, &report));
    assert_true(report.reached && report.start_queries == 0);
    assert_true(error_of(one.layer, found) <= 1e-4);
    wt_layer_free(found);
    wt_layer_free(one.layer);
}

/* An oracle of a random layer of the form that the options of a teacher say. */
static oracle make_formed(wt_context *context, const wt_teacher_options *options) {
    oracle one = {.context = context};
    CHECK_OK(context, wt_layer_teacher(context, options, &one.layer));
    return one;
}

static void layers_of_other_forms_are_found(void **state) {
    for (int single = 0; single < 2; single++) {
        wt_teacher_options form;
        wt_query_options options;
        wt_query_report report = WT_SIZED(wt_query_report);
        wt_layer *found;
        WT_INIT(wt_teacher_options, &form);
        WT_INIT(wt_query_options, &options);
        form.bias = options.bias = form.residual = options.residual = true;
        form.norm = options.norm = WT_LAYER_NORM_LAYER;
        form.mask = options.mask = WT_LAYER_MASK_CAUSAL;
        oracle one = make_formed(*state, &form);
        one.single = single == 1;
        CHECK_OK(*state, wt_layer_query(*state, ask, &one, 8, 8, &options, &found, &report));
        assert_true(report.reached);
        assert_int_equal(report.heads, 2);
        assert_string_equal(report.form, "bias, causal, residual, layer norm");
        assert_int_equal(one.asked, report.polish_queries + report.check_queries);
        assert_true(answers_apart(*state, one.layer, found) <= (single == 1 ? 1e-4 : EXACT));
        wt_layer_free(found);
        wt_layer_free(one.layer);
    }
}

static void the_form_is_found(void **state) {
    wt_teacher_options form;
    wt_query_options options;
    wt_query_report report = WT_SIZED(wt_query_report);
    wt_layer *found;
    WT_INIT(wt_teacher_options, &form);
    WT_INIT(wt_query_options, &options);
    form.dim = 4;
    form.bias = form.residual = true;
    options.heads = 2;
    options.forms = WT_RECOVER_FORMS_AUTO;
    oracle one = make_formed(*state, &form);
    CHECK_OK(*state, wt_layer_query(*state, ask, &one, 4, 4, &options, &found, &report));
    assert_true(report.reached && report.forms > 1);
    assert_string_equal(report.form, "bias, residual");
    assert_true(answers_apart(*state, one.layer, found) <= EXACT);
    wt_layer_free(found);
    wt_layer_free(one.layer);
    /* the plain form, then this one: a mask, which comes before it, shows in no last row */
    form.bias = false;
    one = make_formed(*state, &form);
    CHECK_OK(*state, wt_layer_query(*state, ask, &one, 4, 4, &options, &found, &report));
    assert_true(report.reached && report.forms == 2);
    wt_layer_free(found);
    wt_layer_free(one.layer);
}

/* Form and number of heads are told by questions, not by fits of others: of every form, with more
 * outputs than dimensions and fewer. A layer without biases whose norm is to be found is one with a
 * shift of 0, which rounding leaves. */
static void the_form_is_told_by_questions(void **state) {
    static const struct {
        wt_teacher_options form;
        size_t p;
        const char *words;
    } cases[] = {
        {{.heads = 2}, 5, "plain"},
        {{.heads = 1, .bias = true}, 3, "bias"},
        {{.heads = 3, .residual = true}, 5, "residual"},
        {{.heads = 2, .bias = true, .residual = true}, 5, "bias, residual"},
        {{.heads = 2, .bias = true, .norm = WT_LAYER_NORM_LAYER}, 7, "bias, layer norm"},
        {{.heads = 3, .bias = true, .norm = WT_LAYER_NORM_RMS}, 5, "bias, rms norm"},
        {{.heads = 2, .bias = true, .residual = true, .norm = WT_LAYER_NORM_LAYER},
         5,
         "bias, residual, layer norm"},
        {{.heads = 1, .bias = true, .residual = true, .norm = WT_LAYER_NORM_RMS},
         5,
         "bias, residual, rms norm"},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        wt_teacher_options form = cases[i / 2].form;
        wt_query_options options;
        wt_query_report report = WT_SIZED(wt_query_report);
        wt_layer *found;
        WT_INIT(wt_query_options, &options);
        form.size = sizeof form;
        form.dim = 5;
        form.outputs = cases[i / 2].p;
        form.scale = 2;
        form.epsilon = options.epsilon;
        form.seed = i;
        options.forms = WT_RECOVER_FORMS_AUTO;
        oracle one = make_formed(*state, &form);
        one.single = i % 2 == 1;
        CHECK_OK(*state,
                 wt_layer_query(*state, ask, &one, 5, form.outputs, &options, &found, &report));
        assert_true(report.reached && report.forms <= 2);
        assert_int_equal(report.heads, form.heads);
        assert_string_equal(report.form, cases[i / 2].words);
        assert_true(answers_apart(*state, one.layer, found) <= (one.single ? 1e-4 : EXACT));
        wt_layer_free(found);
        wt_layer_free(one.layer);
    }
}

/* An answer that bends as no norm makes it is of no form, and no fit is tried. */
static void no_form_is_told_early(void **state) {
    wt_teacher_options form;
    wt_query_options options;
    wt_query_report report = WT_SIZED(wt_query_report);
    wt_layer *found;
    WT_INIT(wt_teacher_options, &form);
    WT_INIT(wt_query_options, &options);
    form.bias = true;
    options.forms = WT_RECOVER_FORMS_AUTO;
    oracle one = make_formed(*state, &form);
    one.twist = 0.1;
    CHECK_FAILS(*state, wt_layer_query(*state, ask, &one, 8, 8, &options, &found, &report),
                WT_MISSED, "of no form that is known here");
    assert_true(one.asked < 20);
    wt_layer_free(one.layer);
}

static void many_heads_and_ranks_are_found(void **state) {
    for (size_t rank = 0; rank <= 2; rank += 2) {
        wt_teacher_options form;
        wt_query_options options;
        wt_query_report report = WT_SIZED(wt_query_report);
        wt_layer *found;
        WT_INIT(wt_teacher_options, &form);
        WT_INIT(wt_query_options, &options);
        form.heads = options.heads = rank == 0 ? 6 : 3;
        form.rank = options.rank = rank;
        oracle one = make_formed(*state, &form);
        CHECK_OK(*state, wt_layer_query(*state, ask, &one, 8, 8, &options, &found, &report));
        assert_true(report.reached && report.start_queries == 0);
        assert_true(answers_apart(*state, one.layer, found) <= EXACT);
        wt_layer_free(found);
        wt_layer_free(one.layer);
    }
}

/* As many outputs as dimensions, and these many: answers have numbers enough, but of short
 * questions too few scores. */
static void many_dimensions_take_longer_questions(void **state) {
    wt_teacher_options form;
    wt_query_options options;
    wt_query_report report = WT_SIZED(wt_query_report);
    wt_layer *found;
    WT_INIT(wt_teacher_options, &form);
    WT_INIT(wt_query_options, &options);
    form.heads = options.heads = 1;
    form.dim = 24;
    form.residual = options.residual = true;
    oracle one = make_formed(*state, &form);
    CHECK_OK(*state, wt_layer_query(*state, ask, &one, 24, 24, &options, &found, &report));
    assert_true(report.reached && report.starts == 1);
    assert_true(answers_apart(*state, one.layer, found) <= EXACT);
    wt_layer_free(found);
    wt_layer_free(one.layer);
}

/* A limit is kept to. It may do for random questions where it does not for the rational start; and
 * below that it is a miss that says so. */
static void a_limit_of_questions_is_kept(void **state) {
    oracle one = make(*state, 2, 8, 8, 3);
    wt_query_options options;
    wt_query_report report = WT_SIZED(wt_query_report);
    wt_layer *found = NULL;
    WT_INIT(wt_query_options, &options);
    options.heads = 2;
    options.questions = 120;
    CHECK_OK(*state, wt_layer_query(*state, ask, &one, 8, 8, &options, &found, &report));
    assert_true(report.reached && !report.out_of_questions);
    assert_int_equal(one.asked, 120);
    assert_true(error_of(one.layer, found) <= EXACT);
    wt_layer_free(found);
    one.asked = 0;
    options.questions = 40;
    CHECK_FAILS(*state, wt_layer_query(*state, ask, &one, 8, 8, &options, &found, &report),
                WT_MISSED, "too few for 2 heads");
    assert_true(report.out_of_questions && one.asked <= 40);
    one.asked = 0;
    options.heads = 1;
    CHECK_FAILS(*state, wt_layer_query(*state, ask, &one, 8, 8, &options, &found, &report),
                WT_MISSED, "the limit of questions is reached after 32");
    assert_int_equal(one.asked, 32);
    assert_int_equal(report.start_queries, 32);
    one.asked = 0;
    options.heads = 3;
    options.questions = 800; /* what a layer of 2 heads, which 3 do not fit, may take */
    one.twist = 1e-4;        /* too little to be called another form */
    CHECK_OK(*state, wt_layer_query(*state, ask, &one, 8, 8, &options, &found, &report));
    assert_true(report.out_of_questions && !report.reached && one.asked <= 800);
    assert_true(report.check_error > 1e-6);
    wt_layer_free(found);
    wt_layer_free(one.layer);
}

/* Too few heads, and answers that no layer gives, are a miss and not a layer. */
static void what_does_not_fit_is_not_reached(void **state) {
    oracle one = make(*state, 3, 3, 2, 4);
    wt_query_options options;
    WT_INIT(wt_query_options, &options);
    wt_query_report report = WT_SIZED(wt_query_report);
    wt_layer *found;
    options.restarts = 1;
    for (options.heads = 1; options.heads <= 2; options.heads++) {
        CHECK_OK(*state, wt_layer_query(*state, ask, &one, 3, 2, &options, &found, &report));
        assert_false(report.reached);
        assert_true(report.check_error > 1e-6);
        wt_layer_free(found);
    }
    wt_layer_free(one.layer);
    one = make(*state, 2, 3, 1, 4);
    one.twist = 0.1;
    options.heads = 2;
    CHECK_FAILS(*state, wt_layer_query(*state, ask, &one, 3, 1, &options, &found, &report),
                WT_MISSED, "no linear function");
    assert_false(report.reached);
    one.twist = 1e-4; /* too little to be called another form */
    CHECK_OK(*state, wt_layer_query(*state, ask, &one, 3, 1, &options, &found, &report));
    assert_false(report.reached);
    wt_layer_free(found);
    wt_layer_free(one.layer);
}

/* Four questions tell that a layer is not plain, whether or not its heads are known. */
static void another_form_is_told_early(void **state) {
    static const char *const words[] = {"a token of zeros is not 0", "biases or a residual",
                                        "after a norm", "biases or a residual"};
    wt_teacher_options forms[] = {{.bias = true},
                                  {.residual = true},
                                  {.norm = WT_LAYER_NORM_RMS, .epsilon = 1e-5},
                                  {.bias = true}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (size_t heads = 0; heads <= 2; heads += 2) {
            wt_query_options options;
            wt_query_report report = WT_SIZED(wt_query_report);
            wt_layer *found;
            WT_INIT(wt_query_options, &options);
            options.heads = heads;
            forms[i].size = sizeof forms[i];
            forms[i].heads = 2;
            forms[i].dim = 4;
            forms[i].scale = 2;
            oracle one = make_formed(*state, &forms[i]);
            if (i == 3) /* biases of queries alone */
                memset(wt_layer_c(one.layer), 0, 4 * sizeof(double));
            CHECK_FAILS(*state, wt_layer_query(*state, ask, &one, 4, 4, &options, &found, &report),
                        WT_MISSED, words[i]);
            assert_true(one.asked < 400);
            wt_layer_free(one.layer);
        }
}

static void silence_is_a_miss(void **state) {
    oracle one = make(*state, 1, 3, 1, 4);
    wt_query_options options;
    WT_INIT(wt_query_options, &options);
    wt_query_report report = WT_SIZED(wt_query_report);
    wt_layer *found = NULL;
    memset(one.layer->w, 0, 3 * sizeof(double));
    for (options.heads = 1; options.heads <= 2; options.heads++)
        CHECK_FAILS(*state, wt_layer_query(*state, ask, &one, 3, 1, &options, &found, &report),
                    WT_MISSED, "cannot be seen");
    wt_layer_free(one.layer);
}

#define GIVEN(m, fresh, error, more)                                                               \
    {                                                                                              \
        .size = sizeof(wt_query_options), .heads = (m), .checks = (fresh), .tolerance = (error),   \
        more                                                                                       \
    }

static void bad_options_are_refused(void **state) {
    oracle one = make(*state, 1, 3, 1, 4);
    wt_query_report report = WT_SIZED(wt_query_report);
    wt_layer *found = NULL;
    static const struct {
        size_t dim, outputs;
        wt_query_options options;
        const char *words;
    } cases[] = {
        {0, 1, GIVEN(1, 8, 1e-9, .seed = 0), "dimension"},
        {4097, 1, GIVEN(1, 8, 1e-9, .seed = 0), "dimension"},
        {3, 0, GIVEN(1, 8, 1e-9, .seed = 0), "output"},
        {3, 1, GIVEN(257, 8, 1e-9, .seed = 0), "1 to 256, not 257"},
        {3, 1, GIVEN(1, 8, 0, .seed = 0), "tolerance"},
        {3, 1, GIVEN(1, 8, NAN, .seed = 0), "tolerance"},
        {3, 1, GIVEN(2, 0, 1e-9, .seed = 0), "checks"},
        {3, 1, GIVEN(1, 0, 1e-9, .bias = true), "checks"},
        {3, 1, GIVEN(1, 8, 1e-9, .questions = 8), "8 questions leave none"},
        {3, 1, GIVEN(1, 8, 1e-9, .residual = true), "residual connection"},
        {3, 1, {.heads = 1, .checks = 8, .tolerance = 1e-9}, "size of a wt_query_options"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_FAILS(*state,
                    wt_layer_query(*state, ask, &one, cases[i].dim, cases[i].outputs,
                                   &cases[i].options, &found, &report),
                    WT_USAGE, cases[i].words);
    assert_int_equal(one.asked, 0);
    wt_layer_free(one.layer);
}

/* Whatever fails, an answer or an allocation, ends it with its own status and without a leak. */
static void failures_come_through(void **state) {
    wt_context *context = *state;
    oracle one = make(context, 2, 2, 1, 4);
    wt_query_options options;
    WT_INIT(wt_query_options, &options);
    wt_query_report report = WT_SIZED(wt_query_report);
    wt_layer *found = NULL;
    options.heads = 2;
    CHECK_OK(context, wt_layer_query(context, ask, &one, 2, 1, &options, &found, &report));
    wt_layer_free(found);
    size_t last = one.asked;
    for (one.fail_at = 1; one.fail_at <= last; one.fail_at += 7) {
        one.asked = 0;
        CHECK_FAILS(context, wt_layer_query(context, ask, &one, 2, 1, &options, &found, &report),
                    WT_UNAVAILABLE, "dead");
    }
    one.fail_at = 0;
    long fault = 1;
    for (;; fault += 1 + fault / 16) {
        atomic_store(&context->allocation_to_fail, fault);
        wt_status status = wt_layer_query(context, ask, &one, 2, 1, &options, &found, &report);
        atomic_store(&context->allocation_to_fail, 0);
        if (status == WT_OK)
            break;
        assert_int_equal(status, WT_MEMORY);
    }
    assert_true(fault > 100);
    wt_layer_free(found);
    wt_layer_free(one.layer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_head_takes_d_squared_and_d_questions),
        cmocka_unit_test(a_sharp_head_is_asked_again),
        cmocka_unit_test(several_heads_are_exact_after_the_polish),
        cmocka_unit_test(the_number_of_heads_is_found),
        cmocka_unit_test(heads_may_cancel),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(float_answers_are_explained_to_their_rounding),
        cmocka_unit_test(float_answers_of_many_dimensions),
        cmocka_unit_test(layers_of_other_forms_are_found),
        cmocka_unit_test(the_form_is_found),
        cmocka_unit_test(the_form_is_told_by_questions),
        cmocka_unit_test(no_form_is_told_early),
        cmocka_unit_test(many_heads_and_ranks_are_found),
        cmocka_unit_test(many_dimensions_take_longer_questions),
        cmocka_unit_test(a_limit_of_questions_is_kept),
        cmocka_unit_test(what_does_not_fit_is_not_reached),
        cmocka_unit_test(another_form_is_told_early),
        cmocka_unit_test(silence_is_a_miss),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(failures_come_through),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
