/* Tables and settings that a search for critical sample sizes does not take. */
#define _GNU_SOURCE
#include "lab/threshold_cases.h"

static void put(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void foreign_files_are_refused(void **state) {
#define HEAD                                                                                       \
    "setting,length,samples,trial,success,runs,success_step,best_accuracy,redrawn,seconds\n"
    wt_threshold_spec setting = tiny();
    wt_threshold *threshold;
    char good[256], text[1024];
    CHECK_OK(*state, wt_threshold_open(*state, &setting, NULL, &threshold));
    snprintf(good, sizeof good, "%016llx", (unsigned long long)threshold->key);
    const struct {
        const char *rest, *words;
    } rows[] = {
        {",6,4,0,1,1,10,0.95,0,0.1", "breaks off"},
        {",6,4,0,1,1,10,0.95,0\n", "line 2 is no trial"},
        {",6,4,0,1,1,10,0.95,0,0.1,7\n", "line 2 is no trial"},
        {",6,4,0,2,1,10,0.95,0,0.1\n", "line 2 is no trial"},
        {",6,4,0,1,1,,0.95,0,0.1\n", "line 2 is no trial"},
        {",6,4,0,0,1,10,0.95,0,0.1\n", "line 2 is no trial"},
        {",6,4,0,1,1,10,1.95,0,0.1\n", "line 2 is no trial"},
        {",6,4,-1,1,1,10,0.95,0,0.1\n", "line 2 is no trial"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(text, sizeof text, HEAD "%s%s", good, rows[i].rest);
        put(text);
        CHECK_FAILS(*state, wt_threshold_read(*state, threshold, path), WT_DATA, rows[i].words);
    }
    put(HEAD "0123456789abcdef,6,4,0,1,1,10,0.95,0,0.1\n");
    CHECK_FAILS(*state, wt_threshold_read(*state, threshold, path), WT_DATA,
                "another setting or seed");
    CHECK_FAILS(*state, wt_threshold_read(*state, threshold, path), WT_DATA,
                "task, network, training, restarts and seed must be those of the table");
    put("a,b\n1,2\n");
    CHECK_FAILS(*state, wt_threshold_read(*state, threshold, path), WT_DATA, "no table of trials");
    put("");
    CHECK_FAILS(*state, wt_threshold_read(*state, threshold, path), WT_DATA, "no table of trials");
    assert_int_equal(threshold->count, 0);
    snprintf(text, sizeof text, HEAD "%s,6,4,0,1,1,10,0.95,0,0.1\n%s,6,4,0,0,0,,,1000,0.1\n", good,
             good);
    put(text);
    CHECK_FAILS(*state, wt_threshold_read(*state, threshold, path), WT_DATA, "second time");
    unlink(path);
    wt_threshold_free(threshold);
#undef HEAD
}

/* A table says its setting, and what differs is named. */
static void what_differs_is_told(void **state) {
    const wt_threshold_row row = {.length = 6, .samples = 4, .result = {.runs = 1}};
    wt_threshold_spec setting = tiny(), other;
    wt_threshold *threshold;
    CHECK_OK(*state, wt_threshold_open(*state, &setting, NULL, &threshold));
    CHECK_OK(*state, wt_threshold_add(*state, threshold, &row));
    CHECK_OK(*state, wt_threshold_write(*state, threshold, NULL, 0, path));
    wt_threshold_free(threshold);
#define DIFFERS(change, words)                                                                     \
    do {                                                                                           \
        other = tiny();                                                                            \
        change;                                                                                    \
        CHECK_FAILS(*state, wt_threshold_open(*state, &other, path, &threshold), WT_DATA, words);  \
    } while (0)
    DIFFERS(other.seed = 7, ": seed: 3 there, 7 here");
    DIFFERS(train.restarts = 5, ": restarts: 2 there, 5 here");
    DIFFERS(train.hidden = 16, ": hidden: 12 there, 16 here");
    DIFFERS(train.steps = 1000, ": steps: 60 there, 1000 here");
    DIFFERS(train.noise = 0.1, ": noise: 0 there, 0.1 here");
    DIFFERS(train.probability = 0.25, ": probability: 0 there, 0.25 here");
    DIFFERS(train.task = "or:2", ": task: and:2 there, or:2 here");
    DIFFERS((other.seed = 7, train.restarts = 5),
            ": restarts: 2 there, 5 here; seed: 3 there, 7 here");
#undef DIFFERS
    assert_int_equal(unlink(path), 0);
}

/* A table that is only read is not written, nor held: another search may have it, and may have
 * written trials that are ahead of others. */
static void what_is_only_read_is_not_run(void **state) {
    const wt_threshold_row row = {.length = 6, .samples = 4, .result = {.runs = 1}};
    const wt_threshold_row later = {.length = 6, .samples = 4, .trial = 2, .result = {.runs = 1}};
    const wt_threshold_row *ahead[] = {&later};
    wt_threshold_spec setting = tiny();
    wt_threshold *writer, *reader;
    CHECK_OK(*state, wt_threshold_open(*state, &setting, path, &writer));
    CHECK_OK(*state, wt_threshold_add(*state, writer, &row));
    CHECK_OK(*state, wt_threshold_write(*state, writer, ahead, 1, path));
    setting.as_made = true;
    CHECK_OK(*state, wt_threshold_open(*state, &setting, path, &reader));
    assert_int_equal(wt_threshold_trials(reader), 2);
    assert_non_null(wt_threshold_find(reader, 6, 4, 2));
    CHECK_FAILS(*state, wt_threshold_run(*state, reader), WT_USAGE, "only read");
    wt_threshold_free(reader);
    wt_threshold_free(writer);
    assert_int_equal(unlink(path), 0);
    CHECK_FAILS(*state, wt_threshold_open(*state, &setting, path, &reader), WT_NO_INPUT, "");
    CHECK_FAILS(*state, wt_threshold_open(*state, &setting, NULL, &reader), WT_USAGE,
                "none is given");
}

static void bad_settings_are_refused(void **state) {
    static const size_t falling[] = {10, 6}, short_one[] = {1, 6};
    wt_threshold *threshold;
#define REFUSED(change, words)                                                                     \
    do {                                                                                           \
        wt_threshold_spec setting = tiny();                                                        \
        change;                                                                                    \
        CHECK_FAILS(*state, wt_threshold_open(*state, &setting, NULL, &threshold), WT_USAGE,       \
                    words);                                                                        \
        wt_threshold_free(threshold);                                                              \
    } while (0)
    REFUSED(setting.low = 0, "lo:hi with 1 <= lo <= hi, not 0:40");
    REFUSED(setting.low = 50, "not 50:40");
    REFUSED(setting.rate = 1, "in (0, 1), not 1");
    REFUSED(setting.trials = 0, "must be 1 or more");
    REFUSED(setting.lengths = falling, "6 comes after 10");
    REFUSED(setting.lengths = short_one, "1 bits cannot hold the 2 relevant ones");
    REFUSED(train.online = 5, "not online");
    REFUSED(train.relevant = short_one, "draws its relevant positions");
    REFUSED(train.success = 2, "at most 1, not 2");
#undef REFUSED
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(what_differs_is_told),
        cmocka_unit_test(what_is_only_read_is_not_run),
        cmocka_unit_test(bad_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, open_path, close_path);
}
