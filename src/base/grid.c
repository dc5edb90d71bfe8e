#include "wattle/text.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* A last value that rounding puts a hair above the end still belongs to the grid. */
#define END_SLACK 1e-9

enum { ITEM_BYTES = 128 };

typedef struct {
    double first, last, step;
    bool geometric;
} progression;

static wt_status refuse(wt_context *context, const char *text, const char *why) {
    return wt_fail(context, WT_USAGE, "'%s' is no grid: %s (write 16:4096:x2, 100:800:50 or 1,2,4)",
                   text, why);
}

static wt_status parse_item(wt_context *context, const char *text, char *item, progression *out) {
    char *middle = strchr(item, ':');
    if (middle == NULL) {
        if (!wt_real_parse(item, &out->first))
            return refuse(context, text, "a value is not a number that fits a double");
        *out = (progression){.first = out->first, .last = out->first, .step = 1};
        return WT_OK;
    }
    *middle++ = '\0';
    char *step = strchr(middle, ':');
    if (step == NULL)
        return refuse(context, text, "a step is missing after lo:hi");
    *step++ = '\0';
    out->geometric = *step == 'x';
    if (!wt_real_parse(item, &out->first) || !wt_real_parse(middle, &out->last) ||
        !wt_real_parse(step + out->geometric, &out->step))
        return refuse(context, text, "lo, hi and step must be numbers that fit a double");
    if (out->first > out->last)
        return refuse(context, text, "lo is above hi");
    if (out->geometric && (out->first <= 0 || out->step <= 1))
        return refuse(context, text, "a geometric grid needs lo > 0 and a factor above 1");
    if (!out->geometric && out->step <= 0)
        return refuse(context, text, "the step must be above 0");
    return WT_OK;
}

static size_t item_count(const progression *item) {
    double steps = item->geometric ? log(item->last / item->first) / log(item->step)
                                   : (item->last - item->first) / item->step;
    return steps >= WT_GRID_MAX_COUNT ? WT_GRID_MAX_COUNT + 1
                                      : (size_t)floor(steps + END_SLACK) + 1;
}

static double item_value(const progression *item, size_t i) {
    return item->geometric ? item->first * pow(item->step, (double)i)
                           : item->first + item->step * (double)i;
}

/* Walks the items; appends values when `values` is given and counts them in any case. */
static wt_status walk(wt_context *context, const char *text, double *values, size_t *count) {
    *count = 0;
    for (const char *at = text;;) {
        size_t length = strcspn(at, ",");
        char item[ITEM_BYTES];
        if (length >= sizeof item)
            return refuse(context, text, "a value is too long");
        memcpy(item, at, length);
        item[length] = '\0';
        progression steps = {0};
        WT_PASS(parse_item(context, text, item, &steps));
        size_t more = item_count(&steps);
        if (*count + more > WT_GRID_MAX_COUNT)
            return refuse(context, text, "more than a million values");
        for (size_t i = 0; values != NULL && i < more; i++)
            values[*count + i] = item_value(&steps, i);
        *count += more;
        if (at[length] == '\0')
            return WT_OK;
        at += length + 1;
    }
}

wt_status wt_grid_parse(wt_context *context, const char *text, wt_grid *out) {
    *out = (wt_grid){0};
    size_t count;
    wt_status status = walk(context, text, NULL, &count);
    if (status == WT_OK)
        status = WT_NEW(context, &out->values, count, "grid");
    if (status == WT_OK)
        status = walk(context, text, out->values, &out->count);
    return status;
}

wt_status wt_grid_parse_integers(wt_context *context, const char *text, wt_grid *out) {
    wt_status status = wt_grid_parse(context, text, out);
    for (size_t i = 0; status == WT_OK && i < out->count; i++) {
        double rounded = round(out->values[i]);
        if (fabs(rounded) >= (double)WT_GRID_WHOLE)
            status = refuse(context, text, "a value is not below 2^53, and would be rounded");
        else if (fabs(out->values[i] - rounded) > END_SLACK * fmax(1, fabs(rounded)))
            status = refuse(context, text, "a value is not an integer");
        out->values[i] = rounded;
    }
    if (status != WT_OK)
        wt_grid_free(out);
    return status;
}

void wt_grid_free(wt_grid *grid) {
    if (grid == NULL)
        return;
    wt_release(grid->values);
    *grid = (wt_grid){0};
}

wt_status wt_range_parse(wt_context *context, const char *text, double *lo, double *hi) {
    char item[ITEM_BYTES];
    const char *middle = strchr(text, ':');
    if (middle == NULL || strlen(text) >= sizeof item)
        return wt_fail(context, WT_USAGE, "'%s' is no range: write lo:hi", text);
    size_t length = (size_t)(middle - text);
    memcpy(item, text, length);
    item[length] = '\0';
    if (!wt_real_parse(item, lo) || !wt_real_parse(middle + 1, hi) || *lo > *hi)
        return wt_fail(context, WT_USAGE, "'%s' is no range: write lo:hi with lo <= hi", text);
    return WT_OK;
}
