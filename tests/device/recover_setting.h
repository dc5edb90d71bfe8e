/* A descent on the host beside one on a device, at the same Theta: what the suites of recoveries
 * share. */
#ifndef TESTS_DEVICE_RECOVER_SETTING_H
#define TESTS_DEVICE_RECOVER_SETTING_H

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "device/device.h"
#include "layer/forms.h"
#include "layer/learn/descent.h"
#include "layer/learn/recovery.h"
#include "layer/task/vector.h"
#include "wattle/device.h"
#include "wattle/random.h"

#define SKIPPED  77
#define CLOSE    1e-9 /* double on either side, sums in other orders */
#define PRODUCTS 1e-5 /* with J^T P J, float on the host */

static wt_context *device; /* runs on it; the group's context on the host */
static const char *name;   /* "cuda:0" */

/* What a case fits: a form, how long sequences are, and which Theta. */
typedef struct {
    const char *words;
    bool bias, causal, mixed, last;
    size_t heads, rank, groups;
} fitted;

static const fitted cases[] = {
    {.words = "plain", .heads = 2},
    {.words = "one head", .heads = 1},
    {.words = "biases", .bias = true, .heads = 2},
    {.words = "causal", .causal = true, .heads = 2},
    {.words = "mixed lengths, biases, causal", true, true, true, .heads = 2},
    {.words = "last rows", .last = true, .mixed = true, .heads = 2},
    {.words = "a rank", .heads = 3, .rank = 2},
    {.words = "a rank, biases, mixed lengths", .bias = true, .mixed = true, .heads = 2, .rank = 2},
    {.words = "groups", .heads = 4, .rank = 2, .groups = 2},
    {.words = "groups, biases, causal, mixed lengths",
     true,
     true,
     true,
     .heads = 4,
     .rank = 2,
     .groups = 2},
    {.words = "values of a rank", .heads = 2, .rank = 2, .groups = 2},
};
enum { CASES = sizeof cases / sizeof *cases };

typedef struct {
    wt_layer *teacher;
    wt_sequences *data;
    wt_recover_options options;
    wt_rows rows;
    wt_descent on[2]; /* the host, the device */
} setting;

static wt_context *where[2];

static inline wt_sequences *draw_case(wt_context *context, const fitted *one,
                                      const wt_layer *teacher) {
    size_t lengths[SAMPLES];
    mixed_lengths(lengths);
    wt_sequences *data = draw(context, teacher, one->mixed ? lengths : NULL);
    for (size_t s = 0; one->last && s < SAMPLES; s++) /* rows but one of each are not known */
        for (size_t a = 0; a + 1 < lengths[s]; a++)
            data->y[(s * LENGTH + a) * DIM] = NAN;
    data->partial = one->last;
    return data;
}

static inline wt_layer *teacher_for(wt_context *context, const fitted *one) {
    const wt_teacher_options options = {.size = sizeof options,
                                        .heads = one->heads,
                                        .dim = DIM,
                                        .scale = 2,
                                        .rank = one->rank,
                                        .groups = one->groups,
                                        .bias = one->bias,
                                        .mask =
                                            one->causal ? WT_LAYER_MASK_CAUSAL : WT_LAYER_MASK_NONE,
                                        .seed = 5};
    wt_layer *layer = NULL;
    CHECK_OK(context, wt_layer_teacher(context, &options, &layer));
    return layer;
}

/* Both descents at the same Theta: the teacher's, moved by `off`. */
static inline void open_setting(wt_context *context, const fitted *one, double off, setting *out) {
    *out = (setting){.teacher = teacher_for(context, one)};
    out->data = draw_case(context, one, out->teacher);
    WT_INIT(wt_recover_options, &out->options);
    out->options.bias = one->bias;
    out->options.mask = one->causal ? WT_LAYER_MASK_CAUSAL : WT_LAYER_MASK_NONE;
    CHECK_OK(context, wt_rows_make(context, out->data, &out->options, 0, SAMPLES, &out->rows));
    for (size_t i = 0; i < 2; i++) {
        wt_descent *descent = &out->on[i];
        CHECK_OK(where[i], wt_descent_new(where[i], &out->rows, one->heads, one->rank, one->groups,
                                          0, descent));
        wt_random_normal(wt_stream_for(1, "theta", 0), 0, descent->numbers, descent->theta);
        double *moved = malloc(descent->thetas * sizeof *moved);
        wt_theta_pack(one->heads, DIM + one->bias, DIM, out->teacher->theta, moved);
        for (size_t j = 0; j < descent->thetas; j++)
            descent->theta[j] = moved[j] + off * descent->theta[j];
        free(moved);
        if (one->rank > 0) {
            CHECK_OK(context, wt_factors_find(context, &descent->factors, descent->theta));
            CHECK_OK(context, wt_factors_multiply(context, &descent->factors, descent->factors.now,
                                                  descent->theta));
        }
        CHECK_OK(where[i], wt_descent_evaluate(where[i], descent));
        CHECK_OK(where[i], wt_descent_linearise(where[i], descent));
    }
}

static inline void close_setting(setting *all) {
    for (size_t i = 0; i < 2; i++)
        wt_descent_free(&all->on[i]);
    wt_rows_free(&all->rows);
    wt_sequences_free(all->data);
    wt_layer_free(all->teacher);
}

static inline void same_vector(const char *of, const char *what, size_t count, const double *got,
                               const double *wanted, double tolerance) {
    double apart = sqrt(wt_vector_apart(count, got, wanted));
    double norm = sqrt(wt_vector_squares(count, wanted));
    if (!(apart <= tolerance * norm))
        fail_msg("%s: %s is %.2g of its norm off, more than %.2g", of, what, apart / norm,
                 tolerance);
}

static inline wt_layer *recover(wt_context *context, const fitted *one, const wt_sequences *data,
                                wt_recover_report *report) {
    wt_recover_options options;
    wt_layer *layer = NULL;
    WT_INIT(wt_recover_options, &options);
    *report = (wt_recover_report)WT_SIZED(wt_recover_report);
    options.heads = one->heads;
    options.bias = one->bias;
    options.mask = one->causal ? WT_LAYER_MASK_CAUSAL : WT_LAYER_MASK_NONE;
    options.rank = one->rank;
    options.groups = one->groups;
    options.matrix_free = true;
    options.restarts = 3;
    CHECK_OK(context, wt_refine(context, data, &options, &layer, report));
    return layer;
}

static inline int open_both(void **state) {
    int failed = check_open(state);
    where[0] = *state;
    where[1] = device;
    for (size_t i = 0; i < 2; i++)
        wt_context_set_threads(where[i], 1);
    return failed;
}

/* The device of the second argument, whose plugin is in the folder of the first, for the tests that
 * the third chooses; what main is to return where there is none. */
static inline int find_device(int argc, char **argv) {
    if (argc < 3 || wt_context_new(&device) != WT_OK)
        return 64;
    wt_device_look_in(argv[1]);
    name = argv[2];
    if (wt_context_set_device(device, name) != WT_OK) {
        printf("skipped: %s\n", wt_context_message(device));
        wt_context_free(device);
        return SKIPPED;
    }
    if (argc > 3)
        cmocka_set_test_filter(argv[3]);
    return 0;
}

#endif
