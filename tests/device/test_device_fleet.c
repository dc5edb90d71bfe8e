/* Fleets on a device against the engine of the host.
 * usage: test_device_fleet FOLDER DEVICE [TEST [small]]    FOLDER has the plugin; without the
 * device it is skipped. `small`: few samples of few bits.
 *
 * Tolerances: the host's gradients are within 1e-5 of their norm of those in double
 * (tests/network/network_trial.h), and both engines compute in float, in orders of their own: they
 * must agree to twice that, losses to 1e-5. Samples and masks are the host's to the bit: one that
 * was not would move a gradient by far more. */
#include <math.h>

#include "check.h"
#include "device/fleet.h"
#include "network/learn/fleet.h"
#include "network/learn/fleet_parts.h"
#include "network/model/network_dropout.h"

static const char *name;
static bool small;

typedef struct {
    const char *model, *task;
    size_t length, samples, dim, heads, hidden, online;
    double tokens, weights, blocks, noise; /* dropouts; noise of labels */
    const char *activation;
} form;

static const form forms[] = {
    {"transformer", "and:3", 300, 100, 64, 16, 0, 0, 0.1, 0.1, 0.1, 0, NULL},
    {"transformer", "and:3", 63, 33, 64, 16, 0, 0, 0, 0.1, 0.1, 0, NULL},
    {"transformer", "and:3", 64, 70, 64, 16, 0, 0, 0, 0, 0, 0, NULL},
    {"transformer", "parity:2", 20, 5, 24, 3, 40, 50, 0.2, 0, 0.3, 0.1, NULL},
    {"transformer", "and:2", 130, 40, 48, 1, 0, 0, 0.1, 0.3, 0, 0, NULL},
    {"transformer", "majority:3", 31, 65, 128, 16, 96, 0, 0.1, 0.1, 0.1, 0, NULL},
    {"mlp", "and:3", 300, 100, 64, 0, 0, 0, 0, 0, 0, 0, NULL},
    {"mlp", "parity:3", 17, 5, 16, 0, 50, 40, 0.1, 0, 0.2, 0.2, "gelu"},
    {"head", "and:3", 100, 70, 48, 1, 0, 0, 0, 0, 0, 0, NULL},
    {"head", "and:2", 21, 5, 40, 1, 0, 64, 0, 0, 0, 0.1, "tanh"},
};
enum { FORMS = sizeof forms / sizeof *forms };

static size_t at_most(size_t most, size_t x) {
    return small && x > most ? most : x;
}

static wt_train_spec setting_of(const form *of) {
    wt_train_spec setting;
    WT_INIT(wt_train_spec, &setting);
    setting.model = of->model;
    setting.task = of->task;
    setting.length = at_most(70, of->length); /* more than a tile of tokens */
    setting.samples = at_most(5, of->samples);
    setting.dim = of->dim;
    setting.heads = of->heads;
    setting.hidden = of->hidden;
    setting.online = at_most(5, of->online);
    setting.embedding_dropout = of->tokens;
    setting.attention_dropout = of->weights;
    setting.block_dropout = of->blocks;
    setting.noise = of->noise;
    setting.activation = of->activation;
    setting.init_scale = 5; /* scores that differ */
    setting.keep_ambiguous = true;
    return setting;
}

/* One fleet of members that have begun, on a device or (NULL) on the host. */
typedef struct {
    wt_fleet_crew crew;
    wt_train_spec setting;
} fleet;

static void open_fleet(wt_context *context, wt_device *device, const wt_train_spec *given,
                       size_t networks, fleet *out) {
    size_t slots[8];
    *out = (fleet){
        .crew = {.device = device, .engine = device == NULL ? &wt_fleet_host : device->fleet}};
    CHECK_OK(context, wt_train_spec_read(context, given, &out->setting));
    size_t samples = given->online > 0 ? given->online : given->samples;
    CHECK_OK(context, wt_fleet_open(context, &out->crew, &out->setting, samples, networks));
    assert_int_equal(out->crew.slots, networks);
    for (size_t slot = 0; slot < networks; slot++) {
        wt_fleet_member *one = &out->crew.members[slot];
        one->setting = out->setting;
        one->setting.seed = 40 + slot;
        one->live = true;
        CHECK_OK(context, wt_train_task_open(context, &one->setting, &one->task));
        CHECK_OK(context, wt_train_set_open(context, &one->setting, one->task, &one->set,
                                            &one->state.redrawn));
        CHECK_OK(context, wt_fleet_give(&out->crew, slot, &one->setting, one->task, one->set));
        slots[slot] = slot;
    }
    CHECK_OK(context, wt_fleet_put_starts(&out->crew, slots, networks));
}

