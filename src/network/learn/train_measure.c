/* What became of a network: losses, norms, attention. All without dropout. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "network/learn/trainer.h"

enum { PARTS = 20, LOOKED = 256, LOOK_PIECE = 32 };

/* ---- losses ---- */

static wt_status measure_train(wt_context *context, wt_trainer *trainer, wt_train_measure *out) {
    wt_network_result result = WT_SIZED(wt_network_result);
    out->train_loss = out->train_miss = out->train_accuracy = NAN;
    if (trainer->setting.online > 0)
        return WT_OK;
    WT_PASS(wt_network_evaluate(context, trainer->network, trainer->parameters, trainer->batch,
                                SIZE_MAX, &result));
    out->train_loss = result.loss;
    out->train_miss = result.miss;
    out->train_accuracy = (double)result.correct / (double)result.samples;
    return WT_OK;
}

/* One part of the test samples, piece by piece. */
static wt_status test_part(wt_context *context, wt_trainer *trainer, size_t begin, size_t end,
                           wt_network_result *out) {
    wt_bits bits = *trainer->piece;
    wt_network_result result = WT_SIZED(wt_network_result);
    *out = (wt_network_result){.samples = end - begin};
    for (size_t first = begin; first < end; first += bits.samples) {
        bits.samples =
            end - first < trainer->piece->samples ? end - first : trainer->piece->samples;
        WT_PASS(wt_train_draw(context, trainer, "test", first, true, &bits));
        WT_PASS(wt_network_evaluate(context, trainer->network, trainer->parameters, &bits, SIZE_MAX,
                                    &result));
        out->loss += result.loss * (double)bits.samples / (double)out->samples;
        out->miss += result.miss * (double)bits.samples / (double)out->samples;
        out->correct += result.correct;
    }
    return WT_OK;
}

/* The 0.975 quantile of Student's t with 1 .. PARTS - 1 degrees of freedom. */
static const double student[PARTS] = {NAN,   12.706, 4.303, 3.182, 2.776, 2.571, 2.447,
                                      2.365, 2.306,  2.262, 2.228, 2.201, 2.179, 2.160,
                                      2.145, 2.131,  2.120, 2.110, 2.101, 2.093};

/* The test loss as the mean of up to PARTS parts of (nearly) one size, whose spread gives the
 * interval. The training loss is that of the set at hand and has no error. */
static wt_status measure_test(wt_context *context, wt_trainer *trainer, size_t samples,
                              wt_train_measure *out) {
    size_t parts = samples < PARTS ? samples : PARTS, correct = 0;
    wt_network_result part[PARTS] = {0};
    double square = 0;
    out->test_loss = out->test_miss = 0;
    for (size_t i = 0; i < parts; i++) {
        WT_PASS(
            test_part(context, trainer, samples * i / parts, samples * (i + 1) / parts, &part[i]));
        out->test_loss += part[i].loss / (double)parts;
        out->test_miss += part[i].miss / (double)parts;
        correct += part[i].correct;
    }
    for (size_t i = 0; i < parts; i++)
        square += (part[i].loss - out->test_loss) * (part[i].loss - out->test_loss);
    double half = student[parts - 1] * sqrt(square / (double)(parts - 1) / (double)parts);
    out->test_accuracy = (double)correct / (double)samples;
    out->gap = out->test_loss - out->train_loss;
    out->gap_low = out->gap - half;
    out->gap_high = out->gap + half;
    return WT_OK;
}

/* ---- norms ---- */

static wt_status measure_norm(wt_context *context, const wt_trainer *trainer, const char *name,
                              size_t index, wt_train_measure *out) {
    wt_train_matrix matrix = wt_train_matrix_at(trainer, name, index);
    wt_train_norm *norm = &out->norms[out->norm_count];
    size_t m = matrix.rows, n = matrix.columns;
    double *a = NULL;
    wt_status status;
    WT_TRY(WT_NEW2(context, &a, m, n, "a matrix to measure"));
    WT_TRY(wt_train_matrix_load(context, trainer, &matrix, a));
    memcpy(norm->name, matrix.name, sizeof norm->name);
    norm->rows = matrix.transposed ? n : m;
    norm->columns = matrix.transposed ? m : n;
    WT_TRY(wt_norm(context, WT_SPECTRAL, m, n, a, n, &norm->spectral));
    WT_TRY(wt_norm(context, WT_FROBENIUS, m, n, a, n, &norm->frobenius));
    WT_TRY(wt_norm(context, WT_COLUMNS, m, n, a, n, &norm->two_one));
    out->norm_count++;
done:
    wt_release(a);
    return status;
}

/* Every matrix, and the vectors of the theorem's head, which are its read-out and [CLS]; then every
 * head's W_QK and W_V where they are parts of larger ones. */
