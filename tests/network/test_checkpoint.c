/* Checkpoints, by the invariants numbered in src/network/learn/checkpoint.c. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "network/learn/fleet.h"
#include "network/train_cases.h"
#include "wattle/io.h"

static char path[64];

static int open_path(void **state) {
    int file;
    snprintf(path, sizeof path, "/tmp/wattle-checkpoint-XXXXXX");
    file = mkstemp(path);
    return file < 0 || close(file) != 0 ? -1 : check_open(state);
}

static int close_path(void **state) {
    unlink(path);
    return check_close(state);
}

/* Invariant 2, stopped at any step: before a validation, at one, at the end of a run, at the end.
 */
static void resumed_trials_give_the_same_bits(void **state) {
    const char *kinds[] = {"transformer", "head", "mlp"};
    for (size_t k = 0; k < 3; k++) {
        wt_train_spec setting = small_setting(kinds[k]);
        wt_trainer *whole, *part, *resumed;
        setting.steps = 12;
        setting.validate = 5;
        setting.restarts = 2;
        setting.success = 1;
        setting.validation_samples = 50;
        setting.rate = 1e-4; /* no success: all runs are taken */
        if (k == 0)
            setting.block_dropout = setting.attention_dropout = 0.1;
        if (k == 1)
            setting.balls = "v.two-one=1.5,v.spectral=0.5";
        if (k == 2)
            setting.online = 16;
        run_small(*state, &setting, SIZE_MAX, &whole);
        for (size_t stop = 0; stop <= 24; stop += k == 2 ? 1 : 4) {
            run_small(*state, &setting, stop, &part);
            CHECK_OK(*state, wt_trainer_save(*state, part, path));
            wt_trainer_free(part);
            CHECK_OK(*state, wt_trainer_new(*state, &setting, &resumed));
            CHECK_OK(*state, wt_trainer_load(*state, resumed, path));
            CHECK_OK(*state, wt_trainer_run(*state, resumed, SIZE_MAX));
            check_same(whole, resumed);
            wt_trainer_free(resumed);
        }
        wt_trainer_free(whole);
    }
}

/* Invariant 3. */
static void other_settings_are_refused(void **state) {
    wt_train_spec setting = small_setting("transformer");
    wt_trainer *trainer, *before;
    run_small(*state, &setting, 3, &trainer);
    CHECK_OK(*state, wt_trainer_save(*state, trainer, path));
    wt_trainer_free(trainer);
#define REFUSED(change, words)                                                                     \
    do {                                                                                           \
        setting = small_setting("transformer");                                                    \
        change;                                                                                    \
        run_small(*state, &setting, 2, &trainer);                                                  \
        run_small(*state, &setting, 2, &before);                                                   \
        CHECK_FAILS(*state, wt_trainer_load(*state, trainer, path), WT_DATA, words);               \
        check_same(before, trainer);                                                               \
        wt_trainer_free(trainer);                                                                  \
        wt_trainer_free(before);                                                                   \
    } while (0)
    REFUSED(setting.dim = 8, "its 'dim' is '16', that of this run '8'");
    REFUSED(setting.length = 9, "its 'length' is '8', that of this run '9'");
    REFUSED(setting.seed = 5, "of another run");
    REFUSED(setting.rate = 0.5, "its 'lr' is");
    REFUSED(setting.samples = 61, "its 'samples' is '60'");
    REFUSED(setting.balls = "v.spectral=1", "its 'ball' is '', that of this run 'v.spectral=1'");
    REFUSED(setting.settle = 0.5, "its 'settle' is '', that of this run '0.5'");
#undef REFUSED
}

/* Invariant 3: bits are a device's own. */
static void other_devices_are_refused(void **state) {
    wt_context *context = *state;
    wt_device fake = {.name = "fake:0", .product = "the host", .fleet = &wt_fleet_host};
    for (size_t i = 0; i < 2; i++) {
        wt_train_spec setting = small_setting("transformer");
        wt_trainer *trainer, *resumed;
        context->device = i == 0 ? NULL : &fake;
        run_small(context, &setting, 3, &trainer);
        CHECK_OK(context, wt_trainer_save(context, trainer, path));
        CHECK_OK(context, wt_trainer_new(context, &setting, &resumed));
        CHECK_OK(context, wt_trainer_load(context, resumed, path));
        check_same(trainer, resumed);
        context->device = i == 0 ? &fake : NULL;
        CHECK_FAILS(context, wt_trainer_load(context, resumed, path), WT_DATA,
                    i == 0 ? "was begun on the host, which has other bits than fake the host"
                           : "was begun on fake the host, which has other bits than the host");
        check_same(trainer, resumed);
        context->device = NULL;
        wt_trainer_free(trainer);
        wt_trainer_free(resumed);
    }
}

