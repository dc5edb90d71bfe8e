#include <math.h>
#include <stdio.h>
#include <string.h>

#include "curve.h"
#include "wattle/memory.h"
#include "wattle/output.h"

wt_status curve_summary(wt_context *context, const curve_table *table, const curve_line *line,
                        size_t s, wt_interval *out) {
    double *errors = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &errors, table->reps, "errors"));
    for (size_t r = 0; r < table->reps; r++)
        errors[r] = line->points[r * table->size_count + s].test_error;
    *out = wt_mean_interval(errors, table->reps);
done:
    wt_release(errors);
    return status;
}

wt_status curve_rate(wt_context *context, const curve_table *table, const curve_line *line,
                     wt_interval *out) {
    double *slopes = NULL, *x = NULL, *y = NULL;
    size_t count = table->size_count;
    wt_status status;
    WT_TRY(WT_NEW(context, &slopes, table->reps, "slopes"));
    WT_TRY(WT_NEW(context, &x, count, "slopes"));
    WT_TRY(WT_NEW(context, &y, count, "slopes"));
    for (size_t r = 0; r < table->reps; r++) {
        for (size_t s = 0; s < count; s++) {
            x[s] = (double)table->sizes[s];
            y[s] = line->points[r * count + s].test_error;
        }
        slopes[r] = wt_log_slope(x, y, count);
    }
    *out = wt_mean_interval(slopes, table->reps);
done:
    wt_release(slopes);
    wt_release(x);
    wt_release(y);
    return status;
}

/* The line of the first model on the same draws, with as many heads where both have any. */
static const curve_line *first_model(const curve_table *table, const curve_line *line) {
    for (size_t i = 0; i < table->line_count; i++) {
        const curve_line *other = &table->lines[i];
        if (strcmp(other->model, table->lines[0].model) == 0 &&
            strcmp(other->target, line->target) == 0 && other->dim == line->dim &&
            other->keys == line->keys &&
            (other->heads == line->heads || other->heads == 0 || line->heads == 0))
            return other;
    }
    return line;
}

wt_status curve_ratio(wt_context *context, const curve_table *table, const curve_line *line,
                      size_t s, wt_interval *out) {
    const curve_line *first = first_model(table, line);
    double *logs = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &logs, table->reps, "ratios"));
    for (size_t r = 0; r < table->reps; r++)
        logs[r] = log(line->points[r * table->size_count + s].test_error /
                      first->points[r * table->size_count + s].test_error);
    *out = wt_mean_interval(logs, table->reps);
    *out = first == line ? (wt_interval){NAN, NAN, NAN}
                         : (wt_interval){exp(out->value), exp(out->low), exp(out->high)};
done:
    wt_release(logs);
    return status;
}

/* Whether a size of the model varies over the table. */
static bool varies(const curve_table *table, const curve_line *line, size_t offset) {
    const char *here = (const char *)line + offset;
    for (size_t i = 0; i < table->line_count; i++) {
        const curve_line *other = &table->lines[i];
        if (strcmp(other->model, line->model) == 0 &&
            memcmp((const char *)other + offset, here, sizeof(size_t)) != 0)
            return true;
    }
    return false;
}

const char *curve_name(const curve_table *table, const curve_line *line, char apart, char *out) {
    size_t at = (size_t)snprintf(out, CURVE_NAME, "%s", line->model);
    static const struct {
        const char *letter;
        size_t offset;
    } sizes[] = {{"d", offsetof(curve_line, dim)},
                 {"N", offsetof(curve_line, keys)},
                 {"M", offsetof(curve_line, heads)}};
    for (size_t i = 0; i < 3; i++)
        if (*sizes[i].letter != apart && varies(table, line, sizes[i].offset))
            at += (size_t)snprintf(
                out + at, CURVE_NAME - at, " %s=%zu", sizes[i].letter,
                *(const size_t *)(const void *)((const char *)line + sizes[i].offset));
    for (size_t i = 0; i < table->line_count; i++)
        if (table->lines[i].bias != line->bias && !isnan(line->bias) &&
            !isnan(table->lines[i].bias)) {
            at += (size_t)snprintf(out + at, CURVE_NAME - at, " c=%g", line->bias);
            break;
        }
    if (strcmp(line->activation, "softmax") == 0)
        snprintf(out + at, CURVE_NAME - at, " softmax");
    return out;
}

/* A number, or nothing where it was not computed. */
static void csv_real(wt_output *out, double value, const char *end) {
    if (isfinite(value))
        wt_output_print(out, "%.17g%s", value, end);
    else
        wt_output_print(out, "%s", end);
}

static void csv_row(wt_output *out, const curve_table *table, const curve_line *line, size_t rep,
                    const wt_curve_point *point) {
    wt_output_print(out, "%s,%s,%s,%s,%zu,%zu,%zu,", line->model, line->target, table->tokens,
                    line->activation, line->dim, line->keys, line->heads);
    csv_real(out, line->bias, ",");
    wt_output_print(out, "%llu,%zu,%zu,", (unsigned long long)table->seed, rep, point->n);
    csv_real(out, point->lambda, ",");
    csv_real(out, point->train_error, ",");
    csv_real(out, point->loo_error, ",");
    csv_real(out, point->test_error, ",");
    wt_output_print(out, "%d\n", point->lambda_at_end);
}

