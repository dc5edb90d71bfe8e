/* Arrays to sequences: tokens that are there come first, rows of y to the tokens they belong to. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "layer/task/sequences.h"
#include "wattle/io.h"

/* lengths (n) as numbers of any kind. */
static wt_status take_lengths(wt_context *context, const char *name, const double *values,
                              wt_sequences *out) {
    size_t *lengths = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &lengths, out->samples, "lengths of sequences"));
    for (size_t s = 0; s < out->samples; s++) {
        if (!(values[s] >= 1) || values[s] > (double)out->length || floor(values[s]) != values[s])
            WT_TRY(wt_fail(context, WT_DATA, "%s: lengths[%zu] is %g, not a number of 1 to %zu",
                           name, s, values[s], out->length));
        lengths[s] = (size_t)values[s];
    }
    WT_TRY(wt_sequences_set_lengths(context, out, lengths));
done:
    wt_release(lengths);
    return status;
}

/* Tokens that are there, and their rows of y where it has all, move to the front of their sequence.
 */
static wt_status take_mask(wt_context *context, const char *name, const double *mask, bool all_rows,
                           wt_sequences *out) {
    size_t k = out->length, d = out->dim, p = all_rows ? out->outputs : 0, *lengths = NULL;
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, &lengths, out->samples, "a mask of sequences"));
    for (size_t t = 0; t < out->samples * k; t++) {
        size_t s = t / k, to = s * k + lengths[s];
        if (isnan(mask[t]))
            WT_TRY(wt_fail(context, WT_DATA, "%s: mask[%zu,%zu] is NaN", name, s, t % k));
        if (mask[t] == 0)
            continue;
        memmove(out->x + to * d, out->x + t * d, d * sizeof *out->x);
        if (p > 0)
            memmove(out->y + to * p, out->y + t * p, p * sizeof *out->y);
        lengths[s]++;
    }
    for (size_t s = 0; s < out->samples; s++)
        if (lengths[s] == 0)
            WT_TRY(
                wt_fail(context, WT_DATA, "%s: the mask leaves no token of sequence %zu", name, s));
    WT_TRY(wt_sequences_set_lengths(context, out, lengths));
done:
    wt_release(lengths);
    return status;
}

/* Rows of last tokens, at the front of y, go to their places; the others are NaN. */
static void place_last_rows(wt_sequences *out) {
    size_t k = out->length, p = out->outputs;
    for (size_t s = out->samples; s-- > 0;) {
        double *rows = out->y + s * k * p, *last = rows + (wt_sequences_length_of(out, s) - 1) * p;
        memmove(last, out->y + s * p, p * sizeof *last);
        for (size_t i = 0; i < k * p; i++)
            if (rows + i < last || rows + i >= last + p)
                rows[i] = NAN;
    }
}

static void forget_other_rows(wt_sequences *out) {
    for (size_t s = 0; s < out->samples; s++)
        for (size_t a = 0; a + 1 < wt_sequences_length_of(out, s); a++)
            for (size_t j = 0; j < out->outputs; j++)
                out->y[(s * out->length + a) * out->outputs + j] = NAN;
}

/* y as it was given, to where it belongs. A NaN that is no missing row is refused before rows are
 * left out. */
static wt_status arrange_y(wt_context *context, const char *name, const wt_sequences_spec *spec,
                           bool last, wt_sequences *out) {
    const size_t shape[] = {out->samples, out->outputs};
    if (!spec->last_row && !spec->missing)
        return WT_OK;
    if (!spec->missing && !last)
        WT_PASS(wt_sequences_check(context, out, name));
    if (!spec->missing && last && wt_values_check_finite(context, "y", out->y, 2, shape) != WT_OK)
        return wt_fail(context, WT_DATA, "%s: %s", name, wt_context_message(context));
    if (last)
        place_last_rows(out);
    else if (spec->last_row)
        forget_other_rows(out);
    return wt_sequences_set_missing(context, out);
}

wt_status wt_sequences_arrange(wt_context *context, const char *name, const wt_sequences_spec *spec,
                               const wt_sequences_arrays *given, wt_sequences *out) {
    if (given->lengths != NULL && given->mask != NULL)
        return wt_fail(context, WT_DATA, "%s has both 'lengths' and 'mask': one is enough", name);
    if (given->lengths != NULL)
        WT_PASS(take_lengths(context, name, given->lengths, out));
    if (given->mask != NULL)
        WT_PASS(take_mask(context, name, given->mask, !given->last_rows, out));
    if (out->y != NULL)
        WT_PASS(arrange_y(context, name, spec, given->last_rows, out));
    return wt_sequences_check(context, out, name);
}

/* The caller's numbers where nobody writes to them, else a copy of their rows in room for `all`. */
static wt_status take(wt_context *context, const double *values, bool written, size_t rows,
                      size_t all, size_t columns, double **out, bool *borrowed) {
    *borrowed = !written || values == NULL;
    *out = (double *)(uintptr_t)values;
    if (*borrowed)
        return WT_OK;
    *out = NULL;
    WT_PASS(WT_NEW2(context, out, all, columns, "sequences"));
    memcpy(*out, values, rows * columns * sizeof *values);
    return WT_OK;
}

wt_status wt_sequences_borrow(wt_context *context, const wt_sequences_arrays *given,
                              const wt_sequences_spec *spec, wt_sequences **out) {
    wt_sequences_arrays arrays = {0};
    wt_sequences_spec how = {0};
    wt_sequences *made = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_sized_read(context, "wt_sequences_arrays", given, &arrays, sizeof arrays));
    WT_TRY(wt_sized_read(context, "wt_sequences_spec", spec, &how, sizeof how));
    if (arrays.x == NULL || (arrays.y == NULL) != (arrays.outputs == 0))
        WT_TRY(wt_fail(context, WT_USAGE, "borrowed sequences need x, and y for %zu outputs",
                       arrays.outputs));
    if (arrays.last_rows && !how.last_row)
        WT_TRY(wt_fail(context, WT_USAGE, "y of last tokens alone needs a spec that says so"));
    size_t n = arrays.samples, tokens = n * arrays.length;
    bool moved = arrays.mask != NULL;
    WT_TRY(WT_NEW_ZERO(context, &made, 1, "sequences"));
    *made = (wt_sequences){
        .samples = n, .length = arrays.length, .dim = arrays.dim, .outputs = arrays.outputs};
    WT_TRY(take(context, arrays.x, moved, tokens, tokens, arrays.dim, &made->x, &made->borrowed_x));
    WT_TRY(take(context, arrays.y, moved || how.last_row || how.missing,
                arrays.last_rows ? n : tokens, tokens, arrays.outputs, &made->y,
                &made->borrowed_y));
    WT_TRY(wt_sequences_arrange(context, "the sequences", &how, &arrays, made));
    *out = made;
    made = NULL;
done:
    wt_sequences_free(made);
    return status;
}