/* Keys as they were before. */
static void rename_keys(wt_trainer *trainer, bool back) {
    size_t count, renamed = 0;
    const wt_field *fields = wt_train_fields(&count);
    for (size_t i = 0; i < trainer->about_count; i++)
        for (size_t j = 0; j < count; j++) {
            const char *now = wt_field_option(&fields[j]), *before = fields[j].file;
            if (before == NULL || strcmp(trainer->about[i].key, back ? before : now) != 0)
                continue;
            trainer->about[i].key = back ? now : before;
            renamed++;
        }
    assert_int_equal(renamed, 3); /* the dropouts */
}

/* One of a time without `settle` says nothing of it, and is of a trial that never settles. */
static void older_checkpoints_are_resumed(void **state) {
    wt_train_spec setting = small_setting("mlp");
    wt_trainer *trainer, *other;
    run_small(*state, &setting, 3, &trainer);
    size_t all = trainer->about_count, at = 0;
    while (at < all && strcmp(trainer->about[at].key, "settle") != 0)
        at++;
    assert_true(at < all);
    wt_metadata settle = trainer->about[at];
    trainer->about[at] = trainer->about[all - 1];
    trainer->about[all - 1] = settle;
    trainer->about_count = all - 1;
    rename_keys(trainer, false);
    CHECK_OK(*state, wt_trainer_save(*state, trainer, path));
    rename_keys(trainer, true);
    trainer->about_count = all;
    run_small(*state, &setting, 0, &other);
    CHECK_OK(*state, wt_trainer_load(*state, other, path));
    check_same(trainer, other);
    wt_trainer_free(other);
    setting.settle = 0.5;
    run_small(*state, &setting, 0, &other);
    CHECK_FAILS(*state, wt_trainer_load(*state, other, path), WT_DATA, "its 'settle' is ''");
    wt_trainer_free(other);
    setting.settle = 0;
    setting.embedding_dropout = 0.25;
    run_small(*state, &setting, 0, &other);
    CHECK_FAILS(*state, wt_trainer_load(*state, other, path), WT_DATA,
                "its 'embedding-dropout' is '0', that of this run '0.25'");
    wt_trainer_free(other);
    wt_trainer_free(trainer);
}

/* A checkpoint with one thing changed, written by the same writer. */
static void save_spoilt(wt_context *context, const wt_trainer *trainer, size_t what) {
    size_t n = trainer->size - (what == 0);
    double *zero, state[8] = {0, 3, 0.5, 0.5}, history[5] = {0, 3, 0.5, 0.5, 0.5};
    wt_metadata about[64];
    assert_true(trainer->about_count < 64);
    CHECK_OK(context, WT_NEW_ZERO(context, &zero, trainer->size, "a test"));
    memcpy(about, trainer->about, trainer->about_count * sizeof *about);
    about[trainer->about_count] = (wt_metadata){"checkpoint", what == 1 ? "2" : "1"};
    if (what == 2)
        zero[5] = NAN;
    if (what == 3)
        state[1] = 1e9;
    if (what == 4)
        history[4] = 2;
    if (what == 5)
        state[0] = -1;
    const wt_tensor tensors[] = {
        {.name = "parameters", .type = WT_TYPE_F64, .rank = 1, .shape = {n}, .values = zero},
        {.name = "first_moments", .type = WT_TYPE_F64, .rank = 1, .shape = {n}, .values = zero},
        {.name = "second_moments", .type = WT_TYPE_F64, .rank = 1, .shape = {n}, .values = zero},
        {.name = "state", .type = WT_TYPE_F64, .rank = 1, .shape = {8}, .values = state},
        {.name = "history", .type = WT_TYPE_F64, .rank = 2, .shape = {1, 5}, .values = history}};
    CHECK_OK(context, wt_safetensors_write(context, path, tensors, what == 6 ? 4 : 5, about,
                                           trainer->about_count + (what != 7)));
    wt_release(zero);
}

