#include <math.h>
#include <stdio.h>

#include "threshold_show.h"

enum { NEAREST = 3 }; /* m of a length whose rates are told; --json has all */

/* "63.2 (58.1, 70.4)"; ends that the trials did not reach are "?". */
static const char *spell(wt_interval value, char out[64]) {
    char ends[2][24];
    const double end[2] = {value.low, value.high};
    for (int i = 0; i < 2; i++)
        if (isfinite(end[i]))
            snprintf(ends[i], sizeof ends[i], "%.4g", end[i]);
        else
            snprintf(ends[i], sizeof ends[i], "?");
    if (isfinite(value.value))
        snprintf(out, 64, "%.4g (%s, %s)", value.value, ends[0], ends[1]);
    else
        snprintf(out, 64, "-");
    return out;
}

/* Whether the fitted m, by the trials of all m, lies where by the rule of the grid none is. */
static bool is_apart(const wt_threshold_point *point) {
    double fitted = point->fitted.value;
    return isfinite(fitted) &&
           (point->censoring == WT_CENSORING_ABOVE ||
            (point->censoring == WT_CENSORING_BELOW && fitted > (double)point->critical));
}

static const char *spell_critical(const wt_threshold_point *point, char out[64]) {
    if (point->cells == 0)
        snprintf(out, 64, "not tried");
    else if (point->censoring == WT_CENSORING_ABOVE)
        snprintf(out, 64, is_apart(point) ? "none to %zu" : "above %zu", point->largest);
    else if (point->censoring == WT_CENSORING_BELOW)
        snprintf(out, 64, "at most %zu", point->critical);
    else
        snprintf(out, 64, "%zu", point->critical);
    return out;
}

/* A fit says nothing of the lengths that have no fitted m: which these are. */
static void print_basis(const wt_threshold_summary *summary) {
    size_t left = summary->point_count - summary->fitted_points;
    cli_print("fits through the fitted m of %zu of %zu lengths%s", summary->fitted_points,
              summary->point_count, left > 0 ? "; left out, without one: T = " : "");
    for (size_t i = 0; i < summary->point_count; i++)
        if (!isfinite(summary->points[i].fitted.value))
            cli_print("%zu%s", summary->points[i].length, --left > 0 ? ", " : "");
    printf("\n");
}

static void print_points(const wt_threshold_summary *summary) {
    char critical[64], fitted[64];
    bool apart = false;
    cli_print("%8s  %-12s  %-26s  %s\n", "T", "critical m", "fitted m (95% interval)",
              "m: successes/trials");
    for (size_t i = 0; i < summary->point_count; i++) {
        const wt_threshold_point *point = &summary->points[i];
        cli_print("%8zu  %-12s  %-26s ", point->length, spell_critical(point, critical),
                  spell(point->fitted, fitted));
        for (size_t c = 0; c < point->cells; c++) {
            const wt_threshold_cell *cell = &summary->cells[point->first_cell + c];
            cli_print(" %zu: %zu/%zu%s", cell->samples, cell->successes, cell->trials,
                      c + 1 < point->cells ? "," : "");
        }
        printf("\n");
        apart = apart || is_apart(point);
    }
    if (apart)
        printf("critical m: it and every larger m tried meet the rate; fitted m: where the rate "
               "crosses by the trials of all m\ntogether. More trials, or larger m, bring the two "
               "together.\n");
}

/* The first of the NEAREST cells of a point whose m are nearest to the critical one, or to the
 * largest m tried where none is critical; *count of them. */
static const wt_threshold_cell *nearest_cells(const wt_threshold_summary *summary,
                                              const wt_threshold_point *point, size_t *count) {
    const wt_threshold_cell *cells = &summary->cells[point->first_cell];
    size_t centre = point->critical > 0 ? point->critical : point->largest, first = 0;
    size_t last = point->cells; /* cells first .. last-1: the farther end goes */
    while (last - first > NEAREST)
        if (centre - cells[first].samples >= cells[last - 1].samples - centre)
            first++;
        else
            last--;
    *count = last - first;
    return cells + first;
}

