/* Sequences in .npz files: x (n,k,d), y (n,k,p), lengths (n) or mask (n,k). */
#include "base/memory.h"
#include "base/sized.h"
#include "layer/task/sequences.h"
#include "wattle/io.h"

void wt_sequences_spec_init(wt_sequences_spec *spec, size_t size) {
    const wt_sequences_spec full = {0};
    spec->size = size;
    wt_sized_write(spec, &full, sizeof full);
}

/* The arrays of a file; NULL where there is none. */
typedef struct {
    const wt_array *x, *y, *lengths, *mask;
    bool last; /* y has a row a sequence */
} arrays;

/* The array that `shape` names and describes, where there is one; it begins with n, and has a
 * second side of k. */
static wt_status find_beside(wt_context *context, const wt_file *file, const char *name,
                             const char *shape, const wt_array *x, const wt_array **out) {
    const char *path = wt_file_path(file);
    *out = wt_file_find(file, name);
    if (*out == NULL)
        return WT_OK;
    WT_PASS(wt_file_expect(context, file, shape, out));
    if ((*out)->shape[0] != x->shape[0])
        return wt_fail(context, WT_DATA, "%s: 'x' has %zu sequences, '%s' %zu", path, x->shape[0],
                       name, (*out)->shape[0]);
    if ((*out)->rank == 2 && (*out)->shape[1] != x->shape[1])
        return wt_fail(context, WT_DATA,
                       "%s: the sequences of 'x' have %zu tokens, those of '%s' %zu", path,
                       x->shape[1], name, (*out)->shape[1]);
    return WT_OK;
}

static wt_status check_y(wt_context *context, const char *path, const arrays *found) {
    const wt_array *x = found->x, *y = found->y;
    if (y->shape[0] != x->shape[0])
        return wt_fail(context, WT_DATA, "%s: 'x' has %zu sequences, 'y' %zu", path, x->shape[0],
                       y->shape[0]);
    if (!found->last && y->shape[1] != x->shape[1])
        return wt_fail(context, WT_DATA,
                       "%s: the sequences of 'x' have %zu tokens, those of 'y' %zu%s", path,
                       x->shape[1], y->shape[1],
                       y->rank == 2 ? ": recover --rows last takes rows of last tokens alone" : "");
    if (y->rank > 1 && y->shape[y->rank - 1] == 0)
        return wt_fail(context, WT_DATA, "%s: 'y' has no outputs", path);
    return WT_OK;
}

static wt_status find(wt_context *context, const wt_file *file, const wt_sequences_spec *spec,
                      arrays *out) {
    *out = (arrays){.y = wt_file_find(file, "y")};
    WT_PASS(wt_file_expect(context, file, "x (n,k,d)", &out->x));
    WT_PASS(find_beside(context, file, "lengths", "lengths (n)", out->x, &out->lengths));
    WT_PASS(find_beside(context, file, "mask", "mask (n,k)", out->x, &out->mask));
    if (out->y == NULL)
        return WT_OK;
    out->last = spec->last_row && out->y->rank < 3;
    WT_PASS(wt_file_expect(context, file, out->last ? "y (n,p) or (n)" : "y (n,k,p) or (n,k)",
                           &out->y));
    return check_y(context, wt_file_path(file), out);
}

/* lengths or a mask, all numbers; NULL where there is none. */
static wt_status read_beside(wt_context *context, const wt_file *file, const wt_array *array,
                             double **out) {
    if (array == NULL)
        return WT_OK;
    WT_PASS(WT_NEW(context, out, array->count, "lengths of sequences"));
    return wt_file_read(context, file, array, *out);
}

wt_status wt_sequences_load_as(wt_context *context, const char *path,
                               const wt_sequences_spec *given, wt_sequences **out) {
    wt_file *file = NULL;
    wt_sequences_spec spec = {0};
    arrays found;
    wt_sequences *made = NULL;
    double *lengths = NULL, *mask = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_sized_read(context, "wt_sequences_spec", given, &spec, sizeof spec));
    WT_TRY(wt_file_open(context, path, &file));
    WT_TRY(find(context, file, &spec, &found));
    const wt_array *x = found.x, *y = found.y;
    /* Empty ones are refused before room is made: the other sides of such a shape may be any. */
    WT_TRY(wt_sequences_check(
        context, &(wt_sequences){.samples = x->shape[0], .length = x->shape[1], .dim = x->shape[2]},
        path));
    size_t outputs = y == NULL ? 0 : y->rank == (found.last ? 1 : 2) ? 1 : y->shape[y->rank - 1];
    WT_TRY(wt_sequences_new(context, x->shape[0], x->shape[1], x->shape[2], outputs, &made));
    WT_TRY(wt_file_read(context, file, x, made->x));
    if (y != NULL)
        WT_TRY(wt_file_read(context, file, y, made->y));
    WT_TRY(read_beside(context, file, found.lengths, &lengths));
    WT_TRY(read_beside(context, file, found.mask, &mask));
    const wt_sequences_arrays beside = {.lengths = lengths, .mask = mask, .last_rows = found.last};
    WT_TRY(wt_sequences_arrange(context, path, &spec, &beside, made));
    *out = made;
    made = NULL;
done:
    wt_release(lengths);
    wt_release(mask);
    wt_file_free(file);
    wt_sequences_free(made);
    return status;
}

wt_status wt_sequences_load(wt_context *context, const char *path, wt_sequences **out) {
    wt_sequences_spec spec;
    WT_INIT(wt_sequences_spec, &spec);
    return wt_sequences_load_as(context, path, &spec, out);
}

wt_status wt_sequences_save(wt_context *context, const wt_sequences *sequences, const char *path) {
    size_t n = sequences->samples, k = sequences->length, count = 1;
    double *lengths = NULL;
    wt_tensor tensors[3] = {
        {.name = "x", .rank = 3, .shape = {n, k, sequences->dim}, .values = sequences->x}};
    wt_status status;
    if (sequences->y != NULL)
        tensors[count++] = (wt_tensor){
            .name = "y", .rank = 3, .shape = {n, k, sequences->outputs}, .values = sequences->y};
    if (sequences->lengths != NULL) {
        WT_TRY(WT_NEW(context, &lengths, n, "lengths of sequences"));
        for (size_t s = 0; s < n; s++)
            lengths[s] = (double)sequences->lengths[s];
        tensors[count++] =
            (wt_tensor){.name = "lengths", .rank = 1, .shape = {n}, .values = lengths};
    }
    WT_TRY(wt_npz_write(context, path, tensors, count));
done:
    wt_release(lengths);
    return status;
}
