/* Searches and sweeps on a device: here one whose engine is the host's, so that every number must
 * be that of a run without a device, to the bit. */
#define _GNU_SOURCE
#include "lab/store.h"
#include "lab/sweep.h"
#include "lab/threshold_cases.h"
#include "network/learn/fleet.h"
#include "wattle/store.h"
#include "wattle/sweep.h"

static wt_device fake = {.name = "fake:0", .product = "the host", .fleet = &wt_fleet_host};

static void thresholds(void **state) {
    wt_context *context = *state;
    wt_threshold *found[2];
    for (size_t i = 0; i < 2; i++) {
        wt_threshold_spec setting = tiny();
        setting.all_trials = true;
        train.samples = 0; /* said by every trial */
        context->device = i == 0 ? NULL : &fake;
        CHECK_OK(context, wt_threshold_open(context, &setting, NULL, &found[i]));
        CHECK_OK(context, wt_threshold_run(context, found[i]));
    }
    context->device = NULL;
    assert_int_equal(found[0]->count, found[1]->count);
    assert_true(found[0]->count >= 20);
    for (size_t i = 0; i < found[0]->count; i++) {
        const wt_threshold_row *row = &found[0]->rows[i];
        const wt_threshold_row *other =
            wt_threshold_find(found[1], row->length, row->samples, row->trial);
        assert_non_null(other);
        assert_int_equal(other->result.success, row->result.success);
        assert_int_equal(other->result.runs, row->result.runs);
        assert_int_equal(other->result.steps, row->result.steps);
        assert_memory_equal(&other->result.loss, &row->result.loss, sizeof(double));
    }
    wt_threshold_free(found[0]);
    wt_threshold_free(found[1]);
}

/* A table has trials of one engine. */
static void tables(void **state) {
    wt_context *context = *state;
    for (size_t i = 0; i < 2; i++) {
        wt_threshold_spec setting = tiny();
        wt_threshold *threshold;
        setting.length_count = 1;
        setting.trials = 1;
        context->device = i == 0 ? NULL : &fake;
        CHECK_OK(context, wt_threshold_open(context, &setting, path, &threshold));
        CHECK_OK(context, wt_threshold_run(context, threshold));
        wt_threshold_free(threshold);
        CHECK_OK(context, wt_threshold_open(context, &setting, path, &threshold));
        assert_true(threshold->count > 0);
        wt_threshold_free(threshold);
        context->device = i == 0 ? &fake : NULL;
        CHECK_FAILS(context, wt_threshold_open(context, &setting, path, &threshold), WT_DATA,
                    i == 0 ? "device: host there, fake-the-host here"
                           : "device: fake-the-host there, host here");
        context->device = NULL;
        unlink(path);
    }
}

/* ---- sweeps ---- */

enum { MOST = 64 };
typedef struct {
    char hash[MOST][65], metrics[MOST][1024];
    size_t count, failed;
    char message[256];
} records;

static wt_status note(void *user, const wt_record *record) {
    records *all = user;
    assert_true(all->count < MOST);
    snprintf(all->hash[all->count], sizeof *all->hash, "%s", record->hash);
    snprintf(all->metrics[all->count], sizeof *all->metrics, "%s", record->metrics);
    all->failed += record->failed;
    if (record->failed)
        snprintf(all->message, sizeof all->message, "%s", record->message);
    all->count++;
    return WT_OK;
}

static bool keep_store;

static void run_sweep(wt_context *context, const char *keys, wt_device *device, records *out) {
    wt_sweep_spec *spec;
    wt_plan *plan;
    wt_store *store;
    wt_sweep_options options;
    wt_sweep_report report = WT_SIZED(wt_sweep_report);
    WT_INIT(wt_sweep_options, &options);
    CHECK_OK(context, wt_sweep_spec_parse(context, keys, &spec));
    CHECK_OK(context, wt_plan_new(context, spec, (wt_shard){0, 1}, &plan));
    CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_CREATE, &store));
    context->device = device;
    CHECK_OK(context, wt_sweep_run(context, plan, store, &options, &report));
    context->device = NULL;
    *out = (records){.count = 0};
    CHECK_OK(context, wt_store_walk(context, store, NULL, note, out));
    wt_store_free(store);
    wt_plan_free(plan);
    wt_sweep_spec_free(spec);
    if (!keep_store)
        unlink(path);
}

static void sweeps(void **state) {
    static const char *const keys[] = {
        "experiment=train task=and:2 model=transformer length=6,9 m=20,30 dim=8 heads=2 steps=30 "
        "lr=1e-2 validation-samples=200 test-samples=100 reps=2 seed=4",
        "experiment=threshold task=and:2 model=mlp length=6 m=2,20,30 hidden=8 dim=8 steps=30 "
        "lr=1e-2 validation-samples=200 reps=3 seed=4 restarts=2",
        "experiment=train task=and:2 model=head length=6 m=20 dim=8 steps=20 "
        "validation-samples=200 test-samples=100 gap-starts=1,2 reps=2 seed=4"};
    static records host, device;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        run_sweep(*state, keys[i], NULL, &host);
        run_sweep(*state, keys[i], &fake, &device);
        assert_int_equal(host.count, device.count);
        assert_int_equal(host.failed, 0);
        for (size_t k = 0; k < host.count; k++) {
            size_t at = 0;
            while (at < device.count && strcmp(host.hash[k], device.hash[at]) != 0)
                at++;
            assert_true(at < device.count);
            assert_string_equal(host.metrics[k], device.metrics[at]);
        }
    }
}

