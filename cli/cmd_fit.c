#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "set_options.h"
#include "wattle/device.h"
#include "wattle/text.h"

typedef struct {
    wt_model_spec model;
    wt_problem_spec problem;
    const char *test, *output, *loss, *ball, *device;
    size_t n, test_samples, steps;
    double huber, tolerance;
    bool plan;
    wt_ridge_spec ridge;
} values;

static const cli_table tables[] = {CLI_TABLE(values, model, wt_model_fields, ""),
                                   CLI_TABLE(values, problem, wt_problem_fields, ""),
                                   CLI_TABLE(values, ridge, wt_ridge_fields, ""),
                                   {0}};
static const cli_option options[] = {
    {"loss", 0, CLI_CHOICE, offsetof(values, loss), "square|absolute|huber|logistic", "square",
     "Loss; all but square go with --ball. Logistic wants labels -1 and +1."},
    {"ball", 0, CLI_TEXT, offsetof(values, ball), "K1,K2", NULL,
     "Minimise the mean loss under sum |v_m| <= K1 and M sum |v_m|^2 <= K2 instead of with a "
     "ridge; inf is allowed for one of them."},
    {"huber", 0, CLI_REAL, offsetof(values, huber), "DELTA", "1", "Where the Huber loss turns."},
    {"tolerance", 0, CLI_REAL, offsetof(values, tolerance), "T", "1e-6",
     "Duality gap at which --ball stops, as a part of the loss of v = 0."},
    {"steps", 0, CLI_COUNT, offsetof(values, steps), "S", "20000", "Most steps of --ball."},
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE.safetensors", NULL,
     "Where the model goes."},
    {"test", 0, CLI_INPUT, offsetof(values, test), "FILE", NULL, "Test data (.npz)."},
    {"plan", 0, CLI_FLAG, offsetof(values, plan), NULL, NULL,
     "Print path, bytes and flops, and stop."},
    {"n", 'n', CLI_COUNT, offsetof(values, n), "SAMPLES", "1000", "Samples to draw."},
    {"test-n", 0, CLI_COUNT, offsetof(values, test_samples), "SAMPLES", NULL,
     "Fresh samples of the target to test on."},
    CLI_DEVICE(offsetof(values, device)),
};

/* What the words describe, with shapes from the data. */
typedef struct {
    wt_model_spec spec;
    wt_ridge_options ridge;
    wt_grid path;          /* of the ridge */
    wt_problem *problem;   /* NULL when the data is a file */
    wt_sets *train, *test; /* test NULL = none */
} job;

static wt_status open_data(cli_call *call, job *work) {
    const values *given = call->values;
    bool from_file = call->operand_count == 1;
    wt_status status;
    if (from_file == (given->problem.target != NULL)) {
        status = wt_fail(call->context, WT_USAGE,
                         "wattle fit needs either a data file or --target, not %s",
                         from_file ? "both" : "neither");
        goto done;
    }
    if (from_file) {
        WT_TRY(wt_sets_load(call->context, call->operands[0], &work->train));
        work->spec.dim = wt_sets_dim(work->train);
        work->spec.keys = wt_sets_keys(work->train);
    } else {
        WT_TRY(cli_problem_open(call, &given->problem, &work->problem));
        work->spec.dim = given->problem.dim;
        work->spec.keys = given->problem.keys;
    }
    if (given->test != NULL)
        WT_TRY(wt_sets_load(call->context, given->test, &work->test));
    else if (given->test_samples > 0 && from_file)
        status = wt_fail(call->context, WT_USAGE, "--test-n goes with --target; use --test FILE");
    else if (given->test_samples > 0)
        WT_TRY(cli_problem_draw(call, work->problem, WT_PROBLEM_FIRST_TEST, given->test_samples,
                                &work->test));
done:
    return status;
}

static wt_status read_settings(cli_call *call, job *work) {
    const values *given = call->values;
    work->spec = given->model;
    work->spec.seed = call->common.seed;
    return wt_ridge_spec_read(call->context, &given->ridge, &work->ridge, &work->path);
}