static void step(fleet *of, size_t steps) {
    size_t taken = 0;
    while (steps > 0) {
        CHECK_OK(of->crew.context,
                 wt_fleet_steps(&of->crew, wt_fleet_list(&of->crew), steps, &taken));
        steps -= taken;
    }
}

static double distance(const float *a, const float *b, size_t count, double *norm) {
    double square = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        square += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
        all += (double)b[i] * b[i];
    }
    *norm = sqrt(all);
    return sqrt(square);
}

/* The first moments after one step are a tenth of the gradient where nothing is clipped or decays.
 */
static void test_gradients(void **state) {
    wt_context *context = *state;
    wt_device *device = wt_context_get_device(context);
    bool well = true;
    for (size_t f = 0; f < FORMS; f++) {
        fleet here, there;
        wt_train_spec setting = setting_of(&forms[f]);
        setting.clip = setting.weight_decay = 0;
        open_fleet(context, NULL, &setting, 3, &here);
        open_fleet(context, device, &setting, 3, &there);
        step(&here, 1);
        step(&there, 1);
        const wt_network *network = here.crew.network;
        float *a, *b;
        CHECK_OK(context, WT_NEW2(context, &a, 3, network->size, "a state"));
        CHECK_OK(context, WT_NEW2(context, &b, 3, network->size, "a state"));
        for (size_t slot = 0; slot < 3; slot++) {
            double norm, worst = 0;
            size_t at = 0, n = network->size;
            CHECK_OK(context,
                     here.crew.engine->get(context, here.crew.fleet, slot, a, a + n, a + 2 * n));
            CHECK_OK(context,
                     device->fleet->get(context, there.crew.fleet, slot, b, b + n, b + 2 * n));
            double off = distance(b + n, a + n, n, &norm),
                   loss = here.crew.members[slot].state.loss;
            double other = there.crew.members[slot].state.loss;
            for (size_t t = 0; t < network->tensor_count; t++) {
                const wt_network_tensor *tensor = &network->tensors[t];
                double ignored, part = distance(b + n + tensor->offset, a + n + tensor->offset,
                                                tensor->rows * tensor->columns, &ignored);
                if (!(part <= worst)) {
                    worst = part;
                    at = t;
                }
            }
            bool right =
                off <= 2e-5 * norm && fabs(loss - other) <= 1e-5 * fmax(1, loss) &&
                here.crew.members[slot].state.accuracy == there.crew.members[slot].state.accuracy;
            printf("%s %zu: gradient off by %.1e of its norm, most in %s; loss %.7f, host %.7f%s\n",
                   forms[f].model, f, off / norm, network->tensors[at].name, other, loss,
                   right ? "" : "  WRONG");
            well = well && right;
        }
        wt_release(a);
        wt_release(b);
        wt_fleet_close(&here.crew);
        wt_fleet_close(&there.crew);
    }
    assert_true(well);
}

/* Over steps rounding grows; the recipe's losses stay together for the first of them. */
static void test_losses(void **state) {
    wt_context *context = *state;
    size_t steps = at_most(3, 20);
    bool well = true;
    for (size_t f = 0; f < FORMS; f++) {
        fleet here, there;
        wt_train_spec setting = setting_of(&forms[f]);
        double most = 0;
        setting.init_scale = 1;
        setting.validate = 1000;
        open_fleet(context, NULL, &setting, 2, &here);
        open_fleet(context, wt_context_get_device(context), &setting, 2, &there);
        for (size_t k = 0; k < steps; k++) {
            step(&here, 1);
            step(&there, 1);
            for (size_t slot = 0; slot < 2; slot++)
                most = fmax(most, fabs(here.crew.members[slot].state.loss -
                                       there.crew.members[slot].state.loss));
        }
        printf("%s %zu: losses of %zu steps differ by at most %.1e\n", forms[f].model, f, steps,
               most);
        well = well && most <= 1e-3;
        wt_fleet_close(&here.crew);
        wt_fleet_close(&there.crew);
    }
    assert_true(well);
}