static void print_rates(const wt_threshold_summary *summary) {
    cli_print("\n%8s  %8s  %-16s  %s\n", "T", "m", "successes/trials", "rate (95% interval)");
    for (size_t i = 0; i < summary->point_count; i++) {
        size_t count;
        const wt_threshold_cell *cell = nearest_cells(summary, &summary->points[i], &count);
        for (; count > 0; count--, cell++) {
            char trials[48];
            snprintf(trials, sizeof trials, "%zu/%zu", cell->successes, cell->trials);
            cli_print("%8zu  %8zu  %-16s  %.3f (%.3f, %.3f)\n", cell->length, cell->samples, trials,
                      cell->rate.value, cell->rate.low, cell->rate.high);
        }
    }
}

static void print_fits(const wt_threshold_summary *summary) {
    char slope[64], exponent[3][WT_EXPONENT_TEXT];
    if (summary->fitted_points < 3) {
        printf("\nno fit in T: %zu of %zu lengths have a fitted m\n", summary->fitted_points,
               summary->point_count);
        return;
    }
    cli_print("\n%-9s  %-30s  %9s  %7s  %8s  %8s\n", "m = a + b", "b (95% interval)", "a", "R^2",
              "AIC", "BIC");
    for (size_t g = 0; g < WT_THRESHOLD_GROWTHS; g++) {
        const wt_affine_fit *fit = &summary->fits[g].fit;
        cli_print("%-9s  %-30s  %9.4g  %7.4f  %8.2f  %8.2f\n",
                  wt_growth_name(summary->fits[g].growth), spell(fit->slope, slope),
                  fit->intercept.value, fit->r_squared, fit->aic, fit->bic);
    }
    print_basis(summary);
    cli_print("best exponent of T (0 is log): %s (%s, %s); by %zu lengths\n",
              wt_exponent_format(summary->exponent.value, exponent[0]),
              wt_exponent_format(summary->exponent.low, exponent[1]),
              wt_exponent_format(summary->exponent.high, exponent[2]), summary->point_count);
}

void cli_threshold_print(const wt_threshold_summary *summary) {
    print_points(summary);
    print_rates(summary);
    print_fits(summary);
}

static json_t *json_interval(wt_interval value) {
    return cli_json("value:r low:r high:r", value.value, value.low, value.high);
}

static json_t *json_cells(const wt_threshold_summary *summary, const wt_threshold_point *point) {
    json_t *list = json_array();
    for (size_t i = 0; i < point->cells; i++) {
        const wt_threshold_cell *cell = &summary->cells[point->first_cell + i];
        cli_json_add(list, cli_json("samples:u successes:u trials:u rate:o", cell->samples,
                                    cell->successes, cell->trials, json_interval(cell->rate)));
    }
    return list;
}

static json_t *json_points(const wt_threshold_summary *summary) {
    static const char *const words[] = {
        [WT_CENSORING_NO] = "no", [WT_CENSORING_BELOW] = "below", [WT_CENSORING_ABOVE] = "above"};
    json_t *list = json_array();
    for (size_t i = 0; i < summary->point_count; i++) {
        const wt_threshold_point *point = &summary->points[i];
        cli_json_add(
            list,
            cli_json("length:u censored:s critical:o fitted:o cells:o", point->length,
                     words[point->censoring],
                     point->critical == 0 ? json_null() : json_integer((json_int_t)point->critical),
                     json_interval(point->fitted), json_cells(summary, point)));
    }
    return list;
}

static json_t *json_fits(const wt_threshold_summary *summary) {
    json_t *list = json_array();
    for (size_t g = 0; summary->fitted_points >= 3 && g < WT_THRESHOLD_GROWTHS; g++) {
        const wt_affine_fit *fit = &summary->fits[g].fit;
        cli_json_add(
            list, cli_json("growth:s lengths:u left_out:u slope:o intercept:o r_squared:r aic:r "
                           "bic:r",
                           wt_growth_name(summary->fits[g].growth), summary->fitted_points,
                           summary->point_count - summary->fitted_points, json_interval(fit->slope),
                           json_interval(fit->intercept), fit->r_squared, fit->aic, fit->bic));
    }
    return list;
}

wt_status cli_threshold_emit(cli_call *call, const wt_threshold_spec *setting, size_t trials,
                             const wt_threshold_summary *summary) {
    return cli_emit(call,
                    "task:s model:s low:u high:u resolution:u trials:u restarts:u rate:r seed:u "
                    "trials_run:u lengths:o fits:o exponent:o",
                    setting->train->task, setting->train->model, setting->low, setting->high,
                    setting->resolution, setting->trials, setting->train->restarts, setting->rate,
                    setting->seed, trials, json_points(summary), json_fits(summary),
                    json_interval(summary->exponent));
}