static wt_status show_plan(cli_call *call, const job *work) {
    const values *given = call->values;
    bool drawn = work->problem != NULL;
    wt_fit_cost cost = WT_SIZED(wt_fit_cost);
    WT_PASS(wt_ridge_cost(call->context, &work->ridge, &work->spec,
                          drawn ? given->n : wt_sets_samples(work->train),
                          drawn ? 1 : wt_sets_outputs(work->train), drawn, &cost));
    if (call->common.json)
        return cli_emit(call, "path:s samples:u features:u bytes:r flops:r", cost.route,
                        cost.samples, cost.features, cost.bytes, cost.flops);
    char bytes[WT_BYTES_TEXT];
    cli_print_row("path", "%s", cost.route);
    cli_print_row("samples", "%zu", cost.samples);
    cli_print_row("features", "%zu", cost.features);
    cli_print_row("bytes", "%s", wt_bytes_format((size_t)cost.bytes, bytes));
    cli_print_row("flops", "%.3g", cost.flops);
    return WT_OK;
}

static wt_status show_json(cli_call *call, const job *work, const wt_fit_report *report) {
    const values *given = call->values;
    static const char *const warning = WT_LAMBDA_AT_END;
    json_t *all = cli_json(
        "model:s path:s samples:u features:u outputs:u lambda_rule:s lambda:r train_error:r "
        "loo_error:r test_error:r sum_norms:r m_sum_squares:r effective_rank:r condition:r "
        "seconds:r bytes:u lambda_at_end:b warnings:o",
        wt_model_kind_name(work->spec.kind), report->route, report->samples, report->features,
        report->outputs, wt_lambda_name(work->ridge.rule), report->lambda, report->train_error,
        report->loo_error, report->test_error, report->sum_norms, report->m_sum_squares,
        report->freedom, report->condition, report->seconds, report->bytes, report->lambda_at_end,
        cli_json_texts(report->lambda_at_end, &warning));
    if (report->rank > 0)
        cli_json_put(all, "rank", json_integer((json_int_t)report->rank));
    cli_json_put(all, "device", json_string(wt_context_device(call->context)));
    if (given->output != NULL)
        cli_json_put(all, "output", json_string(given->output));
    return cli_emit_json(call, all);
}

static void show_text(cli_call *call, const job *work, const wt_fit_report *report) {
    const values *given = call->values;
    char bytes[WT_BYTES_TEXT];
    cli_print_row("model", "%s", wt_model_kind_name(work->spec.kind));
    cli_print_row("samples", "%zu (%s)", report->samples, report->route);
    if (report->features > 0)
        cli_print_row("features", "%zu", report->features);
    if (work->ridge.rule == WT_LAMBDA_FIXED)
        cli_print_row("lambda", "%g", report->lambda);
    else
        cli_print_row("lambda", "%g (%s%s)", report->lambda, wt_lambda_name(work->ridge.rule),
                      report->lambda_at_end ? ", at an end" : "");
    cli_print_number("train error", report->train_error);
    cli_print_number("leave-one-out error", report->loo_error);
    cli_print_number("test error", report->test_error);
    cli_print_number("sum |v_m|", report->sum_norms);
    cli_print_number("M sum |v_m|^2", report->m_sum_squares);
    cli_print_number("effective rank", report->freedom);
    if (report->rank > 0)
        cli_print_row("numerical rank", "%zu", report->rank);
    cli_print_number("condition", report->condition);
    cli_print_row("time", "%.2f s, %s", report->seconds, wt_bytes_format(report->bytes, bytes));
    if (strcmp(wt_context_device(call->context), "host") != 0)
        cli_print_row("device", "%s", wt_context_device(call->context));
    if (given->output != NULL)
        cli_print_row("written", "%s", given->output);
}