/* Labels may differ where two logits are equal but for rounding: of 2000 samples, 2. */
static void test_judgements(void **state) {
    wt_context *context = *state;
    enum { SAMPLES = 2000, WINDOWS = (SAMPLES + WT_FLEET_COUNTED - 1) / WT_FLEET_COUNTED };
    size_t samples = at_most(WT_FLEET_COUNTED + 1, SAMPLES), windows = at_most(2, WINDOWS);
    bool well = true;
    for (size_t f = 0; f < FORMS; f++) {
        fleet here, there;
        wt_train_spec setting = setting_of(&forms[f]);
        uint32_t a[3 * WINDOWS], b[3 * WINDOWS];
        wt_fleet_order orders[3];
        size_t differ = 0, right = 0;
        setting.init_scale = f % 2 == 0 ? 5 : 60; /* scores far apart, too */
        open_fleet(context, NULL, &setting, 3, &here);
        open_fleet(context, wt_context_get_device(context), &setting, 3, &there);
        for (size_t i = 0; i < 3; i++)
            orders[i] = (wt_fleet_order){.slot = i, .first = 1001 * i};
        CHECK_OK(context, wt_fleet_host.judge(context, here.crew.fleet, 3, orders, samples, a));
        CHECK_OK(context,
                 there.crew.engine->judge(context, there.crew.fleet, 3, orders, samples, b));
        for (size_t i = 0; i < 3 * windows; i++) {
            differ += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
            right += a[i];
        }
        printf("%s %zu: %zu of %zu right, windows differ by %zu\n", forms[f].model, f, right,
               3 * samples, differ);
        well = well && differ <= 6;
        wt_fleet_close(&here.crew);
        wt_fleet_close(&there.crew);
    }
    assert_true(well);
}

static void check_slots(const fleet *a, size_t slot, const fleet *b, size_t other) {
    wt_context *context = a->crew.context;
    size_t n = a->crew.network->size;
    float *x, *y;
    CHECK_OK(context, WT_NEW2(context, &x, 3, n, "a state"));
    CHECK_OK(context, WT_NEW2(context, &y, 3, n, "a state"));
    CHECK_OK(context, a->crew.engine->get(context, a->crew.fleet, slot, x, x + n, x + 2 * n));
    CHECK_OK(context, b->crew.engine->get(context, b->crew.fleet, other, y, y + n, y + 2 * n));
    assert_memory_equal(x, y, 3 * n * sizeof *x);
    wt_release(x);
    wt_release(y);
}

/* The same bits alone and among others, and when it goes on from what was read back. */
static void test_bits(void **state) {
    wt_context *context = *state;
    wt_device *device = wt_context_get_device(context);
    size_t steps = at_most(2, 5), more = at_most(1, 4);
    for (size_t f = 0; f < FORMS; f += f == 0 ? 3 : 1) {
        fleet alone, many, again;
        wt_train_spec setting = setting_of(&forms[f]);
        setting.validate = 1000;
        open_fleet(context, device, &setting, 1, &alone);
        open_fleet(context, device, &setting, at_most(4, 7), &many);
        step(&alone, steps);
        step(&many, steps);
        check_slots(&alone, 0, &many, 0);
        open_fleet(context, device, &setting, 2, &again);
        size_t n = alone.crew.network->size;
        float *kept;
        CHECK_OK(context, WT_NEW2(context, &kept, 3, n, "a state"));
        CHECK_OK(context,
                 device->fleet->get(context, alone.crew.fleet, 0, kept, kept + n, kept + 2 * n));
        CHECK_OK(context,
                 device->fleet->put(context, again.crew.fleet, 0, kept, kept + n, kept + 2 * n));
        again.crew.members[0].state.step = steps;
        again.crew.members[1].live = false;
        many.crew.members[3].live = false;
        step(&again, more);
        step(&many, more);
        check_slots(&again, 0, &many, 0);
        wt_release(kept);
        wt_fleet_close(&alone.crew);
        wt_fleet_close(&many.crew);
        wt_fleet_close(&again.crew);
    }
}

