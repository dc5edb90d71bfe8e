#include "curve_show.h"

#include <math.h>
#include <stdio.h>

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

static void print_line(const wt_curves *curves, size_t i) {
    const wt_curve_line *line = wt_curves_line_at(curves, i);
    const wt_curve_summary *at;
    char name[WT_CURVE_NAME], errors[64], ratios[64], rates[64];
    for (size_t s = 0; (at = wt_curves_summary_at(curves, i, s)) != NULL; s++)
        cli_print("%-18s %-14s %7zu  %-28s %-26s %s\n", wt_curves_name(curves, line, 0, name),
                  line->target, at->n, spell(at->error, errors), spell(at->over_first, ratios),
                  s + 1 == wt_curves_size_count(curves) ? spell(line->rate, rates) : "");
}

wt_status curve_print(const wt_curves *curves) {
    char heading[64];
    snprintf(heading, sizeof heading, "over %s, paired", wt_curves_line_at(curves, 0)->model);
    cli_print("%-18s %-14s %7s  %-28s %-26s %s\n", "model", "target", "n",
              "test error (95% interval)", heading, "exponent of n");
    for (size_t i = 0; i < wt_curves_count(curves); i++)
        print_line(curves, i);
    return WT_OK;
}

static json_t *json_interval(wt_interval value) {
    return cli_json("mean:r low:r high:r", value.value, value.low, value.high);
}

static json_t *json_point(size_t rep, const wt_curve_point *point) {
    return cli_json("rep:u n:u lambda:r train_error:r loo_error:r test_error:r lambda_at_end:b",
                    rep, point->n, point->lambda, point->train_error, point->loo_error,
                    point->test_error, point->lambda_at_end);
}

static json_t *json_line(const wt_curves *curves, size_t i) {
    const wt_curve_line *line = wt_curves_line_at(curves, i);
    const wt_curve_summary *at;
    const wt_curve_point *point;
    json_t *points = json_array(), *summary = json_array();
    for (size_t r = 0; r < wt_curves_reps(curves); r++)
        for (size_t s = 0; (point = wt_curves_point_at(curves, i, r, s)) != NULL; s++)
            cli_json_add(points, json_point(r, point));
    for (size_t s = 0; (at = wt_curves_summary_at(curves, i, s)) != NULL; s++) {
        json_t *one = json_interval(at->error);
        json_object_update_new(one,
                               cli_json("n:u over_first:o", at->n, json_interval(at->over_first)));
        cli_json_add(summary, one);
    }
    return cli_json("model:s target:s activation:s dim:u keys:u heads:u bias:r rate:o summary:o "
                    "points:o",
                    line->model, line->target, line->activation, line->dim, line->keys, line->heads,
                    line->bias, json_interval(line->rate), summary, points);
}

wt_status curve_emit_json(cli_call *call, const wt_curves *curves,
                          const wt_curve_options *options) {
    json_t *lines = json_array();
    char lambda[WT_FIELD_TEXT];
    size_t count;
    const wt_field *fields = wt_curve_fields(&count);
    for (size_t i = 0; i < wt_curves_count(curves); i++)
        cli_json_add(lines, json_line(curves, i));
    return cli_emit(call, "tokens:s lambda:s seed:u reps:u curves:o",
                    options->data != NULL ? "" : wt_law_name(options->law),
                    wt_field_print(wt_field_find(fields, count, "lambda"), options->lambda, lambda),
                    options->seed, options->reps, lines);
}
