/* A number that is no value of an enum, in every public call that takes one: refused with a
 * sentence, and names of it are "?". C lets any number pass for an enum. */
#include "base/memory.h"
#include "check.h"
#include "lab/statistics_fit.h"
#include "layer/layers.h"
#include "linalg/linalg.h"
#include "wattle/bounds.h"
#include "wattle/construct.h"
#include "wattle/fit.h"
#include "wattle/io.h"
#include "wattle/memory.h"
#include "wattle/random.h"
#include "wattle/recover.h"
#include "wattle/report.h"
#include "wattle/sculpt.h"
#include "wattle/store.h"

static const int numbers[] = {1000, 13, -1, INT32_MAX, INT32_MIN};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static double square[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, result[16];
static float square_float[16], result_float[16];

static wt_sets *draw_sets(wt_context *context) {
    wt_sets *out;
    CHECK_OK(context, wt_sets_new(context, 4, 2, 2, 1, false, &out));
    wt_random_normal(wt_stream_for(1, "query", 0), 0, 4 * 2, wt_sets_query(out));
    wt_random_normal(wt_stream_for(1, "keys", 0), 0, 4 * 2 * 2, wt_sets_key(out));
    wt_random_normal(wt_stream_for(1, "y", 0), 0, 4, wt_sets_y(out));
    return out;
}

static wt_model_spec model(void) {
    return (wt_model_spec){
        .size = sizeof(wt_model_spec), .kind = WT_MODEL_KIND_RFA, .heads = 2, .dim = 2, .keys = 2};
}
static const wt_ridge_options plain_ridge = {
    .size = sizeof(wt_ridge_options), .rule = WT_LAMBDA_FIXED, .lambda = 1};

static wt_status fit(wt_context *context, const wt_model_spec *spec,
                     const wt_ridge_options *ridge) {
    wt_fitted *fitted = NULL;
    wt_fit_report report = WT_SIZED(wt_fit_report);
    wt_sets *sets = draw_sets(context);
    wt_status status = wt_ridge_fit(context, ridge, spec, sets, NULL, &fitted, &report);
    wt_fitted_free(fitted);
    wt_sets_free(sets);
    return status;
}
static wt_status fit_problem(wt_context *context, const wt_model_spec *spec,
                             const wt_ridge_options *ridge) {
    wt_problem_spec about = {
        .size = sizeof(wt_problem_spec), .target = "mean-power:2", .dim = 2, .keys = 2};
    wt_problem *problem;
    wt_fitted *fitted = NULL;
    wt_fit_report report = WT_SIZED(wt_fit_report);
    CHECK_OK(context, wt_problem_new(context, &about, &problem));
    wt_status status =
        wt_ridge_fit_problem(context, ridge, spec, problem, 4, NULL, &fitted, &report);
    wt_fitted_free(fitted);
    wt_problem_free(problem);
    return status;
}
static wt_status plan(wt_context *context, const wt_model_spec *spec,
                      const wt_ridge_options *ridge) {
    wt_fit_cost out = WT_SIZED(wt_fit_cost);
    return wt_ridge_cost(context, ridge, spec, 4, 1, false, &out);
}
static wt_status curve(wt_context *context, const wt_model_spec *spec,
                       const wt_ridge_options *ridge) {
    static const size_t sizes[] = {2, 4};
    wt_curve_point points[2];
    wt_sets *sets = draw_sets(context);
    wt_status status = wt_ridge_curve(context, ridge, spec, sets, wt_sets_y(sets), sets,
                                      wt_sets_y(sets), 1, 1, sizes, 2, points);
    wt_sets_free(sets);
    return status;
}
static wt_status ball(wt_context *context, const wt_model_spec *spec, wt_loss loss) {
    wt_ball_options options;
    wt_fitted *fitted = NULL;
    wt_ball_report found = WT_SIZED(wt_ball_report);
    WT_INIT(wt_ball_options, &options);
    options.loss = loss;
    options.k1 = options.k2 = 1;
    wt_sets *sets = draw_sets(context);
    wt_status status = wt_ball_fit(context, &options, spec, sets, sets, &fitted, &found);
    wt_fitted_free(fitted);
    wt_sets_free(sets);
    return status;
}

#define OF_MODEL(name, call)                                                                       \
    static wt_status name##_kind(wt_context *context, int number) {                                \
        wt_model_spec spec = model();                                                              \
        spec.kind = (wt_model_kind)number;                                                         \
        return call;                                                                               \
    }                                                                                              \
    static wt_status name##_activation(wt_context *context, int number) {                          \
        wt_model_spec spec = model();                                                              \
        spec.activation = (wt_activation)number;                                                   \
        return call;                                                                               \
    }
