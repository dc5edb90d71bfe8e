/* Some heads of the first layer of a BERT, and sequences that show what they do: of Gaussian
 * tokens, or of the model's own words.
 * cc checkpoint.c $(pkg-config --cflags --libs wattle) -lm -o checkpoint
 * ./checkpoint model.safetensors 2 gaussian|words 32 200 heads.safetensors data.npz */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wattle/wattle.h>

/* Gaussian tokens have about the size of words after their norm. */
#define TOKEN_SCALE 0.57
#define EPSILON     1e-12

static wt_context *context;

static void must(wt_status status) {
    if (status == WT_OK)
        return;
    fprintf(stderr, "checkpoint: %s\n", wt_context_message(context));
    exit(wt_status_exit_code(status));
}

static double *room(size_t count) {
    double *out = calloc(count, sizeof *out);
    if (out == NULL)
        exit(70);
    return out;
}

/* The first heads of a layer with biases: rows of Theta and W one after the other, and c. */
static wt_layer *first_heads(const wt_layer *whole, size_t heads) {
    wt_layer_form form = WT_SIZED(wt_layer_form);
    wt_layer *out;
    size_t d = wt_layer_dim(whole), p = wt_layer_outputs(whole);
    must(wt_layer_get_form(context, whole, &form));
    must(wt_layer_new_form(context, heads, d, p, &form, &out));
    memcpy(wt_layer_theta(out), wt_layer_theta(whole), heads * (d + 1) * d * sizeof(double));
    memcpy(wt_layer_w(out), wt_layer_w(whole), heads * d * p * sizeof(double));
    memcpy(wt_layer_c(out), wt_layer_c(whole), p * sizeof(double));
    return out;
}

static double *read_array(const wt_file *file, const char *name, size_t *rows) {
    const wt_array *array = wt_file_find(file, name);
    if (array == NULL) {
        fprintf(stderr, "checkpoint: there is no %s\n", name);
        exit(65);
    }
    double *out = room(array->count);
    must(wt_file_read(context, file, array, out));
    *rows = array->shape[0];
    return out;
}

/* LayerNorm(word + position + type 0) of random words. */
static void draw_words(const wt_file *file, wt_sequences *data, double *gain, double *shift) {
    size_t words, places, types, d = wt_sequences_dim(data), k = wt_sequences_length(data);
    double *word = read_array(file, "embeddings.word_embeddings.weight", &words);
    double *place = read_array(file, "embeddings.position_embeddings.weight", &places);
    double *type = read_array(file, "embeddings.token_type_embeddings.weight", &types);
    wt_stream stream = wt_stream_for(1, "words", 0);
    if (k > places)
        exit(64);
    for (size_t t = 0; t < wt_sequences_samples(data) * k; t++) {
        double *x = wt_sequences_x(data) + t * d, mean = 0, square = 0;
        double uniform;
        wt_random_uniform(stream, t, 1, &uniform);
        size_t which = (size_t)(uniform * (double)words);
        for (size_t j = 0; j < d; j++) {
            x[j] = word[which * d + j] + place[t % k * d + j] + type[j];
            mean += x[j] / (double)d;
        }
        for (size_t j = 0; j < d; j++)
            square += (x[j] - mean) * (x[j] - mean) / (double)d;
        for (size_t j = 0; j < d; j++)
            x[j] = (x[j] - mean) / sqrt(square + EPSILON) * gain[j] + shift[j];
    }
    free(word);
    free(place);
    free(type);
}

/* rows (n, d) of M without their part along a. */
static void project_rows(size_t n, size_t d, const double *a, double *rows) {
    double square = 0;
    for (size_t j = 0; j < d; j++)
        square += a[j] * a[j];
    for (size_t i = 0; i < n; i++) {
        double along = 0;
        for (size_t j = 0; j < d; j++)
            along += rows[i * d + j] * a[j] / square;
        for (size_t j = 0; j < d; j++)
            rows[i * d + j] -= along * a[j];
    }
}

/* columns (d, n) the same; taken (n), where it is not NULL, gets what they lose along `at`. */
static void project_columns(size_t d, size_t n, const double *a, const double *at, double *m,
                            double *taken) {
    double square = 0, height = 0;
    for (size_t j = 0; j < d; j++) {
        square += a[j] * a[j];
        height += a[j] * at[j];
    }
    for (size_t i = 0; i < n; i++) {
        double along = 0;
        for (size_t j = 0; j < d; j++)
            along += m[j * n + i] * a[j] / square;
        for (size_t j = 0; j < d; j++)
            m[j * n + i] -= along * a[j];
        taken[i] += along * height;
    }
}

/* After a norm all tokens lie on a plane: sum (x_j - shift_j) / gain_j = 0. The layer as it shows
 * there: the same outputs, nothing along the normal. */
static void show_on_plane(wt_layer *layer, const double *gain, const double *shift) {
    size_t d = wt_layer_dim(layer), p = wt_layer_outputs(layer);
    double *a = room(d);
    for (size_t j = 0; j < d; j++)
        a[j] = 1 / gain[j];
    for (size_t i = 0; i < wt_layer_heads(layer); i++) {
        double *theta = wt_layer_theta(layer) + i * (d + 1) * d;
        project_columns(d, d, a, shift, theta, theta + d * d);
        project_rows(d + 1, d, a, theta);
        project_columns(d, p, a, shift, wt_layer_w(layer) + i * d * p, wt_layer_c(layer));
    }
    free(a);
}

int main(int argc, char **argv) {
    if (argc != 8 || wt_context_new(&context) != WT_OK) {
        fprintf(stderr, "usage: checkpoint MODEL HEADS gaussian|words K N LAYER DATA\n");
        return 64;
    }
    size_t heads = strtoul(argv[2], NULL, 10), k = strtoul(argv[4], NULL, 10),
           n = strtoul(argv[5], NULL, 10), rows;
    wt_checkpoint_options options;
    wt_checkpoint *checkpoint;
    wt_layer *whole, *layer;
    wt_sequences *data;
    WT_INIT(wt_checkpoint_options, &options);
    must(wt_checkpoint_open(context, argv[1], &options, &checkpoint));
    must(wt_checkpoint_layer(context, checkpoint, 0, false, &whole));
    if (heads == 0 || heads > wt_layer_heads(whole) || wt_layer_c(whole) == NULL)
        return 64;
    layer = first_heads(whole, heads);
    must(wt_sequences_new(context, n, k, wt_layer_dim(layer), wt_layer_outputs(layer), &data));
    if (strcmp(argv[3], "words") == 0) {
        wt_file *file;
        must(wt_file_open(context, argv[1], &file));
        double *gain = read_array(file, "embeddings.LayerNorm.weight", &rows);
        double *shift = read_array(file, "embeddings.LayerNorm.bias", &rows);
        draw_words(file, data, gain, shift);
        must(wt_layer_apply(context, layer, data));
        show_on_plane(layer, gain, shift);
        free(gain);
        free(shift);
        wt_file_free(file);
    } else {
        must(wt_layer_draw(context, layer, WT_LAW_GAUSSIAN, TOKEN_SCALE, 0, 1, 0, data));
    }
    must(wt_layer_save(context, layer, argv[6]));
    must(wt_sequences_save(context, data, argv[7]));
    wt_sequences_free(data);
    wt_layer_free(layer);
    wt_layer_free(whole);
    wt_checkpoint_free(checkpoint);
    wt_context_free(context);
    return 0;
}