/* ---- whole trials ---- */

enum { TRIALS = 12 };
typedef struct {
    wt_train_result results[TRIALS];
    size_t told;
} outcomes;

static wt_status keep(void *user, size_t trial, const wt_train_result *result,
                      wt_trainer *trainer) {
    outcomes *of = user;
    assert_null(trainer);
    of->results[trial] = *result;
    of->told++;
    return WT_OK;
}

/* Trials well above and well below their threshold: the same successes, at about the same steps. */
static void test_trials(void **state) {
    wt_context *context = *state;
    wt_train_spec setting;
    wt_fleet_trial trials[TRIALS];
    WT_INIT(wt_train_spec, &setting);
    setting.length = 40;
    setting.steps = 150;
    setting.restarts = 2;
    setting.validation_samples = 2000;
    setting.hasty = true;
    for (size_t i = 0; i < TRIALS; i++)
        trials[i] = (wt_fleet_trial){.seed = 70 + i, .samples = i % 2 == 0 ? 150 : 15};
    outcomes here = {.told = 0}, there = {.told = 0};
    wt_fleet_job job = {
        .setting = &setting, .trials = trials, .count = TRIALS, .done = keep, .user = &here};
    CHECK_OK(context, wt_fleet_run(context, NULL, &wt_fleet_host, &job));
    job.user = &there;
    wt_device *device = wt_context_get_device(context);
    CHECK_OK(context, wt_fleet_run(context, device, device->fleet, &job));
    assert_int_equal(here.told, TRIALS);
    assert_int_equal(there.told, TRIALS);
    for (size_t i = 0; i < TRIALS; i++) {
        printf("m = %zu: success %d at %zu, host %d at %zu; best %.4f, host %.4f\n",
               trials[i].samples, there.results[i].success, there.results[i].success_step,
               here.results[i].success, here.results[i].success_step,
               there.results[i].best_accuracy, here.results[i].best_accuracy);
        assert_int_equal(there.results[i].success, here.results[i].success);
        assert_int_equal(there.results[i].redrawn, here.results[i].redrawn);
    }
}

static void test_refusals(void **state) {
    wt_context *context = *state;
    wt_train_spec setting;
    wt_fleet_trial trial = {.seed = 1, .samples = 40};
    wt_device *device = wt_context_get_device(context);
    WT_INIT(wt_train_spec, &setting);
    setting.length = 10;
    setting.dim = 160;
    wt_fleet_job job = {.setting = &setting, .trials = &trial, .count = 1};
    CHECK_FAILS(context, wt_fleet_run(context, device, device->fleet, &job), WT_USAGE,
                "width 128 and 16 heads at most, not of 160 and 16");
    setting.dim = 64;
    wt_context_set_memory(context, 4000000);
    CHECK_FAILS(context, wt_fleet_run(context, device, device->fleet, &job), WT_MEMORY,
                "memory budget");
    wt_context_set_memory(context, 0);
}

static int open_device(void **state) {
    return check_open(state) == 0 && wt_context_set_device(*state, name) == WT_OK ? 0 : -1;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_gradients, open_device, check_close),
        cmocka_unit_test_setup_teardown(test_losses, open_device, check_close),
        cmocka_unit_test_setup_teardown(test_judgements, open_device, check_close),
        cmocka_unit_test_setup_teardown(test_bits, open_device, check_close),
        cmocka_unit_test_setup_teardown(test_trials, open_device, check_close),
        cmocka_unit_test_setup_teardown(test_refusals, open_device, check_close),
    };
    wt_context *context;
    if (argc < 3 || wt_context_new(&context) != WT_OK)
        return 64;
    name = argv[2];
    small = argc > 4;
    if (argc > 3)
        cmocka_set_test_filter(argv[3]);
    wt_device_look_in(argv[1]);
    wt_status status = wt_context_set_device(context, name);
    if (status != WT_OK)
        printf("skipped: %s\n", wt_context_message(context));
    wt_context_free(context);
    if (status != WT_OK)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
