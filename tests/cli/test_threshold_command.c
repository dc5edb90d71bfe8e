/* `wattle threshold` as a user runs it. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <time.h>

#include "cli/run.h"

static char table[64];

static int open_folder(void **state) {
    int failed = run_open_folder(state);
    snprintf(table, sizeof table, "%s/t.csv", run_folder);
    return failed;
}

static int close_folder(void **state) {
    return rmdir(run_folder) != 0 ? -1 : check_close(state);
}

#define TINY                                                                                       \
    "threshold --task and:2 --model mlp --hidden 12 --length 4,8,12 --samples 4:40 "               \
    "--resolution 6 --trials 4 --rate 0.7 --restarts 2 --lr 1e-2 --steps 60 --success 0.9 "        \
    "--validation-samples 200 --seed 5 -q "

static const char *with_table(const char *line) {
    static char out[512];
    snprintf(out, sizeof out, "%s -o %s", line, table);
    return out;
}

static void lengths_are_summed_up(void **state) {
    (void)state;
    const run_result *result = run(with_table(TINY "--json"));
    assert_int_equal(result->code, 0);
    json_t *all = json_loads(result->out, JSON_REJECT_DUPLICATES, NULL);
    json_t *points = json_object_get(all, "lengths");
    assert_int_equal(json_array_size(points), 3);
    json_int_t trials = 0;
    for (size_t i = 0; i < 3; i++) {
        json_t *point = json_array_get(points, i), *cells = json_object_get(point, "cells");
        assert_non_null(json_object_get(json_object_get(point, "fitted"), "low"));
        assert_true(json_array_size(cells) > 0);
        for (size_t c = 0; c < json_array_size(cells); c++)
            trials += json_integer_value(json_object_get(json_array_get(cells, c), "trials"));
    }
    assert_int_equal(json_integer_value(json_object_get(all, "trials_run")), trials);
    json_decref(all);
    /* Nothing is left to run; one length more is added; another seed is another table. */
    struct stat before, after;
    assert_int_equal(stat(table, &before), 0);
    CHECK_PRINTS(run(with_table(TINY)), "critical m");
    assert_int_equal(stat(table, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    CHECK_SAYS(run(with_table(TINY "--seed 6")), 65, "another setting or seed");
    CHECK_PRINTS(run(with_table(TINY "--length 4,8,12,16 --plot -")), "success rate");
    assert_int_equal(stat(table, &after), 0);
    assert_true(after.st_size > before.st_size);
    assert_int_equal(unlink(table), 0);
}

/* The table of trials in docs/, with the range cut at 60: nothing is left to run, and T = 400 lies
 * above the range. */
#define CUT                                                                                        \
    "threshold --length 25,50,100:400:100 --samples 10:60 --resolution 10 --trials 40 "            \
    "--restarts 5 --seed 1 -q "

static void copy_table(void) {
    char line[512];
    snprintf(line, sizeof line, "cp %s/../docs/figures/data/and-thresholds.csv %s", TEST_DATA,
             table);
    assert_int_equal(system(line), 0);
}

static void lengths_left_out_of_a_fit_are_told(void **state) {
    (void)state;
    copy_table();
    CHECK_PRINTS(run(with_table(CUT)),
                 "fits through the fitted m of 5 of 6 lengths; left out, without one: T = 400\n");
    CHECK_PRINTS(run(with_table(CUT "--length 50,100,200")),
                 "fits through the fitted m of 3 of 3 lengths\n");
    json_t *all = run_json(with_table(CUT "--json")), *fits = json_object_get(all, "fits");
    assert_int_equal(json_array_size(fits), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(run_member(json_array_get(fits, i), "lengths") == 5);
        assert_true(run_member(json_array_get(fits, i), "left_out") == 1);
    }
    json_decref(all);
    assert_int_equal(unlink(table), 0);
}

/* A table of a GPU is read where there is none, and is not gone on with there. */
#define GROWTH                                                                                     \
    "threshold --length 25,50,100,200,400,800,1600 --samples 10:260 --resolution 5 --trials 100 "  \
    "--seed 43001 -q "
static void a_table_is_read_anywhere(void **state) {
    (void)state;
    char line[512];
    struct stat before, after;
    snprintf(line, sizeof line, "gunzip -c %s/../docs/figures/data/growth-transformer.csv.gz >%s",
             TEST_DATA, table);
    assert_int_equal(system(line), 0);
    assert_int_equal(stat(table, &before), 0);
    CHECK_SAYS(run(with_table(GROWTH)), 65, "device: cuda-NVIDIA-H200 there, host here");
    CHECK_PRINTS(run(with_table(GROWTH "--dry-run")),
                 "best exponent of T (0 is log): 0.548 (0.404, 0.677); by 7 lengths\n");
    CHECK_PRINTS(run(with_table(GROWTH "--dry-run --device cuda --length 1600,6400")), "not tried");
    CHECK_SAYS(run(with_table(GROWTH "--dry-run --length 6400 --plot -")), 65, "no whole block");
    CHECK_SAYS(run(with_table(GROWTH "--dry-run --seed 1")), 65, "seed: 43001 there, 1 here");
    assert_int_equal(stat(table, &after), 0);
    assert_int_equal(before.st_mtime, after.st_mtime);
    assert_int_equal(unlink(table), 0);
    CHECK_SAYS(run(with_table(GROWTH "--dry-run")), 66, "t.csv");
    CHECK_SAYS(run(GROWTH "--dry-run"), 64, "--output");
}

/* Clopper and Pearson, to the digits told, of the three m nearest the critical one: inside the
 * range, at its upper end, and above it. */
static void rates_around_the_critical_m_are_told(void **state) {
    (void)state;
    copy_table();
    const run_result *result = run(with_table(CUT));
    CHECK_PRINTS(result, "       T         m  successes/trials  rate (95% interval)\n"
                         "      25        10  7/16              0.438 (0.198, 0.701)\n"
                         "      25        20  36/40             0.900 (0.763, 0.972)\n"
                         "      25        30  37/40             0.925 (0.796, 0.984)\n"
                         "      50        20  6/16              0.375 (0.152, 0.646)\n");
    CHECK_PRINTS(result, "     200        40  7/16              0.438 (0.198, 0.701)\n"
                         "     200        50  23/32             0.719 (0.533, 0.863)\n"
                         "     200        60  35/40             0.875 (0.732, 0.958)\n");
    CHECK_PRINTS(result, "     400        40  1/16              0.062 (0.002, 0.302)\n"
                         "     400        50  15/24             0.625 (0.406, 0.812)\n"
                         "     400        60  14/24             0.583 (0.366, 0.779)\n\n");
    assert_int_equal(unlink(table), 0);
}

/* The critical m of the grid and the fitted one do not contradict each other: a fitted m below the
 * largest tried, none of which is critical, is explained. */
static void a_row_agrees_with_itself(void **state) {
    (void)state;
    for (int seed = 37; seed < 41; seed++) {
        char line[256], word[16], fitted[32];
        snprintf(line, sizeof line,
                 "threshold --task and:2 --model mlp --hidden 16 --length 5 --samples 10:30 "
                 "--resolution 10 --trials 5 --steps 60 --all-trials --validation-samples 200 "
                 "--success 0.9 -q --seed %d",
                 seed);
        const char *out = run(line)->out, *row = strchr(out, '\n');
        bool explained = strstr(out, "critical m: it and every larger m") != NULL;
        assert_non_null(row);
        if (sscanf(row, " 5 %15s to 30 %31s", word, fitted) == 2 && strcmp(word, "none") == 0)
            assert_true(strcmp(fitted, "-") != 0 && explained);
        else if (sscanf(row, " 5 above 30 %31s", fitted) == 1)
            assert_string_equal(fitted, "-");
    }
}

/* Where nothing succeeds the largest m tried is told, which here is not the end of the range. */
static void what_was_not_reached_is_told(void **state) {
    (void)state;
    CHECK_PRINTS(run(TINY "--samples 12:31 --resolution 7 --steps 1 --success 1"), "above 26  ");
    CHECK_PRINTS(run(TINY "--samples 12:31 --resolution 7 --steps 1 --success 1"),
                 "0 of 3 lengths have a fitted m");
    /* and drawn: a small letter at each length, where a critical m has the large one */
    CHECK_PRINTS(run(TINY "--samples 12:31 --resolution 7 --steps 1 --success 1 --plot -"),
                 "critical samples: critical m");
    CHECK_PRINTS(run(TINY "--samples 12:31 --resolution 7 --steps 1 --success 1 --plot -"), " d ");
}

/* Outputs that cannot be are told before the search, which here needs too much memory; a picture
 * that fails in the end loses no result. */
static void outputs_are_tried_first_and_drawn_last(void **state) {
    static const char *const outputs[] = {"-o none/t.csv", "--plot none/t.svg", "-o ."};
    (void)state;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        char line[512];
        snprintf(line, sizeof line, TINY "--trials 1000000000 --mem 10M %s", outputs[i]);
        CHECK_SAYS(run_in_folder(line), 73, "cannot be created");
    }
    const run_setting no_gnuplot = {.directory = run_folder, .variable = "PATH=/nowhere"};
    const run_result *result = run_with(TINY "--plot t.svg", &no_gnuplot);
    CHECK_SAYS(result, 69, "gnuplot");
    assert_non_null(strstr(result->out, "best exponent of T"));
    result = run_with(TINY "--json --plot t.svg", &no_gnuplot);
    assert_int_equal(result->code, 69);
    json_t *all = json_loads(result->out, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_array_size(json_object_get(all, "lengths")), 3);
    json_decref(all);
}

