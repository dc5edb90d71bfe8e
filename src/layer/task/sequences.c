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
    wt_release(sequences->x);
    wt_release(sequences->y);
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
    return part;
}

static wt_status check_numbers(wt_context *context, const char *name, const char *array,
                               const double *values, const wt_sequences *all, size_t columns) {
    size_t each = all->length * columns;
    for (size_t i = 0; values != NULL && i < all->samples * each; i++)
        if (!isfinite(values[i]))
            return wt_fail(context, WT_DATA, "%s: %s[%zu,%zu,%zu] is %g", name, array, i / each,
                           i % each / columns, i % columns, values[i]);
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

static wt_status find(wt_context *context, const wt_file *file, const wt_array **x,
                      const wt_array **y) {
    const char *path = wt_file_path(file);
    WT_PASS(wt_file_expect(context, file, "x (n,k,d)", x));
    *y = wt_file_find(file, "y");
    if (*y == NULL)
        return WT_OK;
    WT_PASS(wt_file_expect(context, file, "y (n,k,p) or (n,k)", y));
    if ((*y)->shape[0] != (*x)->shape[0])
        return wt_fail(context, WT_DATA, "%s: 'x' has %zu sequences, 'y' %zu", path, (*x)->shape[0],
                       (*y)->shape[0]);
    if ((*y)->shape[1] != (*x)->shape[1])
        return wt_fail(context, WT_DATA,
                       "%s: the sequences of 'x' have %zu tokens, those of 'y' %zu", path,
                       (*x)->shape[1], (*y)->shape[1]);
    if ((*y)->rank == 3 && (*y)->shape[2] == 0)
        return wt_fail(context, WT_DATA, "%s: 'y' has no outputs", path);
    return WT_OK;
}

wt_status wt_sequences_load(wt_context *context, const char *path, wt_sequences **out) {
    wt_file *file = NULL;
    const wt_array *x, *y;
    wt_sequences *made = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_file_open(context, path, &file));
    WT_TRY(find(context, file, &x, &y));
    /* Empty ones are refused before room is made: the other sides of such a shape may be any. */
    WT_TRY(wt_sequences_check(
        context, &(wt_sequences){.samples = x->shape[0], .length = x->shape[1], .dim = x->shape[2]},
        path));
    size_t outputs = y == NULL ? 0 : y->rank == 2 ? 1 : y->shape[2];
    WT_TRY(wt_sequences_new(context, x->shape[0], x->shape[1], x->shape[2], outputs, &made));
    WT_TRY(wt_file_read(context, file, x, made->x));
    if (y != NULL)
        WT_TRY(wt_file_read(context, file, y, made->y));
    WT_TRY(wt_sequences_check(context, made, path));
    *out = made;
    made = NULL;
done:
    wt_file_free(file);
    wt_sequences_free(made);
    return status;
}

wt_status wt_sequences_save(wt_context *context, const wt_sequences *sequences, const char *path) {
    size_t n = sequences->samples, k = sequences->length;
    const wt_tensor tensors[] = {
        {.name = "x", .rank = 3, .shape = {n, k, sequences->dim}, .values = sequences->x},
        {.name = "y", .rank = 3, .shape = {n, k, sequences->outputs}, .values = sequences->y}};
    return wt_npz_write(context, path, tensors, sequences->y == NULL ? 1 : 2);
}