/* A store that gets cells of a second engine says so. */
static char remarks[512];
static void hear(void *user, const char *text) {
    (void)user;
    snprintf(remarks, sizeof remarks, "%s", text);
}

static void engines(void **state) {
    wt_context *context = *state;
    static const char *const keys[] = {
        "experiment=threshold task=and:2 model=mlp length=6 m=20 hidden=8 dim=8 steps=5 "
        "validation-samples=20 reps=1 seed=1",
        "experiment=threshold task=and:2 model=mlp length=6 m=20 hidden=8 dim=8 steps=5 "
        "validation-samples=20 reps=1 seed=2"};
    static records found;
    wt_context_set_log(context, hear, NULL);
    for (size_t first = 0; first < 2; first++) {
        remarks[0] = '\0';
        keep_store = true;
        run_sweep(context, keys[0], first == 0 ? NULL : &fake, &found);
        assert_string_equal(remarks, "");
        keep_store = false;
        run_sweep(context, keys[1], first == 0 ? &fake : NULL, &found);
        assert_non_null(strstr(remarks, first == 0 ? "by the host; those of this run are by fake"
                                                   : "those of this run are by the host"));
        assert_int_equal(found.count, 2);
    }
}

#define CELLS(m)                                                                                   \
    "experiment=threshold task=and:2 model=mlp length=6 m=" m " hidden=8 dim=8 steps=5 "           \
    "validation-samples=20 reps=1 seed=1"
#define BALL_CELLS                                                                                 \
    "experiment=train task=and:2 model=head length=6 m=20 dim=8 steps=20 ball=qk.frobenius=1 "     \
    "reps=2 validation-samples=200"

/* Cells of the host that the store had before there was a device are the host's ever after. */
static void engines_before(void **state) {
    static records found;
    wt_context_set_log(*state, hear, NULL);
    keep_store = true;
    run_sweep(*state, CELLS("20"), NULL, &found);
    for (size_t i = 0; i < 2; i++) {
        remarks[0] = '\0';
        keep_store = i == 0;
        run_sweep(*state, i == 0 ? CELLS("21") : CELLS("22"), &fake, &found);
        assert_non_null(strstr(remarks, "by the host; those of this run are by fake"));
    }
}

/* A run that has computed nothing has left nothing to mix with. */
static void engines_of_nothing(void **state) {
    static records found;
    wt_context_set_log(*state, hear, NULL);
    remarks[0] = '\0';
    keep_store = true;
    run_sweep(*state, BALL_CELLS, &fake, &found); /* its cells fail */
    keep_store = false;
    run_sweep(*state, CELLS("20"), NULL, &found);
    assert_string_equal(remarks, "");
}

/* Stores of two engines are merged with a word, whichever comes first, and it is not forgotten. */
static void engines_merged(void **state) {
    wt_context *context = *state;
    static records found;
    static const char *const here[] = {"the host", "fake the host"};
    wt_context_set_log(context, hear, NULL);
    for (size_t first = 0; first < 2; first++) {
        char other[sizeof path + 8], expected[512];
        wt_store *store, *from;
        wt_merge_report report = WT_SIZED(wt_merge_report);
        snprintf(other, sizeof other, "%s.other", path);
        remarks[0] = '\0';
        keep_store = true;
        run_sweep(context, CELLS("20"), first == 0 ? &fake : NULL, &found);
        assert_int_equal(rename(path, other), 0);
        run_sweep(context, CELLS("21"), first == 0 ? NULL : &fake, &found);
        assert_string_equal(remarks, "");
        CHECK_OK(context, wt_store_open(context, path, WT_STORE_MODE_WRITE, &store));
        CHECK_OK(context, wt_store_open(context, other, WT_STORE_MODE_COPY, &from));
        CHECK_OK(context, wt_store_merge(context, store, from, &report));
        snprintf(expected, sizeof expected, "%s holds cells computed by %s; %s has some by %s",
                 path, here[first], other, here[1 - first]);
        assert_string_equal(remarks, expected);
        remarks[0] = '\0'; /* once */
        CHECK_OK(context, wt_store_merge(context, store, from, &report));
        assert_string_equal(remarks, "");
        wt_store_free(from);
        wt_store_free(store);
        keep_store = false;
        run_sweep(context, CELLS("22"), first == 0 ? NULL : &fake, &found);
        assert_non_null(strstr(remarks, "those of this run are by"));
        unlink(other);
    }
}

/* What fleets do not have fails its cells, with a sentence. */
static void balls(void **state) {
    static records found;
    run_sweep(*state, BALL_CELLS, &fake, &found);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.failed, 2);
    assert_non_null(strstr(found.message, "norm balls (qk.frobenius=1) are held on the host"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(thresholds, open_path, close_path),
        cmocka_unit_test_setup_teardown(tables, open_path, close_path),
        cmocka_unit_test_setup_teardown(sweeps, open_path, close_path),
        cmocka_unit_test_setup_teardown(engines, open_path, close_path),
        cmocka_unit_test_setup_teardown(engines_before, open_path, close_path),
        cmocka_unit_test_setup_teardown(engines_of_nothing, open_path, close_path),
        cmocka_unit_test_setup_teardown(engines_merged, open_path, close_path),
        cmocka_unit_test_setup_teardown(balls, open_path, close_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
