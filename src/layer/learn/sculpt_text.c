/* Reports in words and as JSON, from one table each: a name, what it is, a number. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "wattle/sculpt.h"

/* A buffer that is written as far as it goes, and counted further. */
typedef struct {
    char *buffer;
    size_t bytes, length;
} sheet;

__attribute__((format(printf, 2, 3))) static void put(sheet *to, const char *format, ...) {
    va_list values;
    size_t left = to->length < to->bytes ? to->bytes - to->length : 0;
    va_start(values, format);
    int more = vsnprintf(left > 0 ? to->buffer + to->length : NULL, left, format, values);
    va_end(values);
    if (more > 0)
        to->length += (size_t)more;
}

/* , "name": value; JSON has no NaN and no infinity. */
static void put_member(sheet *to, const char *name, double value) {
    put(to, "%s\"%s\": ", to->length > 1 ? ", " : "", name);
    if (isfinite(value))
        put(to, "%.17g", value);
    else
        put(to, "null");
}

static const char *const stages[] = {"none", "crude", "patterns", "span", "net"};

/* What a caller's report has, as a whole one. */
static wt_sculpt_report whole_report(const wt_sculpt_report *given) {
    wt_sculpt_report report = WT_SIZED(wt_sculpt_report);
    wt_sized_write(&report, given, given->size);
    return report;
}

static wt_certificate_result whole_result(const wt_certificate_result *given) {
    wt_certificate_result result = WT_SIZED(wt_certificate_result);
    wt_sized_write(&result, given, given->size);
    return result;
}

size_t wt_sculpt_json(const wt_sculpt_report *given, char *buffer, size_t bytes) {
    const wt_sculpt_report full = whole_report(given), *report = &full;
    sheet to = {.buffer = buffer, .bytes = bytes};
    const struct {
        const char *name;
        double value;
    } members[] = {
        {"crude_explained", report->crude_explained},
        {"crude_error", report->crude_error},
        {"rows", (double)report->rows},
        {"accepted_rows", (double)report->accepted},
        {"rounds", (double)report->rounds},
        {"median_residual", report->median_residual},
        {"largest_residual", report->largest_residual},
        {"sum_error", report->sum_error},
        {"slabs", (double)report->slabs},
        {"median_eigenvalue", report->median_value},
        {"heads", (double)report->heads},
        {"eigen_gap", report->gap},
        {"hull_error", report->hull_error},
        {"net_points", (double)report->net_points},
        {"net_tuples", (double)report->tuples},
        {"start_error", report->start_error},
        {"seconds", report->seconds},
        {"flops", report->flops},
    };
    put(&to, "{\"stage\": \"%s\"",
        (size_t)report->stage < sizeof stages / sizeof *stages ? stages[report->stage] : "?");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        put_member(&to, members[i].name, members[i].value);
    put(&to, ", \"eigenvalues\": [");
    for (size_t i = 0; i < report->value_count; i++)
        put(&to, "%s%.17g", i > 0 ? ", " : "", report->values[i]);
    put(&to, "]}");
    return to.length;
}

/* ", off by 3.2%" where the truth is known. */
static void put_error(sheet *to, double error) {
    if (!isnan(error))
        put(to, ", off by %.3g%%", 100 * error);
    put(to, "\n");
}

static void put_span(sheet *to, const wt_sculpt_report *report) {
    put(to, "span         %zu slabs, eigenvalues", report->slabs);
    for (size_t i = 0; i < report->value_count; i++)
        put(to, " %.3g", report->values[i]);
    put(to, ", median %.3g\n", report->median_value);
    if (report->heads == 1)
        put(to, "heads        1: one pattern explains every row\n");
    else if (report->heads > 1)
        put(to, "heads        %zu by an eigen-gap of %.3g\n", report->heads, report->gap);
    else
        put(to, "heads        no eigen-gap (the largest is %.3g)\n", report->gap);
}

size_t wt_sculpt_text(const wt_sculpt_report *given, char *buffer, size_t bytes) {
    const wt_sculpt_report full = whole_report(given), *report = &full;
    sheet to = {.buffer = buffer, .bytes = bytes};
    if (bytes > 0)
        buffer[0] = '\0';
    if (report->stage >= WT_SCULPT_STAGE_CRUDE) {
        put(&to, "crude sum    explains %.3g of the summed outputs", report->crude_explained);
        put_error(&to, report->crude_error);
    }
    if (report->stage >= WT_SCULPT_STAGE_PATTERNS) {
        put(&to, "sum of W     refitted in %zu rounds, median residual %.3g", report->rounds,
            report->median_residual);
        put_error(&to, report->sum_error);
    }
    if (report->slabs > 0)
        put(&to, "accepted     %zu of %zu rows, residuals up to %.3g\n", report->accepted,
            report->rows, report->largest_residual);
    if (report->value_count > 0)
        put_span(&to, report);
    if (report->stage >= WT_SCULPT_STAGE_SPAN && !isnan(report->hull_error))
        put(&to, "hull         true heads within %.3g%% of it\n", 100 * report->hull_error);
    if (report->stage >= WT_SCULPT_STAGE_NET)
        put(&to, "net          %zu tuples of %zu points, error of the best on held-out rows %.3g\n",
            report->tuples, report->net_points, report->start_error);
    return to.length;
}

size_t wt_certificate_json(const wt_certificate_result *given, char *buffer, size_t bytes) {
    const wt_certificate_result full = whole_result(given), *result = &full;
    sheet to = {.buffer = buffer, .bytes = bytes};
    put(&to, "{");
    put_member(&to, "rows", (double)result->rows);
    put_member(&to, "slabs", (double)result->slabs);
    put_member(&to, "eta", result->eta);
    put_member(&to, "directions", (double)result->directions);
    put_member(&to, "theta_norm", result->theta_size);
    put_member(&to, "median_half_width", result->median);
    put_member(&to, "largest_half_width", result->largest);
    put_member(&to, "largest_half_width_by_clp", NAN); /* tests compare with CLP, once for all */
    put_member(&to, "frobenius_factor", result->frobenius_factor);
    if (result->teacher_heads > 0) {
        put_member(&to, "teacher_heads", (double)result->teacher_heads);
        put_member(&to, "teacher_inside", (double)result->teacher_inside);
    }
    put_member(&to, "seconds", result->seconds);
    put(&to, "}");
    return to.length;
}

size_t wt_certificate_text(const wt_certificate_result *given, char *buffer, size_t bytes) {
    const wt_certificate_result full = whole_result(given), *result = &full;
    sheet to = {.buffer = buffer, .bytes = bytes};
    put(&to, "certificate  eta %.3g over %zu slabs of %zu rows\n", result->eta, result->slabs,
        result->rows);
    put(&to,
        "half-width   median %.3g%%, largest %.3g%% of |Theta| over %zu directions orthogonal to "
        "the heads\n",
        100 * result->median, 100 * result->largest, result->directions);
    put(&to,
        "             per direction: over a basis up to %.3g times as wide in Frobenius norm\n",
        result->frobenius_factor);
    if (result->teacher_heads > 0)
        put(&to, "teacher      %zu of %zu heads are in the body\n", result->teacher_inside,
            result->teacher_heads);
    return to.length;
}
