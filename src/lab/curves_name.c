/* What learning curves are called. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "wattle/curve.h"

/* Whether a size of the model varies over the curves. */
static bool varies(const wt_curves *curves, const wt_curve_line *line, size_t offset) {
    const char *here = (const char *)line + offset;
    const wt_curve_line *other;
    for (size_t i = 0; (other = wt_curves_line_at(curves, i)) != NULL; i++)
        if (strcmp(other->model, line->model) == 0 &&
            memcmp((const char *)other + offset, here, sizeof(size_t)) != 0)
            return true;
    return false;
}

const char *wt_curves_name(const wt_curves *curves, const wt_curve_line *line, char apart,
                           char *out) {
    size_t at = (size_t)snprintf(out, WT_CURVE_NAME, "%s", line->model);
    static const struct {
        const char *letter;
        size_t offset;
    } sizes[] = {{"d", offsetof(wt_curve_line, dim)},
                 {"N", offsetof(wt_curve_line, keys)},
                 {"M", offsetof(wt_curve_line, heads)}};
    for (size_t i = 0; i < 3; i++)
        if (*sizes[i].letter != apart && varies(curves, line, sizes[i].offset))
            at += (size_t)snprintf(
                out + at, WT_CURVE_NAME - at, " %s=%zu", sizes[i].letter,
                *(const size_t *)(const void *)((const char *)line + sizes[i].offset));
    for (size_t i = 0; i < wt_curves_count(curves); i++) {
        double other = wt_curves_line_at(curves, i)->bias;
        if (other != line->bias && !isnan(line->bias) && !isnan(other)) {
            at += (size_t)snprintf(out + at, WT_CURVE_NAME - at, " c=%g", line->bias);
            break;
        }
    }
    if (strcmp(line->activation, "softmax") == 0)
        snprintf(out + at, WT_CURVE_NAME - at, " softmax");
    return out;
}