static wt_status measure_norms(wt_context *context, const wt_trainer *trainer,
                               wt_train_measure *out) {
    static const char *const by_head[] = {"qk", "v"};
    size_t count = trainer->network->tensor_count, heads = trainer->network->spec.heads;
    const wt_network_tensor *tensors = trainer->network->tensors;
    const char *kind = wt_network_get_spec(trainer->network)->kind;
    bool split = strcmp(kind, "transformer") == 0, read_out = strcmp(kind, "head") == 0;
    WT_PASS(WT_NEW(context, &out->norms, count + (split ? 2 * heads : 0), "norms"));
    for (size_t i = 0; i < count; i++)
        if (!tensors[i].vector || read_out)
            WT_PASS(measure_norm(context, trainer, tensors[i].name, 0, out));
    for (size_t k = 0; split && k < 2; k++)
        for (size_t h = 0; h < heads; h++)
            WT_PASS(measure_norm(context, trainer, by_head[k], h, out));
    return WT_OK;
}

/* ---- attention ---- */

/* Sums of the weights over the samples of a piece into sum (heads, positions). */
static void add_weights(size_t samples, size_t numbers, const float *weights, double *sum) {
    for (size_t i = 0; i < samples; i++)
        for (size_t j = 0; j < numbers; j++)
            sum[j] += (double)weights[i * numbers + j];
}

static wt_status sum_attention(wt_context *context, wt_trainer *trainer, size_t numbers,
                               double *sum) {
    float *weights = NULL;
    wt_bits *bits = NULL;
    wt_status status;
    WT_TRY(wt_bits_new(context, LOOK_PIECE, trainer->setting.length, &bits));
    WT_TRY(WT_NEW2(context, &weights, LOOK_PIECE, numbers, "attention weights"));
    for (size_t first = 0; first < LOOKED; first += LOOK_PIECE) {
        WT_TRY(wt_train_draw(context, trainer, "look", first, false, bits));
        WT_TRY(wt_network_attention(context, trainer->network, trainer->parameters, bits, weights));
        add_weights(LOOK_PIECE, numbers, weights, sum);
    }
done:
    wt_release(weights);
    wt_bits_free(bits);
    return status;
}

/* What a head (positions) has on the relevant positions; where nobody knows them, on the one that
 * it looks at most. */
static double mass_of(const wt_trainer *trainer, const double *mean) {
    const wt_sparse_task *task = trainer->task;
    double mass = 0;
    for (size_t i = 0; task != NULL && i < task->function->bits; i++)
        mass += mean[task->relevant[i]];
    for (size_t t = 0; task == NULL && t < trainer->setting.length; t++)
        mass = fmax(mass, mean[t]);
    return mass;
}

/* The mean weights of the heads (heads, positions) as the masses and the two rows to show. */
static void summarise(const wt_trainer *trainer, const double *mean, wt_train_measure *out) {
    size_t positions = out->positions;
    out->mass = 0;
    out->best_mass = -1;
    for (size_t h = 0; h < out->heads; h++) {
        double mass = mass_of(trainer, mean + h * positions);
        out->mass += mass / (double)out->heads;
        if (mass > out->best_mass) {
            out->best_mass = mass;
            out->best_head = h;
        }
        for (size_t t = 0; t < positions; t++)
            out->attention[t] += mean[h * positions + t] / (double)out->heads;
    }
    if (trainer->task == NULL)
        out->mass = out->best_mass = NAN;
    memcpy(out->attention + positions, mean + out->best_head * positions,
           positions * sizeof *out->attention);
}

static wt_status measure_attention(wt_context *context, wt_trainer *trainer,
                                   wt_train_measure *out) {
    const wt_network_spec *spec = wt_network_get_spec(trainer->network);
    double *sum = NULL;
    wt_status status = WT_OK;
    if (strcmp(spec->kind, "mlp") == 0)
        goto done;
    out->heads = strcmp(spec->kind, "head") == 0 ? 1 : spec->heads;
    out->positions = trainer->setting.length + 1;
    size_t numbers = out->heads * out->positions;
    WT_TRY(WT_NEW2_ZERO(context, &out->attention, 2, out->positions, "attention"));
    WT_TRY(WT_NEW_ZERO(context, &sum, numbers, "attention"));
    WT_TRY(sum_attention(context, trainer, numbers, sum));
    for (size_t i = 0; i < numbers; i++)
        sum[i] /= LOOKED;
    summarise(trainer, sum, out);
done:
    wt_release(sum);
    return status;
}

wt_status wt_trainer_measure(wt_context *context, wt_trainer *trainer, size_t test_samples,
                             wt_train_measure *out) {
    wt_train_measure full = {0};
    wt_status status;
    WT_TRY(wt_sized_check(context, "wt_train_measure", out, sizeof full));
    if (trainer->held != NULL)
        test_samples = trainer->held->samples;
    if (test_samples < 2) {
        status = wt_fail(context, WT_USAGE, "a measured loss needs 2 test samples or more, not %zu",
                         test_samples);
        goto done;
    }
    WT_TRY(measure_train(context, trainer, &full));
    WT_TRY(measure_test(context, trainer, test_samples, &full));
    WT_TRY(measure_norms(context, trainer, &full));
    WT_TRY(measure_attention(context, trainer, &full));
    wt_sized_write(out, &full, sizeof full);
done:
    if (status != WT_OK)
        wt_train_measure_free(&full);
    return status;
}

void wt_train_measure_free(wt_train_measure *measure) {
    if (measure == NULL)
        return;
    wt_release(measure->norms);
    wt_release(measure->attention);
    measure->norms = NULL;
    measure->attention = NULL;
}