#define ENDLESS                                                                                    \
    "threshold --task parity:4 --model mlp --hidden 40 --length 20,24 --samples 10:5000 "          \
    "--trials 1000 --steps 30 --restarts 1 --validation-samples 100 --success 1 -q "               \
    "--keep-ambiguous --threads 2"

/* Of two runs on one table the second is refused at once: each would write over the rows of the
 * other. What was killed holds nothing. */
static void a_table_has_one_writer(void **state) {
    struct stat about;
    (void)state;
    pid_t child = run_start(with_table(ENDLESS), -1);
    while (stat(table, &about) != 0 && kill(child, 0) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    CHECK_SAYS(run(with_table(ENDLESS)), 73, "t.csv: another run is writing to it");
    CHECK_SAYS(run_in_folder(ENDLESS " -o ./t.csv"), 73, "another run is writing to it");
    assert_int_equal(stat(table, &about), 0);
    assert_true(WIFSIGNALED(run_end(child, SIGKILL)));
    assert_int_equal(unlink(table), 0);
    CHECK_PRINTS(run(with_table(TINY)), "critical m"); /* and nothing is left beside it */
    assert_int_equal(unlink(table), 0);
}

/* Trials that are finished when Ctrl-C comes stay, and the command goes on from them. */
static void ctrl_c_keeps_trials(void **state) {
    struct stat about;
    (void)state;
    pid_t child = run_start(with_table(ENDLESS), -1);
    RUN_UNTIL(child, stat(table, &about) == 0);
    int status = run_end(child, SIGINT);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 75);
    assert_int_equal(stat(table, &about), 0);
    assert_int_equal(unlink(table), 0);
}

