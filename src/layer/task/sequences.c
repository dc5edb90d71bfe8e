#include "layer/task/sequences.h"

#include <math.h>

#include "base/memory.h"
#include "wattle/io.h"

wt_status wt_sequences_new(wt_context *context, size_t samples, size_t length, size_t dim,
                           size_t outputs, wt_sequences **out) {
    wt_sequences *made = NULL;
    size_t tokens, numbers, labels;
    *out = NULL;
    if (!wt_multiply(samples, length, &tokens) || !wt_multiply(tokens, dim, &numbers) ||
        !wt_multiply(tokens, outputs, &labels))
        return wt_fail(context, WT_MEMORY,
                       "%zu sequences of %zu tokens in %zu dimensions with %zu outputs are too "
                       "many",
                       samples, length, dim, outputs);
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, &made, 1, "sequences"));
    *made = (wt_sequences){.samples = samples, .length = length, .dim = dim, .outputs = outputs};
    WT_TRY(WT_NEW(context, &made->x, numbers, "tokens"));
    if (outputs > 0)
        WT_TRY(WT_NEW(context, &made->y, labels, "outputs"));
    *out = made;
    made = NULL;
done:
    wt_sequences_free(made);
    return status;
}

void wt_sequences_free(wt_sequences *sequences) {
    if (sequences == NULL)
        return;
    if (!sequences->borrowed_x)
        wt_release(sequences->x);
    if (!sequences->borrowed_y)
        wt_release(sequences->y);
    wt_release(sequences->lengths);
    wt_release(sequences);
}

size_t wt_sequences_samples(const wt_sequences *sequences) {
    return sequences->samples;
}

size_t wt_sequences_length(const wt_sequences *sequences) {
    return sequences->length;
}

size_t wt_sequences_dim(const wt_sequences *sequences) {
    return sequences->dim;
}

size_t wt_sequences_outputs(const wt_sequences *sequences) {
    return sequences->outputs;
}

double *wt_sequences_x(const wt_sequences *sequences) {
    return sequences->x;
}

double *wt_sequences_y(const wt_sequences *sequences) {
    return sequences->y;
}

wt_sequences wt_sequences_part(const wt_sequences *sequences, size_t begin, size_t end) {
    wt_sequences part = *sequences;
    part.samples = end - begin;
    part.x = sequences->x + begin * sequences->length * sequences->dim;
    part.y =
        sequences->y == NULL ? NULL : sequences->y + begin * sequences->length * sequences->outputs;
    part.lengths = sequences->lengths == NULL ? NULL : sequences->lengths + begin;
    return part;
}

const size_t *wt_sequences_lengths(const wt_sequences *sequences) {
    return sequences->lengths;
}

wt_status wt_sequences_set_lengths(wt_context *context, wt_sequences *sequences,
                                   const size_t *lengths) {
    size_t n = sequences->samples, *copy = NULL;
    if (lengths != NULL)
        WT_PASS(WT_NEW(context, &copy, n, "lengths of sequences"));
    for (size_t s = 0; lengths != NULL && s < n; s++) {
        copy[s] = lengths[s];
        if (lengths[s] > 0 && lengths[s] <= sequences->length)
            continue;
        wt_release(copy);
        return wt_fail(context, WT_DATA, "sequence %zu has length %zu of 1 to %zu", s, lengths[s],
                       sequences->length);
    }
    wt_release(sequences->lengths);
    sequences->lengths = copy;
    return WT_OK;
}

wt_status wt_sequences_set_missing(wt_context *context, wt_sequences *sequences) {
    size_t p = sequences->outputs, known = 0;
    if (sequences->y == NULL)
        return wt_fail(context, WT_DATA, "there are no outputs y of which some may be missing");
    sequences->partial = true;
    for (size_t s = 0; s < sequences->samples; s++)
        for (size_t a = 0; a < wt_sequences_length_of(sequences, s); a++) {
            double *y = sequences->y + (s * sequences->length + a) * p;
            for (size_t j = 0; j < p; j++)
                if (isnan(y[j]))
                    y[0] = NAN; /* which says it of the whole row */
            known += isnan(y[0]) ? 0 : 1;
        }
    return known > 0 ? WT_OK : wt_fail(context, WT_DATA, "every row of y has a NaN");
}

static wt_status check_numbers(wt_context *context, const char *name, const char *array,
                               const double *values, const wt_sequences *all, size_t columns) {
    size_t each = all->length * columns;
    for (size_t i = 0; values != NULL && i < all->samples * each; i++) {
        size_t s = i / each, a = i % each / columns;
        if (isfinite(values[i]) || a >= wt_sequences_length_of(all, s) ||
            (values == all->y && !wt_sequences_known(all, s, a)))
            continue;
        return wt_fail(context, WT_DATA, "%s: %s[%zu,%zu,%zu] is %g", name, array, s, a,
                       i % columns, values[i]);
    }
    return WT_OK;
}

wt_status wt_sequences_check(wt_context *context, const wt_sequences *sequences, const char *name) {
    if (sequences->samples == 0 || sequences->length == 0 || sequences->dim == 0)
        return wt_fail(context, WT_DATA, "%s: %zu sequences of %zu tokens in %zu dimensions", name,
                       sequences->samples, sequences->length, sequences->dim);
    wt_status status = check_numbers(context, name, "x", sequences->x, sequences, sequences->dim);
    if (status == WT_OK)
        status = check_numbers(context, name, "y", sequences->y, sequences, sequences->outputs);
    return status;
}