/* "K1,K2", either of them "inf". */
static wt_status parse_ball(cli_call *call, const char *text, wt_ball_options *out) {
    char first[64];
    const char *comma = strchr(text, ',');
    size_t length = comma == NULL ? 0 : (size_t)(comma - text);
    bool fine = comma != NULL && length < sizeof first;
    if (fine) {
        snprintf(first, sizeof first, "%.*s", (int)length, text);
        const char *const words[] = {first, comma + 1};
        double *const bounds[] = {&out->k1, &out->k2};
        for (size_t i = 0; fine && i < 2; i++) {
            if (strcmp(words[i], "inf") == 0)
                *bounds[i] = INFINITY;
            else
                fine = wt_real_parse(words[i], bounds[i]);
        }
    }
    return fine ? WT_OK
                : wt_fail(call->context, WT_USAGE, "--ball: '%s' is not K1,K2, two numbers", text);
}

static wt_status show_ball(cli_call *call, const job *work, const wt_ball_options *ball,
                           const wt_ball_report *found) {
    const char *loss = wt_loss_name(ball->loss), *model = wt_model_kind_name(work->spec.kind);
    if (call->common.json)
        return cli_emit(call,
                        "model:s loss:s samples:u reached:b objective:r lower_bound:r gap:r "
                        "relative_gap:r steps:u sum_norms:r k1:r m_sum_squares:r k2:r test_loss:r",
                        model, loss, wt_sets_samples(work->train), found->reached, found->objective,
                        found->lower_bound, found->gap, found->relative_gap, found->steps,
                        found->sum_norms, ball->k1, found->m_sum_squares, ball->k2,
                        found->test_loss);
    cli_print_row("model", "%s", model);
    cli_print_row("samples", "%zu", wt_sets_samples(work->train));
    cli_print_row("mean loss", "%.8g (%s; %.6g at v = 0)", found->objective, loss,
                  found->objective_at_zero);
    cli_print_row("lower bound", "%.8g", found->lower_bound);
    cli_print_row("certificate", "gap %.2g, %.2g of the loss at 0, %s %.2g", found->gap,
                  found->relative_gap, found->reached ? "within" : "NOT within", ball->tolerance);
    cli_print_row("steps", "%zu", found->steps);
    cli_print_row("sum |v_m|", "%.6g of at most %g%s", found->sum_norms, ball->k1,
                  found->sum_binds ? " (binds)" : "");
    cli_print_row("M sum |v_m|^2", "%.6g of at most %g%s", found->m_sum_squares, ball->k2,
                  found->squares_bind ? " (binds)" : "");
    cli_print_number("test loss", found->test_loss);
    return WT_OK;
}

/* The norm-constrained estimator; a problem is drawn whole first. */
static wt_status run_ball(cli_call *call, job *work) {
    const values *given = call->values;
    wt_ball_options ball;
    wt_ball_report found = WT_SIZED(wt_ball_report);
    wt_fitted *fitted = NULL;
    wt_status status;
    WT_INIT(wt_ball_options, &ball);
    ball.huber = given->huber;
    ball.tolerance = given->tolerance;
    ball.max_steps = given->steps;
    WT_TRY(wt_loss_parse(call->context, given->loss, &ball.loss));
    WT_TRY(parse_ball(call, given->ball, &ball));
    if (work->problem != NULL)
        WT_TRY(cli_problem_draw(call, work->problem, 0, given->n, &work->train));
    WT_TRY(
        wt_ball_fit(call->context, &ball, &work->spec, work->train, work->test, &fitted, &found));
    bool late = cli_lift_time(call);
    if (found.reached && given->output != NULL)
        WT_TRY(wt_fitted_save(call->context, fitted, given->output));
    WT_TRY(show_ball(call, work, &ball, &found));
    if (!found.reached)
        status = wt_fail(call->context, WT_MISSED,
                         "the gap is %.2g of the loss at 0 after %zu steps, above %.2g; %s",
                         found.relative_gap, found.steps, ball.tolerance,
                         late ? "the time is over" : "raise --steps or --tolerance");
done:
    wt_fitted_free(fitted);
    return status;
}

