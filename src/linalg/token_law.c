#include "linalg/token_law.h"

#include <math.h>
#include <string.h>

#include "base/context.h"

const char *const wt_law_words[] = {
    [WT_LAW_SPHERE] = "sphere", [WT_LAW_GAUSSIAN] = "gaussian", [WT_LAW_BOOLEAN] = "boolean", NULL};
enum { LAWS = sizeof wt_law_words / sizeof *wt_law_words - 1 };

wt_status wt_law_parse(wt_context *context, const char *word, wt_law *out) {
    for (size_t i = 0; i < LAWS; i++)
        if (strcmp(word, wt_law_words[i]) == 0) {
            *out = (wt_law)i;
            return WT_OK;
        }
    return wt_fail(context, WT_USAGE, "'%s' is no law of tokens: sphere, gaussian or boolean",
                   word);
}

const char *wt_law_name(wt_law law) {
    return (size_t)law < LAWS ? wt_law_words[law] : "?";
}

wt_status wt_law_check(wt_context *context, wt_law law) {
    return wt_check_choice(context, "law of tokens", (int)law, LAWS);
}

double wt_law_set_scale(wt_law law, size_t dim) {
    return law == WT_LAW_SPHERE ? 1 : 1 / sqrt((double)dim);
}

void wt_tokens_draw(wt_law law, double scale, wt_stream stream, uint64_t first, size_t count,
                    size_t dim, double *out) {
    if (law == WT_LAW_SPHERE)
        wt_random_sphere(stream, first, count, dim, out);
    else if (law == WT_LAW_GAUSSIAN)
        wt_random_normal(stream, first * dim, count * dim, out);
    else
        wt_random_sign(stream, first * dim, count * dim, out);
    if (scale != 1)
        for (size_t i = 0; i < count * dim; i++)
            out[i] *= scale;
}