#define KILLED                                                                                     \
    "threshold --task and:2 --model mlp --hidden 24 --length 8,12 --samples 4:100 "                \
    "--resolution 8 --trials 20 --restarts 2 --lr 1e-2 --steps 150 --success 0.95 "                \
    "--validation-samples 500 --seed 5 -q "

/* The table as it is, "" where there is none. Returns its rows. */
static size_t read_table(char *out, size_t room) {
    FILE *file = fopen(table, "r");
    size_t bytes = file == NULL ? 0 : fread(out, 1, room - 1, file), rows = 0;
    out[bytes] = '\0';
    if (file != NULL)
        fclose(file);
    for (const char *at = strchr(out, '\n'); at != NULL && at[1] != '\0'; at = strchr(at + 1, '\n'))
        rows++;
    return rows;
}

/* The trials of a search that was stopped may be a few more or fewer, its verdicts not others. */
static void check_same_critical(const json_t *whole, const json_t *resumed) {
    json_t *left = json_object_get(whole, "lengths"), *right = json_object_get(resumed, "lengths");
    assert_int_equal(json_array_size(left), json_array_size(right));
    for (size_t i = 0; i < json_array_size(left); i++)
        assert_true(run_member(json_array_get(left, i), "critical") ==
                    run_member(json_array_get(right, i), "critical"));
}

