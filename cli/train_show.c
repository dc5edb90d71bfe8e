#include <math.h>
#include <stdio.h>
#include <string.h>

#include "set_options.h"
#include "train.h"

/* Positions that are named, and the room for one: "123 (0.456), ". */
enum { SHOWN = 5, PLACE_TEXT = 32 };

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

static void print_task(const wt_sparse_task *task) {
    double probability = wt_sparse_task_probability(task);
    print_relevant(task);
    cli_print_row("ones", "each bit with probability %.4g: P(y = 1) = %.4g", probability,
                  wt_boolean_mean(wt_sparse_task_function(task), probability));
}

/* The positions of the bits with the largest weights in the row, in falling order. */
static size_t most_looked_at(const wt_train_measure *measure, const double *row,
                             size_t places[SHOWN]) {
    size_t count = 0;
    for (size_t t = 0; t + 1 < measure->positions; t++) {
        size_t at = count < SHOWN ? count++ : SHOWN;
        for (; at > 0 && row[t] > row[places[at - 1]]; at--)
            if (at < SHOWN)
                places[at] = places[at - 1];
        if (at < SHOWN)
            places[at] = t;
    }
    return count;
}

static void print_looks(const wt_train_measure *measure) {
    static const char *const names[] = {"looks at", "best head looks at"};
    for (size_t i = 0; i < (measure->heads > 1 ? 2 : 1); i++) {
        const double *row = measure->attention + i * measure->positions;
        size_t places[SHOWN], count = most_looked_at(measure, row, places), used = 0;
        char text[SHOWN * PLACE_TEXT];
        for (size_t k = 0; k < count; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu (%.3f)",
                                     k == 0 ? "" : ", ", places[k], row[places[k]]);
        cli_print_row(names[i], "%s", text);
    }
}

void cli_train_print(const cli_trial *trial) {
    const wt_train_result *result = &trial->result;
    const wt_train_measure *measure = &trial->measure;
    const wt_sparse_task *task = wt_trainer_task(trial->trainer);
    if (task != NULL)
        print_task(task);
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
    if (measure->heads > 0 && task == NULL)
        print_looks(measure);
    else if (measure->heads > 0)
        cli_print_row("attention mass", "%.4f over heads, %.4f of head %zu", measure->mass,
                      measure->best_mass, measure->best_head);
    if (result->redrawn > 0)
        cli_print_row("redrawn sets", "%zu", result->redrawn);
    cli_print_row("seconds", "%.3g", result->seconds);
    if (trial->output != NULL)
        cli_print_row("output", "%s", trial->output);
    print_norms(measure);
}

static json_t *json_history(const wt_trainer *trainer) {
    size_t count;
    const wt_train_point *point = wt_trainer_history(trainer, &count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        cli_json_add(list, cli_json("run:u step:u loss:r train_accuracy:r validation_accuracy:r",
                                    point[i].run, point[i].step, point[i].loss,
                                    point[i].train_accuracy, point[i].validation_accuracy));
    return list;
}

static json_t *json_norms(const wt_train_measure *measure) {
    json_t *list = json_array();
    for (size_t i = 0; i < measure->norm_count; i++) {
        const wt_train_norm *norm = &measure->norms[i];
        cli_json_add(list, cli_json("matrix:s rows:u columns:u spectral:r frobenius:r two_one:r",
                                    norm->name, norm->rows, norm->columns, norm->spectral,
                                    norm->frobenius, norm->two_one));
    }
    return list;
}

static json_t *json_attention(const wt_train_measure *measure) {
    if (measure->heads == 0)
        return json_null();
    const double *best = measure->attention + measure->positions;
    size_t looks[SHOWN], count = most_looked_at(measure, best, looks);
    return cli_json("mass:r best_mass:r best_head:u mean:o best:o best_positions:o", measure->mass,
                    measure->best_mass, measure->best_head,
                    cli_json_reals(measure->positions, measure->attention),
                    cli_json_reals(measure->positions, best), cli_json_counts(count, looks));
}

wt_status cli_train_emit(cli_call *call, const cli_trial *trial) {
    const wt_train_result *result = &trial->result;
    const wt_train_measure *measure = &trial->measure;
    const wt_train_spec *setting = trial->setting;
    const wt_sparse_task *task = wt_trainer_task(trial->trainer);
    double probability = task == NULL ? NAN : wt_sparse_task_probability(task);
    return cli_emit(
        call,
        "task:s model:s length:u samples:u online:u seed:u relevant:o success:b runs:u "
        "success_step:u mark_step:u leave_step:u low_step:u steps:u best_accuracy:r loss:r "
        "batch_accuracy:r redrawn:u probability:r label_probability:r train_loss:r "
        "train_accuracy:r test_loss:r test_accuracy:r gap:r gap_low:r gap_high:r seconds:r "
        "output:s attention:o norms:o history:o",
        task == NULL ? NULL : setting->task, setting->model, setting->length,
        setting->online > 0 ? 0 : setting->samples, setting->online, setting->seed,
        task == NULL ? json_null()
                     : cli_json_counts(wt_boolean_bits(wt_sparse_task_function(task)),
                                       wt_sparse_task_relevant(task)),
        result->success, result->runs, result->success_step, result->mark_step, result->leave_step,
        result->low_step, result->steps, result->best_accuracy, result->loss,
        result->train_accuracy, result->redrawn, probability,
        task == NULL ? NAN : wt_boolean_mean(wt_sparse_task_function(task), probability),
        measure->train_loss, measure->train_accuracy, measure->test_loss, measure->test_accuracy,
        measure->gap, measure->gap_low, measure->gap_high, result->seconds, trial->output,
        json_attention(measure), json_norms(measure), json_history(trial->trainer));
}
