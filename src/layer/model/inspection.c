/* All heads of a file, looked at one layer after the other. */
#include <float.h>
#include <string.h>
#include <sys/stat.h>

#include "base/parallel.h"
#include "base/sized.h"
#include "io/checkpoint.h"
#include "layer/model/factored.h"

struct wt_inspection {
    size_t count, room, layers;
    wt_head_summary *heads;
    const char *scheme, *rope, *left_out;
    bool folded;
    wt_checkpoint *checkpoint; /* NULL for products */
    wt_products *products;
};

void wt_inspect_options_init(wt_inspect_options *options, size_t size) {
    const wt_inspect_options full = {0};
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

/* The heads of one layer: numbers[0 .. count-1] of them, into out. */
typedef struct {
    wt_context *context;
    const wt_attention_tensors *from;
    bool folded;
    size_t layer;
    const size_t *numbers; /* NULL = all */
    wt_factored *qk, *ov;  /* a worker each */
    wt_head_summary *out;
} looking;

/* Columns from .. from + width-1 of (rows, stride), times scale and the gain of their row. */
static void take_columns(size_t rows, size_t width, const double *matrix, size_t stride,
                         double scale, const double *gain, double *out) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < width; j++)
            out[i * width + j] = scale * (gain == NULL ? 1 : gain[i]) * matrix[i * stride + j];
}

static wt_status look(const looking *job, size_t h, wt_factored *qk, wt_factored *ov,
                      wt_head_summary *out) {
    const wt_attention_tensors *from = job->from;
    size_t d = from->dim, r = from->width, p = from->outputs, keys = from->key_heads * r;
    size_t shared = h / (from->heads / from->key_heads) * r;
    const double *gain = job->folded ? from->gain : NULL, *output = from->output + h * r * p;
    *out = (wt_head_summary){.size = sizeof *out, .layer = job->layer, .head = h, .dim = d};
    take_columns(d, r, from->query + h * r, from->heads * r, from->scale, gain, qk->a);
    take_columns(d, r, from->key + shared, keys, 1, gain, qk->b);
    WT_PASS(wt_factored_split(job->context, qk));
    WT_PASS(wt_factored_inspect(job->context, qk, DBL_EPSILON, out));
    take_columns(d, r, from->value + shared, keys, 1, gain, ov->a);
    for (size_t i = 0; i < p * r; i++)
        ov->b[i] = output[i % r * p + i / r];
    WT_PASS(wt_factored_split(job->context, ov));
    wt_spectrum_judge_ov(ov->left < ov->right ? ov->left : ov->right, ov->singular, out);
    return WT_OK;
}

static wt_status look_at_some(void *argument, size_t begin, size_t end, int worker) {
    const looking *job = argument;
    for (size_t i = begin; i < end; i++)
        WT_PASS(look(job, job->numbers == NULL ? i : job->numbers[i], &job->qk[worker],
                     &job->ov[worker], &job->out[i]));
    return WT_OK;
}

static wt_status check_heads(wt_context *context, const wt_inspect_options *options, size_t layer,
                             size_t heads) {
    for (size_t i = 0; options->only != NULL && i < options->only_count; i++)
        if (options->only[i] >= heads)
            return wt_fail(context, WT_USAGE, "layer %zu has heads 0 to %zu, no head %zu", layer,
                           heads - 1, options->only[i]);
    return WT_OK;
}

static wt_status make_room(wt_context *context, size_t count, wt_inspection *out) {
    for (size_t i = 0; i < count; i++) {
        WT_PASS(WT_GROW(context, &out->heads, out->count, &out->room, "the heads' numbers"));
        out->count++;
    }
    return WT_OK;
}

static wt_status look_at_layer(wt_context *context, wt_checkpoint *checkpoint, size_t layer,
                               const wt_inspect_options *options, wt_inspection *out) {
    wt_attention_tensors from = {0};
    wt_arena arena = wt_arena_start(context, "factors of heads");
    size_t workers = (size_t)wt_parallel_width(context), first = out->count;
    looking job = {.context = context, .from = &from, .layer = layer, .numbers = options->only};
    wt_status status;
    WT_TRY(wt_checkpoint_read(context, checkpoint, layer, &from));
    WT_TRY(check_heads(context, options, layer, from.heads));
    size_t count = options->only == NULL ? from.heads : options->only_count;
    job.folded = options->fold && from.gain != NULL;
    out->folded = out->folded || job.folded;
    job.qk = WT_TAKE(&arena, wt_factored, workers);
    job.ov = WT_TAKE(&arena, wt_factored, workers);
    for (size_t i = 0; i < workers && arena.status == WT_OK; i++) {
        job.qk[i] = wt_factored_new(&arena, from.dim, from.dim, from.width);
        job.ov[i] = wt_factored_new(&arena, from.dim, from.outputs, from.width);
    }
    WT_TRY(arena.status);
    WT_TRY(make_room(context, count, out));
    job.out = out->heads + first;
    WT_TRY(wt_parallel_for(context, count, 1, look_at_some, &job));
done:
    wt_arena_free(&arena);
    wt_attention_tensors_free(&from);
    return status;
}