/* Killed as soon as it has written something, up to four times as far as there is work: what is in
 * the table is whole and stays, and the search ends where one that was left alone does. One that
 * ends before it is seen writing starts afresh. */
static void a_killed_search_goes_on(void **state) {
    static char before[1 << 16], after[1 << 16];
    (void)state;
    json_t *whole = run_json(KILLED "--json");
    bool ended = false;
    int afresh = 0;
    for (int k = 0; k < 4 && !ended; k++) {
        size_t rows = read_table(before, sizeof before), now = rows;
        pid_t child = run_start(with_table(KILLED), -1);
        RUN_UNTIL(child, (now = read_table(after, sizeof after)) > rows);
        ended = !WIFSIGNALED(run_end(child, SIGKILL));
        if (ended && k == 0) {
            assert_true(++afresh < 20);
            assert_int_equal(unlink(table), 0);
            ended = false;
            k = -1;
            continue;
        }
        now = read_table(after, sizeof after);
        assert_true(now > rows || ended);
        assert_memory_equal(after, before, strlen(before));
        assert_true(after[strlen(after) - 1] == '\n');
    }
    json_t *resumed = run_json(with_table(KILLED "--json"));
    check_same_critical(whole, resumed);
    assert_int_equal(read_table(before, sizeof before), run_member(resumed, "trials_run"));
    assert_memory_equal(before, after, strlen(after));
    json_decref(whole);
    json_decref(resumed);
    assert_int_equal(unlink(table), 0);
}

static void bad_input_is_refused(void **state) {
    const struct {
        const char *words, *says;
    } cases[] = {
        {"--samples 10", "10"},
        {"--samples 0:10", "'0:10' is no range of whole numbers"},
        {"--samples 20:10", "20:10"},
        {"--samples 1.5:10", "'1.5:10' is no range of whole numbers"},
        {"--length 2 --task and:3", "2 bits cannot hold the 3"},
        {"--length 0", "length must be a whole number of 1 or more"},
        {"--length 20,10", "10 comes after 20"},
        {"--rate 1", "in (0, 1), not 1"},
        {"--success 1.5", "at most 1, not 1.5"},
        {"--heads 7", "heads that divide its dim"},
        {"--resolution 0", "--resolution: '0' is not"},
        {"--trials 0", "--trials: '0' is not"},
        {"--ball x", "no ball: 'x'"},
        {"--model mlp --heads 2", "--heads means nothing to --model mlp"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line, "threshold %s", cases[i].words);
        CHECK_SAYS(run(line), 64, cases[i].says);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_summed_up),
        cmocka_unit_test(lengths_left_out_of_a_fit_are_told),
        cmocka_unit_test(a_table_is_read_anywhere),
        cmocka_unit_test(rates_around_the_critical_m_are_told),
        cmocka_unit_test(a_row_agrees_with_itself),
        cmocka_unit_test(what_was_not_reached_is_told),
        cmocka_unit_test(outputs_are_tried_first_and_drawn_last),
        cmocka_unit_test(a_table_has_one_writer),
        cmocka_unit_test(ctrl_c_keeps_trials),
        cmocka_unit_test(a_killed_search_goes_on),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