OF_MODEL(check, wt_model_spec_check(context, &spec))
OF_MODEL(fit, fit(context, &spec, &plain_ridge))
OF_MODEL(fit_problem, fit_problem(context, &spec, &plain_ridge))
OF_MODEL(plan, plan(context, &spec, &plain_ridge))
OF_MODEL(curve, curve(context, &spec, &plain_ridge))
OF_MODEL(ball, ball(context, &spec, WT_LOSS_SQUARE))

#define OF_RIDGE(name, call)                                                                       \
    static wt_status name##_rule(wt_context *context, int number) {                                \
        wt_model_spec spec = model();                                                              \
        wt_ridge_options ridge = plain_ridge;                                                      \
        ridge.rule = (wt_lambda)number;                                                            \
        return call;                                                                               \
    }                                                                                              \
    static wt_status name##_solver(wt_context *context, int number) {                              \
        wt_model_spec spec = model();                                                              \
        wt_ridge_options ridge = plain_ridge;                                                      \
        ridge.solver = (wt_solver)number;                                                          \
        return call;                                                                               \
    }
OF_RIDGE(fit, fit(context, &spec, &ridge))
OF_RIDGE(fit_problem, fit_problem(context, &spec, &ridge))
OF_RIDGE(plan, plan(context, &spec, &ridge))
OF_RIDGE(curve, curve(context, &spec, &ridge))

static wt_status ball_loss(wt_context *context, int number) {
    wt_model_spec spec = model();
    return ball(context, &spec, (wt_loss)number);
}
static wt_status bound_kind(wt_context *context, int number) {
    wt_bound_spec spec = {.size = sizeof(wt_bound_spec),
                          .kind = (wt_model_kind)number,
                          .target = "mean-power:2",
                          .dim = 2,
                          .keys = 2,
                          .heads = 2,
                          .samples = 2,
                          .delta = 0.1};
    wt_bound out = WT_SIZED(wt_bound);
    return wt_bound_compute(context, &spec, &out);
}
static wt_status problem_law(wt_context *context, int number) {
    wt_problem_spec spec = {.size = sizeof(wt_problem_spec),
                            .target = "mean-power:2",
                            .law = (wt_law)number,
                            .dim = 2,
                            .keys = 2};
    wt_problem *problem;
    wt_status status = wt_problem_new(context, &spec, &problem);
    wt_problem_free(problem);
    return status;
}
static wt_status layer_law(wt_context *context, int number) {
    wt_layer *layer;
    wt_sequences *data;
    CHECK_OK(context, make_teacher(context, 1, 2, 2, 1, 0, 1, &layer));
    CHECK_OK(context, wt_sequences_new(context, 2, 2, 2, 2, &data));
    wt_status status = wt_layer_draw(context, layer, (wt_law)number, 1, 0, 1, 0, data);
    wt_layer_free(layer);
    wt_sequences_free(data);
    return status;
}

static wt_status gemm_first(wt_context *context, int number) {
    return wt_gemm(context, (wt_trans)number, WT_PLAIN, 4, 4, 4, 1, square, 4, square, 4, 0, result,
                   4);
}
static wt_status gemm_second(wt_context *context, int number) {
    return wt_gemm(context, WT_PLAIN, (wt_trans)number, 4, 4, 4, 1, square, 4, square, 4, 0, result,
                   4);
}
static wt_status gemm_float(wt_context *context, int number) {
    return wt_gemm_float(context, (wt_trans)number, WT_PLAIN, 4, 4, 4, 1, square_float, 4,
                         square_float, 4, 0, result_float, 4);
}
static wt_status gram(wt_context *context, int number) {
    return wt_gram(context, (wt_trans)number, 4, 4, square, 4, 0, result, 4);
}
static wt_status gram_float(wt_context *context, int number) {
    return wt_gram_float(context, (wt_trans)number, 4, 4, square_float, 4, 0, result, 4);
}
static wt_status solve(wt_context *context, int number) {
    return wt_solve_lower(context, (wt_trans)number, 4, 4, square, 4, result, 4);
}
static wt_status norm(wt_context *context, int number) {
    double out;
    return wt_norm(context, (wt_norm_kind)number, 4, 4, square, 4, &out);
}
static wt_status project(wt_context *context, int number) {
    return wt_project(context, (wt_norm_kind)number, 1, 4, 4, result, 4);
}