/* Options of one estimator must not be lost on the other. */
static wt_status check_estimator(cli_call *call) {
    const values *given = call->values;
    if (given->ball == NULL && strcmp(given->loss, "square") != 0)
        return wt_fail(call->context, WT_USAGE, "--loss %s needs --ball K1,K2", given->loss);
    return given->ball == NULL
               ? WT_OK
               : cli_exclude(call, "--ball", "lambda lambda-path standardize solver plan");
}

static wt_status run(cli_call *call) {
    const values *given = call->values;
    job work = {0};
    wt_fitted *fitted = NULL;
    wt_fit_report report = WT_SIZED(wt_fit_report);
    wt_status status;
    WT_TRY(check_estimator(call));
    WT_TRY(cli_choose_device(call, given->device));
    WT_TRY(read_settings(call, &work));
    WT_TRY(open_data(call, &work));
    if (given->ball != NULL) {
        WT_TRY(run_ball(call, &work));
        goto done;
    }
    if (given->plan) {
        WT_TRY(show_plan(call, &work));
        goto done;
    }
    if (work.problem != NULL)
        WT_TRY(wt_ridge_fit_problem(call->context, &work.ridge, &work.spec, work.problem, given->n,
                                    work.test, &fitted, &report));
    else
        WT_TRY(wt_ridge_fit(call->context, &work.ridge, &work.spec, work.train, work.test, &fitted,
                            &report));
    (void)cli_lift_time(call);
    if (report.lambda_at_end)
        wt_remark(call->context, WT_LAMBDA_AT_END);
    if (given->output != NULL && !report.out_of_time)
        WT_TRY(wt_fitted_save(call->context, fitted, given->output));
    if (call->common.json)
        WT_TRY(show_json(call, &work, &report));
    else
        show_text(call, &work, &report);
    if (report.out_of_time)
        status = wt_fail(call->context, WT_MISSED,
                         "the time is over: %g is the best lambda of those that were tried; no "
                         "model is written",
                         report.lambda);
done:
    wt_fitted_free(fitted);
    wt_problem_free(work.problem);
    wt_sets_free(work.train);
    wt_sets_free(work.test);
    wt_grid_free(&work.path);
    return status;
}

const cli_command cli_fit = {
    .name = "fit",
    .summary = "fit the value vectors of random-feature attention",
    .operands = "[DATA.npz]",
    .description =
        "Minimises sum_i |y_i - f(x_i)|^2 + lambda * M * sum_m |v_m|^2 over the value vectors v_m; "
        "the query-key weights are drawn from --seed and frozen. The answer is the optimum, "
        "whichever way it is computed.\n\n"
        "The data is a file with query (n,d), keys (n,N,d), y (n) or (n,q) and optionally mask "
        "(n,N), or it is drawn on the fly with --target: the same bits as 'wattle draw' with the "
        "same options, then 'wattle fit'.\n\n"
        "With --ball the estimator is the theorem's: the mean loss is minimised under two norm "
        "bounds, and a duality gap certifies the answer. When the gap is not reached the result "
        "is printed, nothing is written and the exit code is 1.\n\n"
        "Errors are mean squared errors over the variance of y on the same set: 0 is perfect, 1 no "
        "better than the mean. The leave-one-out error is that of n refits, each without one "
        "sample, with --standardize by the labels of the others. The effective rank is the trace "
        "of K (K + lambda I)^-1.",
    .examples = "wattle fit data.npz --model rfa --heads 1000 --lambda loo -o model.safetensors\n"
                "wattle fit data.npz --loss absolute --ball 10,100\n"
                "wattle fit --target mean-power:2 --n 1000000 --heads 200 --mem 1G --test-n 1000",
    .tables = tables,
    CLI_OPTIONS(options, values),
    .run = run,
};