wt_status curve_write_csv(cli_call *call, const curve_table *table, const char *path) {
    wt_output *out = NULL;
    wt_status status;
    WT_TRY(wt_output_open(call->context, path, &out));
    wt_output_print(out, "model,target,tokens,activation,dim,keys,heads,bias,seed,rep,n,lambda,"
                         "train_error,loo_error,test_error,lambda_at_end\n");
    for (size_t i = 0; i < table->line_count; i++) {
        const wt_curve_point *points = table->lines[i].points;
        for (size_t p = 0; points != NULL && p < table->reps * table->size_count; p++)
            if (points[p].n > 0) /* an interrupted table has gaps */
                csv_row(out, table, &table->lines[i], p / table->size_count, &points[p]);
    }
    WT_TRY(wt_output_commit(out));
done:
    wt_output_free(out);
    return status;
}

/* "0.31 (0.28, 0.34)", without the interval where there is none, or nothing. */
static const char *spell(wt_interval value, char out[64]) {
    if (isnan(value.value))
        out[0] = '\0';
    else if (isnan(value.low))
        snprintf(out, 64, "%.4g", value.value);
    else
        snprintf(out, 64, "%.4g (%.4g, %.4g)", value.value, value.low, value.high);
    return out;
}

static wt_status print_line(cli_call *call, const curve_table *table, const curve_line *line) {
    wt_interval rate, error, ratio;
    char name[CURVE_NAME], errors[64], ratios[64], rates[64];
    wt_status status;
    WT_TRY(curve_rate(call->context, table, line, &rate));
    for (size_t s = 0; s < table->size_count; s++) {
        WT_TRY(curve_summary(call->context, table, line, s, &error));
        WT_TRY(curve_ratio(call->context, table, line, s, &ratio));
        bool last = s + 1 == table->size_count;
        cli_print("%-18s %-14s %7zu  %-28s %-26s %s\n", curve_name(table, line, 0, name),
                  line->target, table->sizes[s], spell(error, errors), spell(ratio, ratios),
                  last ? spell(rate, rates) : "");
    }
done:
    return status;
}

wt_status curve_print(cli_call *call, const curve_table *table) {
    char heading[64];
    wt_status status = WT_OK;
    snprintf(heading, sizeof heading, "over %s, paired", table->lines[0].model);
    cli_print("%-18s %-14s %7s  %-28s %-26s %s\n", "model", "target", "n",
              "test error (95% interval)", heading, "exponent of n");
    for (size_t i = 0; i < table->line_count; i++)
        WT_TRY(print_line(call, table, &table->lines[i]));
done:
    return status;
}

static json_t *json_interval(wt_interval value) {
    return json_pack("{s:o, s:o, s:o}", "mean", cli_json_real(value.value), "low",
                     cli_json_real(value.low), "high", cli_json_real(value.high));
}

static json_t *json_point(size_t rep, const wt_curve_point *point) {
    return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:b}", "rep", (json_int_t)rep, "n",
                     (json_int_t)point->n, "lambda", cli_json_real(point->lambda), "train_error",
                     cli_json_real(point->train_error), "loo_error",
                     cli_json_real(point->loo_error), "test_error",
                     cli_json_real(point->test_error), "lambda_at_end", point->lambda_at_end);
}

static wt_status json_line(cli_call *call, const curve_table *table, const curve_line *line,
                           json_t *lines) {
    json_t *points = json_array(), *summary = json_array();
    wt_interval value;
    wt_status status;
    for (size_t p = 0; p < table->reps * table->size_count; p++)
        json_array_append_new(points, json_point(p / table->size_count, &line->points[p]));
    for (size_t s = 0; s < table->size_count; s++) {
        WT_TRY(curve_summary(call->context, table, line, s, &value));
        json_t *at = json_interval(value);
        json_array_append_new(summary, at);
        json_object_set_new(at, "n", json_integer((json_int_t)table->sizes[s]));
        WT_TRY(curve_ratio(call->context, table, line, s, &value));
        json_object_set_new(at, "over_first", json_interval(value));
    }
    WT_TRY(curve_rate(call->context, table, line, &value));
    json_array_append_new(
        lines, json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:O, s:O}", "model", line->model,
                         "target", line->target, "activation", line->activation, "dim",
                         (json_int_t)line->dim, "keys", (json_int_t)line->keys, "heads",
                         (json_int_t)line->heads, "bias", cli_json_real(line->bias), "rate",
                         json_interval(value), "summary", summary, "points", points));
done:
    json_decref(points);
    json_decref(summary);
    return status;
}

wt_status curve_emit_json(cli_call *call, const curve_table *table) {
    json_t *lines = json_array();
    wt_status status = WT_OK;
    for (size_t i = 0; i < table->line_count; i++)
        WT_TRY(json_line(call, table, &table->lines[i], lines));
    WT_TRY(cli_emit_json(call, json_pack("{s:s, s:s, s:I, s:I, s:O}", "tokens", table->tokens,
                                         "lambda", table->lambda, "seed", (json_int_t)table->seed,
                                         "reps", (json_int_t)table->reps, "curves", lines)));
done:
    json_decref(lines);
    return status;
}
