#include <math.h>
#include <stdio.h>
#include <string.h>

#include "set_options.h"
#include "train.h"

static void print_relevant(const wt_sparse_task *task) {
    char text[WT_BOOLEAN_MAX_BITS * 24] = "";
    size_t used = 0;
    for (size_t i = 0; i < wt_boolean_bits(wt_sparse_task_function(task)); i++)
        used += (size_t)snprintf(text + used, sizeof text - used, i == 0 ? "%zu" : ", %zu",
                                 wt_sparse_task_relevant(task)[i]);
    cli_print_row("relevant", "%s", text);
}

/* Heads in one line: the largest of each norm. */
static void print_norms(const wt_train_measure *measure) {
    wt_train_norm most[2] = {{.name = "qk"}, {.name = "v"}};
    cli_print("\n%-16s %12s %12s %12s %12s\n", "matrix", "shape", "spectral", "frobenius",
              "two-one");
    for (size_t i = 0; i < measure->norm_count; i++) {
        const wt_train_norm *norm = &measure->norms[i];
        char shape[48];
        if (strchr(norm->name, '.') != NULL) {
            wt_train_norm *into = &most[norm->name[0] == 'q' ? 0 : 1];
            into->spectral = fmax(into->spectral, norm->spectral);
            into->frobenius = fmax(into->frobenius, norm->frobenius);
            into->two_one = fmax(into->two_one, norm->two_one);
            continue;
        }
        snprintf(shape, sizeof shape, "%zux%zu", norm->rows, norm->columns);
        cli_print("%-16s %12s %12.5g %12.5g %12.5g\n", norm->name, shape, norm->spectral,
                  norm->frobenius, norm->two_one);
    }
    for (size_t i = 0; i < 2 && most[i].frobenius > 0; i++)
        cli_print("%-16s %12s %12.5g %12.5g %12.5g\n", most[i].name, "largest head",
                  most[i].spectral, most[i].frobenius, most[i].two_one);
}

void cli_train_print(const cli_trial *trial) {
    const wt_train_result *result = &trial->result;
    const wt_train_measure *measure = &trial->measure;
    const wt_sparse_task *task = wt_trainer_task(trial->trainer);
    double probability = wt_sparse_task_probability(task);
    print_relevant(task);
    cli_print_row("ones", "each bit with probability %.4g: P(y = 1) = %.4g", probability,
                  wt_boolean_mean(wt_sparse_task_function(task), probability));
    if (result->success)
        cli_print_row("success", "yes, at step %zu of run %zu", result->success_step, result->runs);
    else
        cli_print_row("success", "NO, in %zu run%s", result->runs, result->runs == 1 ? "" : "s");
    cli_print_number("best accuracy", result->best_accuracy);
    cli_print_number("loss", result->loss);
    if (result->mark_step > 0)
        cli_print_row("loss below mark", "from step %zu", result->mark_step);
    cli_print_number("train loss", measure->train_loss);
    cli_print_number("train accuracy", measure->train_accuracy);
    cli_print_number("test loss", measure->test_loss);
    cli_print_number("test accuracy", measure->test_accuracy);
    if (isfinite(measure->gap))
        cli_print_row("test - train", "%.4g (%.4g, %.4g)", measure->gap, measure->gap_low,
                      measure->gap_high);
    if (measure->heads > 0)
        cli_print_row("attention mass", "%.4f over heads, %.4f of head %zu", measure->mass,
                      measure->best_mass, measure->best_head);
    if (result->redrawn > 0)
        cli_print_row("redrawn sets", "%zu", result->redrawn);
    cli_print_row("seconds", "%.3g", result->seconds);
    if (trial->output != NULL)
        cli_print_row("output", "%s", trial->output);
    print_norms(measure);
}

static json_t *json_relevant(const wt_sparse_task *task) {
    json_t *list = json_array();
    for (size_t i = 0; i < wt_boolean_bits(wt_sparse_task_function(task)); i++)
        json_array_append_new(list, json_integer((json_int_t)wt_sparse_task_relevant(task)[i]));
    return list;
}