static void spoilt_files_are_refused(void **state) {
    const char *words[] = {"'parameters' has",     "another version",      "parameters[5] is nan",
                           "state makes no sense", "row 0 of the history", "state makes no sense",
                           "has no history",       "is no checkpoint"};
    wt_train_spec setting = small_setting("mlp");
    wt_trainer *trainer, *before;
    run_small(*state, &setting, 2, &trainer);
    run_small(*state, &setting, 2, &before);
    for (size_t what = 0; what < sizeof words / sizeof *words; what++) {
        save_spoilt(*state, trainer, what);
        CHECK_FAILS(*state, wt_trainer_load(*state, trainer, path), WT_DATA, words[what]);
        check_same(before, trainer);
    }
    save_spoilt(*state, trainer, SIZE_MAX); /* nothing spoilt: the maker itself is right */
    CHECK_OK(*state, wt_trainer_load(*state, trainer, path));
    CHECK_FAILS(*state, wt_trainer_load(*state, trainer, "/nowhere/at.all"), WT_NO_INPUT,
                "no such file");
    wt_trainer_free(trainer);
    wt_trainer_free(before);
}

/* Invariant 1: whichever write fails, the file is the one before. */
static void a_failed_write_leaves_the_old_one(void **state) {
    wt_train_spec setting = small_setting("mlp");
    wt_context *context = *state;
    wt_trainer *old, *new, *loaded;
    bool failed = true;
    run_small(context, &setting, 3, &old);
    run_small(context, &setting, 6, &new);
    CHECK_OK(context, wt_trainer_save(context, old, path));
    for (long k = 1; failed; k++) {
        atomic_store(&context->write_to_fail, k);
        failed = wt_trainer_save(context, new, path) != WT_OK;
        atomic_store(&context->write_to_fail, 0);
        CHECK_OK(context, wt_trainer_new(context, &setting, &loaded));
        CHECK_OK(context, wt_trainer_load(context, loaded, path));
        check_same(failed && loaded->state.step == 3 ? old : new, loaded);
        assert_true(k > 1 || (failed && loaded->state.step == 3));
        wt_trainer_free(loaded);
    }
    wt_trainer_free(old);
    wt_trainer_free(new);
}

static void models_are_written_by_name(void **state) {
    wt_train_spec setting = small_setting("transformer");
    wt_trainer *trainer;
    wt_file *file;
    double row[16];
    run_small(*state, &setting, 2, &trainer);
    CHECK_OK(*state, wt_trainer_save_model(*state, trainer, path));
    CHECK_OK(*state, wt_file_open(*state, path, &file));
    assert_int_equal(wt_file_count(file), 21);
    assert_string_equal(wt_file_metadata(file, "kind"), "transformer");
    assert_string_equal(wt_file_metadata(file, "length"), "8");
    assert_string_equal(wt_file_metadata(file, "hidden"), "64");
    const wt_array *array = wt_file_find(file, "wq");
    assert_true(array->rank == 2 && array->shape[0] == 16 && array->type == WT_TYPE_F64);
    array = wt_file_find(file, "bq");
    assert_true(array->rank == 1 && array->shape[0] == 16);
    CHECK_OK(*state, wt_file_read(*state, file, array, row));
    for (size_t i = 0; i < 16; i++)
        assert_true(row[i] ==
                    (double)trainer->parameters[wt_train_matrix_at(trainer, "bq", 0).offset + i]);
    wt_file_free(file);
    wt_trainer_free(trainer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumed_trials_give_the_same_bits),
        cmocka_unit_test(other_settings_are_refused),
        cmocka_unit_test(other_devices_are_refused),
        cmocka_unit_test(older_checkpoints_are_resumed),
        cmocka_unit_test(spoilt_files_are_refused),
        cmocka_unit_test(a_failed_write_leaves_the_old_one),
        cmocka_unit_test(models_are_written_by_name),
    };
    return cmocka_run_group_tests(tests, open_path, close_path);
}