static wt_status store_mode(wt_context *context, int number) {
    wt_store *store;
    wt_status status =
        wt_store_open(context, "/nonexistent/store.db", (wt_store_mode)number, &store);
    wt_store_free(store);
    return status;
}
static wt_status positions(wt_context *context, int number) {
    wt_construction_spec spec = {
        .size = sizeof spec, .function = "and:2", .length = 5, .positions = (wt_positions)number};
    wt_construction *built;
    wt_status status = wt_construction_new(context, &spec, &built);
    assert_int_equal(wt_construction_spec_check(context, &spec), status);
    if (status == WT_OK)
        wt_construction_free(built);
    return status;
}
static wt_status mark(wt_context *context, int number) {
    const double x[] = {1, 2};
    const wt_series series = {.mark = (wt_mark)number, .count = 2, .x = x, .y = x};
    const wt_panel panel = {.series = &series, .series_count = 1};
    const wt_figure figure = {WT_FIGURE_SIZES, .panels = &panel, .panel_count = 1};
    char *text = NULL;
    wt_status status = wt_figure_text(context, &figure, 60, &text);
    wt_release(text);
    return status;
}
static wt_status type(wt_context *context, int number) {
    const wt_tensor tensor = {.name = "a", .type = (wt_type)number, .values = square};
    wt_status status = wt_npz_write(context, "/nonexistent/a", &tensor, 1);
    assert_int_equal(wt_safetensors_write(context, "/nonexistent/a", &tensor, 1, NULL, 0), status);
    assert_int_equal(wt_npy_write(context, "/nonexistent/a", &tensor), status);
    return status;
}

static const struct {
    wt_status (*call)(wt_context *context, int number);
    const char *words;
} calls[] = {
    {check_kind, "no model number"},
    {check_activation, "no activation number"},
    {fit_kind, "no model number"},
    {fit_activation, "no activation number"},
    {fit_problem_kind, "no model number"},
    {fit_problem_activation, "no activation number"},
    {plan_kind, "no model number"},
    {plan_activation, "no activation number"},
    {curve_kind, "no model number"},
    {curve_activation, "no activation number"},
    {ball_kind, "no model number"},
    {ball_activation, "no activation number"},
    {fit_rule, "no rule for lambda number"},
    {fit_solver, "no solver number"},
    {fit_problem_rule, "no rule for lambda number"},
    {fit_problem_solver, "no solver number"},
    {plan_rule, "no rule for lambda number"},
    {plan_solver, "no solver number"},
    {curve_rule, "no rule for lambda number"},
    {curve_solver, "no solver number"},
    {ball_loss, "no loss number"},
    {bound_kind, "no model number"},
    {problem_law, "no law of tokens number"},
    {layer_law, "no law of tokens number"},
    {gemm_first, "no transposition number"},
    {gemm_second, "no transposition number"},
    {gemm_float, "no transposition number"},
    {gram, "no transposition number"},
    {gram_float, "no transposition number"},
    {solve, "no transposition number"},
    {norm, "no norm number"},
    {project, "no norm number"},
    {store_mode, "no mode of a store number"},
    {positions, "no kind of positions number"},
    {mark, "no mark number"},
    {type, "only F64 and F32 are written"},
};

static void calls_refuse(void **state) {
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (size_t k = 0; k < NUMBERS; k++) {
            wt_status status = calls[i].call(*state, numbers[k]);
            if (status != WT_USAGE || strstr(wt_context_message(*state), calls[i].words) == NULL)
                fail_msg("call %zu with %d: status %d, '%s', not '%s'", i, numbers[k], (int)status,
                         wt_context_message(*state), calls[i].words);
        }
}

/* The same calls take every value there is: the table above asks nothing else of them. */
static void calls_accept(void **state) {
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        wt_status status = calls[i].call(*state, 0);
        if (status == WT_USAGE)
            fail_msg("call %zu with 0: '%s'", i, wt_context_message(*state));
    }
}

static void names_are_question_marks(void **state) {
    (void)state;
    for (size_t k = 0; k < NUMBERS; k++) {
        int number = numbers[k];
        wt_sculpt_report report = {.size = sizeof report, .stage = (wt_sculpt_stage)number};
        char text[4096];
        assert_string_equal(wt_model_kind_name((wt_model_kind)number), "?");
        assert_false(wt_model_kind_infinite((wt_model_kind)number));
        assert_string_equal(wt_law_name((wt_law)number), "?");
        assert_string_equal(wt_lambda_name((wt_lambda)number), "?");
        assert_string_equal(wt_loss_name((wt_loss)number), "?");
        assert_string_equal(wt_activation_name((wt_activation)number), "?");
        assert_string_equal(wt_growth_name((wt_growth)number), "?");
        assert_string_equal(wt_type_name((wt_type)number), "?");
        assert_int_equal(wt_type_bytes((wt_type)number), 0);
        assert_string_equal(wt_status_name((wt_status)number), "unknown status");
        assert_int_equal(wt_status_exit_code((wt_status)number), 70);
        wt_sculpt_json(&report, text, sizeof text);
        assert_non_null(strstr(text, "\"stage\": \"?\""));
        wt_sculpt_text(&report, text, sizeof text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_refuse),
        cmocka_unit_test(calls_accept),
        cmocka_unit_test(names_are_question_marks),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