static json_t *json_history(const wt_trainer *trainer) {
    size_t count;
    const wt_train_point *point = wt_trainer_history(trainer, &count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            list, json_pack("{s:I, s:I, s:o, s:o, s:o}", "run", (json_int_t)point[i].run, "step",
                            (json_int_t)point[i].step, "loss", cli_json_real(point[i].loss),
                            "train_accuracy", cli_json_real(point[i].train_accuracy),
                            "validation_accuracy", cli_json_real(point[i].validation_accuracy)));
    return list;
}

static json_t *json_norms(const wt_train_measure *measure) {
    json_t *list = json_array();
    for (size_t i = 0; i < measure->norm_count; i++) {
        const wt_train_norm *norm = &measure->norms[i];
        json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:o, s:o, s:o}", "matrix",
                                              norm->name, "rows", (json_int_t)norm->rows, "columns",
                                              (json_int_t)norm->columns, "spectral",
                                              cli_json_real(norm->spectral), "frobenius",
                                              cli_json_real(norm->frobenius), "two_one",
                                              cli_json_real(norm->two_one)));
    }
    return list;
}

static json_t *json_numbers(size_t count, const double *values) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, cli_json_real(values[i]));
    return list;
}

static json_t *json_attention(const wt_train_measure *measure) {
    if (measure->heads == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:I, s:o, s:o}", "mass", cli_json_real(measure->mass), "best_mass",
                     cli_json_real(measure->best_mass), "best_head", (json_int_t)measure->best_head,
                     "mean", json_numbers(measure->positions, measure->attention), "best",
                     json_numbers(measure->positions, measure->attention + measure->positions));
}

wt_status cli_train_emit(cli_call *call, const cli_trial *trial) {
    const wt_train_result *result = &trial->result;
    const wt_train_measure *measure = &trial->measure;
    const wt_train_spec *setting = trial->setting;
    const wt_sparse_task *task = wt_trainer_task(trial->trainer);
    double probability = wt_sparse_task_probability(task);
    json_t *object = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, "
        "s:I}",
        "task", setting->task, "model", setting->model, "length", (json_int_t)setting->length,
        "samples", (json_int_t)(setting->online > 0 ? 0 : setting->samples), "online",
        (json_int_t)setting->online, "seed", (json_int_t)setting->seed, "relevant",
        json_relevant(task), "success", result->success, "runs", (json_int_t)result->runs,
        "success_step", (json_int_t)result->success_step, "mark_step",
        (json_int_t)result->mark_step, "leave_step", (json_int_t)result->leave_step, "low_step",
        (json_int_t)result->low_step, "steps", (json_int_t)result->steps, "best_accuracy",
        cli_json_real(result->best_accuracy), "loss", cli_json_real(result->loss), "batch_accuracy",
        cli_json_real(result->train_accuracy), "redrawn", (json_int_t)result->redrawn);
    json_t *more = json_pack(
        "{s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:o, s:o, s:o}", "probability",
        probability, "label_probability",
        wt_boolean_mean(wt_sparse_task_function(task), probability), "train_loss",
        cli_json_real(measure->train_loss), "train_accuracy",
        cli_json_real(measure->train_accuracy), "test_loss", cli_json_real(measure->test_loss),
        "test_accuracy", cli_json_real(measure->test_accuracy), "gap", cli_json_real(measure->gap),
        "gap_low", cli_json_real(measure->gap_low), "gap_high", cli_json_real(measure->gap_high),
        "seconds", result->seconds, "output",
        trial->output == NULL ? json_null() : json_string(trial->output), "attention",
        json_attention(measure), "norms", json_norms(measure), "history",
        json_history(trial->trainer));
    if (object != NULL && (more == NULL || json_object_update(object, more) != 0)) {
        json_decref(object);
        object = NULL;
    }
    json_decref(more);
    return cli_emit_json(call, object);
}