static wt_status look_at_checkpoint(wt_context *context, const char *path,
                                    const wt_inspect_options *options, wt_inspection *out) {
    wt_checkpoint_options how;
    WT_INIT(wt_checkpoint_options, &how);
    how.heads = options->heads;
    how.map = options->map;
    WT_PASS(wt_checkpoint_open(context, path, &how, &out->checkpoint));
    wt_checkpoint *checkpoint = out->checkpoint;
    out->scheme = checkpoint->scheme.name;
    out->rope = checkpoint->rope;
    out->left_out = checkpoint->left_out;
    out->layers = wt_checkpoint_layers(checkpoint);
    size_t count = options->layers == NULL ? out->layers : options->layer_count;
    wt_meter meter = wt_meter_start(context, "layers", (double)count);
    for (size_t i = 0; i < count; i++) {
        size_t layer = options->layers == NULL ? i : options->layers[i];
        WT_PASS(look_at_layer(context, checkpoint, layer, options, out));
        wt_meter_set(&meter, (double)(i + 1));
    }
    return WT_OK;
}

static wt_status look_at_products(wt_context *context, const char *path,
                                  const wt_inspect_options *options, wt_inspection *out) {
    WT_PASS(wt_products_load(context, path, &out->products));
    out->layers = 1;
    for (size_t i = 0; options->layers != NULL && i < options->layer_count; i++)
        if (options->layers[i] != 0)
            return wt_fail(context, WT_USAGE, "%s is one layer, 0: it has no layer %zu", path,
                           options->layers[i]);
    size_t heads = wt_products_heads(out->products);
    WT_PASS(check_heads(context, options, 0, heads));
    WT_PASS(make_room(context, options->only == NULL ? heads : options->only_count, out));
    for (size_t i = 0; i < out->count; i++) {
        out->heads[i].size = sizeof *out->heads;
        WT_PASS(wt_products_inspect(context, out->products,
                                    options->only == NULL ? i : options->only[i], &out->heads[i]));
    }
    return WT_OK;
}

/* Whether a file holds products in names of ours; folders and indices are checkpoints. */
static wt_status is_products(wt_context *context, const char *path, bool *out) {
    static const char *const names[] = {"theta", "w_qk", "w_q", "w_k"};
    struct stat about;
    size_t length = strlen(path);
    wt_file *file;
    *out = false;
    if ((stat(path, &about) == 0 && S_ISDIR(about.st_mode)) ||
        (length > 5 && strcmp(path + length - 5, ".json") == 0))
        return WT_OK;
    WT_PASS(wt_file_open(context, path, &file));
    *out = strcmp(wt_file_format(file), "npy") == 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        *out = *out || wt_file_find(file, names[i]) != NULL;
    wt_file_free(file);
    return WT_OK;
}

wt_status wt_inspection_open(wt_context *context, const char *path, const wt_inspect_options *given,
                             wt_inspection **out) {
    wt_inspect_options options = {0};
    wt_inspection *made = NULL;
    bool products = false;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_sized_read(context, "wt_inspect_options", given, &options, sizeof options));
    WT_TRY(WT_NEW_ZERO(context, &made, 1, "an inspection"));
    if (options.map == NULL)
        WT_TRY(is_products(context, path, &products));
    WT_TRY(products ? look_at_products(context, path, &options, made)
                    : look_at_checkpoint(context, path, &options, made));
    *out = made;
    made = NULL;
done:
    wt_inspection_free(made);
    return status;
}

void wt_inspection_free(wt_inspection *all) {
    if (all == NULL)
        return;
    wt_products_free(all->products);
    wt_checkpoint_free(all->checkpoint);
    wt_release(all->heads);
    wt_release(all);
}

wt_status wt_inspection_at(wt_context *context, const wt_inspection *all, size_t index,
                           wt_head_summary *out) {
    WT_PASS(wt_sized_check(context, "wt_head_summary", out, sizeof *out));
    if (index >= all->count)
        return wt_fail(context, WT_USAGE, "there is no head %zu among %zu", index, all->count);
    wt_sized_write(out, &all->heads[index], sizeof *out);
    return WT_OK;
}

size_t wt_inspection_count(const wt_inspection *all) {
    return all->count;
}

size_t wt_inspection_layers(const wt_inspection *all) {
    return all->layers;
}

bool wt_inspection_folded(const wt_inspection *all) {
    return all->folded;
}

const char *wt_inspection_scheme(const wt_inspection *all) {
    return all->scheme;
}

const char *wt_inspection_stem(const wt_inspection *all, size_t layer) {
    return all->checkpoint == NULL ? NULL : wt_checkpoint_stem(all->checkpoint, layer);
}

const char *wt_inspection_rope(const wt_inspection *all) {
    return all->rope;
}

const char *wt_inspection_left_out(const wt_inspection *all) {
    return all->left_out;
}

const wt_products *wt_inspection_products(const wt_inspection *all) {
    return all->products;
}
