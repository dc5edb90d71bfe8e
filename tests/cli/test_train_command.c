/* `wattle train` as a user runs it: results, files, checkpoints through Ctrl-C, kill -9 and a full
 * disk, and what is refused. */
#define _GNU_SOURCE
#include <jansson.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/run.h"
#include "wattle/io.h"

static int close_folder(void **state) {
    return rmdir(run_folder) != 0 ? -1 : check_close(state);
}

static const char *path_of(const char *name) {
    static char paths[4][128];
    static size_t next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof *paths, "%s/%s", run_folder, name);
    return path;
}

static bool exists(const char *name) {
    struct stat about;
    return stat(path_of(name), &about) == 0;
}

static void remove_file(const char *name) {
    assert_int_equal(unlink(path_of(name)), 0);
}

static size_t read_file(const char *name, char *out, size_t room) {
    FILE *file = fopen(path_of(name), "rb");
    assert_non_null(file);
    size_t bytes = fread(out, 1, room, file);
    assert_true(bytes < room);
    fclose(file);
    return bytes;
}

static void check_same_file(const char *left, const char *right) {
    static char a[1 << 17], b[1 << 17];
    size_t bytes = read_file(left, a, sizeof a);
    assert_int_equal(read_file(right, b, sizeof b), bytes);
    assert_memory_equal(a, b, bytes);
}

#define ANY_SMALL                                                                                  \
    "train --task and:2 --length 8 --samples 60 --dim 8 --lr 1e-2 --validation-samples 300 "       \
    "--test-samples 300 --success 0.97 --seed 3 "
#define SMALL ANY_SMALL "--heads 2 "

static double real_of(const json_t *all, const char *key) {
    assert_true(json_is_real(json_object_get(all, key)));
    return json_real_value(json_object_get(all, key));
}

static void a_success_is_told_and_written(void **state) {
    wt_file *file;
    const run_result *result = run(run_line(SMALL "--dropout 0 --json -o {tmp}/model.safetensors"));
    assert_int_equal(result->code, 0);
    assert_string_equal(result->err, "");
    json_t *all = json_loads(result->out, JSON_REJECT_DUPLICATES, NULL);
    assert_true(json_is_true(json_object_get(all, "success")));
    json_int_t step = json_integer_value(json_object_get(all, "success_step"));
    assert_true(step > 0 && step % 10 == 0);
    assert_true(real_of(all, "best_accuracy") > 0.97);
    assert_true(real_of(all, "gap_low") < real_of(all, "gap_high"));
    assert_true(real_of(json_object_get(all, "attention"), "best_mass") > 0.2);
    assert_int_equal(json_array_size(json_object_get(all, "relevant")), 2);
    assert_int_equal(json_array_size(json_object_get(json_object_get(all, "attention"), "best")),
                     9);
    assert_int_equal(json_array_size(json_object_get(all, "history")), step / 10);
    assert_string_equal(json_string_value(json_object_get(all, "output")),
                        path_of("model.safetensors"));
    json_decref(all);
    CHECK_OK(*state, wt_file_open(*state, path_of("model.safetensors"), &file));
    assert_string_equal(wt_file_metadata(file, "kind"), "transformer");
    assert_string_equal(wt_file_metadata(file, "task"), "and:2");
    assert_non_null(wt_file_find(file, "pos_emb"));
    wt_file_free(file);
    remove_file("model.safetensors");
}

static void a_failure_writes_no_model(void **state) {
    (void)state;
    const run_result *result =
        run(run_line(SMALL "--steps 10 --lr 1e-9 --restarts 2 -o {tmp}/model.safetensors"));
    CHECK_SAYS(result, 1, "the best accuracy of 2 runs was");
    assert_non_null(strstr(result->out, "NO, in 2 runs"));
    assert_false(exists("model.safetensors"));
    /* as the help says: the network is not, picture and state are */
    assert_non_null(strstr(run("train --help")->out, "no network is written"));
    assert_null(strstr(run("train --help")->out, "no file is written"));
    assert_int_equal(run(run_line(SMALL "--steps 10 --lr 1e-9 --plot {tmp}/run.svg --checkpoint "
                                        "{tmp}/c.safetensors -o {tmp}/model.safetensors"))
                         ->code,
                     1);
    assert_false(exists("model.safetensors"));
    remove_file("run.svg");
    remove_file("c.safetensors");
    /* to the end there is no goal */
    result = run(run_line(SMALL "--steps 10 --lr 1e-9 --to-end -o {tmp}/model.safetensors"));
    assert_int_equal(result->code, 0);
    remove_file("model.safetensors");
}

/* The law of the inputs is told, and a remark where one label is the rarer. */
static void the_law_of_the_inputs_is_told(void **state) {
    (void)state;
    json_t *all = run_json(SMALL "--dropout 0 --json");
    CHECK_NEAR(real_of(all, "probability"), sqrt(0.5), 1e-15); /* a root found by halving */
    CHECK_NEAR(real_of(all, "label_probability"), 0.5, 1e-15);
    json_decref(all);
    CHECK_PRINTS(run(SMALL "--dropout 0"), "each bit with probability 0.7071: P(y = 1) = 0.5\n");
    /* p^2 (1 - p) is 4/27 at most, at p = 2/3 */
    const run_result *result =
        run(SMALL "--dropout 0 --task table:00000010 --steps 5 --to-end --restarts 1");
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->err, "no probability balances the labels: P(y = 1) is 0.1481, "
                                        "not 1/2: to say 0 always has accuracy 0.8519"));
    assert_non_null(strstr(result->out, "each bit with probability 0.6667: P(y = 1) = 0.1481\n"));
    result = run(SMALL "--dropout 0 --probability 0.9 --steps 5 --to-end");
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->err, "P(y = 1) is 0.81, not 1/2: to say 1 always"));
    assert_null(strstr(result->err, "balances"));
}

/* Labels of training and test samples are turned, those of validations are not, and it says so. */
static void noise_is_on_test_labels_too(void **state) {
    (void)state;
    const run_result *result = run(SMALL "--dropout 0 --noise 0.2 --samples 600 --json");
    assert_int_equal(result->code, 0);
    json_t *all = json_loads(result->out, JSON_REJECT_DUPLICATES, NULL);
    assert_true(real_of(all, "best_accuracy") > 0.97);
    CHECK_NEAR(real_of(all, "test_accuracy"), 0.8, 0.1); /* 300 samples: 4 standard errors */
    CHECK_NEAR(real_of(all, "train_accuracy"), 0.8, 0.1);
    json_decref(all);
    assert_non_null(strstr(run("train --help")->out, "validations are clean"));
}

static void other_models_and_pictures(void **state) {
    (void)state;
    CHECK_PRINTS(run(ANY_SMALL "--model head --dim 6 --to-end --steps 20 --activation tanh "
                               "--ball qk.two-one=0.1,v.two-one=1,v.spectral=0.5,w.frobenius=1"),
                 "test - train");
    CHECK_PRINTS(run(ANY_SMALL "--model mlp --hidden 8 --to-end --steps 20 --plot -"),
                 "validation accuracy");
    CHECK_PRINTS(run("train --task parity:2 --length 6 --online 64 --dim 8 --heads 2 --steps 5 "
                     "--validation-samples 50 --test-samples 50 --relevant 1,4 --to-end"),
                 "1, 4");
}

/* Of one head and one run: nothing is dashed, for peaks a position wide would break up. */
static void attention_is_a_solid_line(void **state) {
    static char text[1 << 18];
    (void)state;
    assert_int_equal(
        run(run_line(ANY_SMALL "--heads 1 --steps 20 --to-end --plot {tmp}/run.svg"))->code, 0);
    text[read_file("run.svg", text, sizeof text)] = '\0';
    assert_non_null(strstr(text, "attention of the [CLS] row"));
    assert_null(strstr(text, "stroke-dasharray"));
    remove_file("run.svg");
}

#define LONG SMALL "--dropout 0.1 --steps 400 --to-end --validate 50 "

/* Steps the checkpoint has come to; -1 while there is none. */
static double step_of(wt_context *context, const char *name) {
    wt_file *file;
    double state[8] = {0};
    if (!exists(name))
        return -1;
    CHECK_OK(context, wt_file_open(context, path_of(name), &file));
    CHECK_OK(context, wt_file_read(context, file, wt_file_find(file, "state"), state));
    wt_file_free(file);
    return state[1];
}

/* Killed at any moment, the last checkpoint is whole, and the trial that goes on from it ends with
 * the model of one that was left alone. A first one that ends before it is killed starts afresh. */
static void a_killed_trial_is_resumed(void **state) {
    assert_int_equal(run(run_line(LONG "-q -o {tmp}/whole.safetensors"))->code, 0);
    for (int k = 0, afresh = 0; k < 4; k++) {
        double before = step_of(*state, "c.safetensors");
        pid_t child = run_start(run_line(k == 0 ? LONG "-q --checkpoint {tmp}/c.safetensors "
                                                       "--checkpoint-every 5"
                                                : LONG "-q --checkpoint {tmp}/c.safetensors "
                                                       "--checkpoint-every 5 --resume"),
                                -1);
        RUN_UNTIL(child, step_of(*state, "c.safetensors") > before + 10 * k);
        run_end(child, SIGKILL);
        assert_true(step_of(*state, "c.safetensors") > 0);
        if (k == 0 && step_of(*state, "c.safetensors") == 400) {
            assert_true(++afresh < 20);
            remove_file("c.safetensors");
            k = -1;
        }
    }
    const run_result *result =
        run(run_line(LONG "-q --checkpoint {tmp}/c.safetensors --resume -o {tmp}/m.safetensors"));
    if (result->code != 0)
        fail_msg("%s", result->err);
    check_same_file("m.safetensors", "whole.safetensors");
    remove_file("m.safetensors");
    remove_file("whole.safetensors");
    remove_file("c.safetensors");
}

#define ENDLESS SMALL "--steps 1000000 --to-end -q "

/* A trial that Ctrl-C ends once it has a checkpoint. */
static void stop_on_the_way(wt_context *context) {
    pid_t child =
        run_start(run_line(ENDLESS "--checkpoint {tmp}/c.safetensors --checkpoint-every 5"), -1);
    RUN_UNTIL(child, step_of(context, "c.safetensors") >= 5);
    int status = run_end(child, SIGINT);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 75);
    assert_true(step_of(context, "c.safetensors") >= 5);
}

static void ctrl_c_keeps_the_state(void **state) {
    stop_on_the_way(*state);
    remove_file("c.safetensors");
}

/* Nor do two runs write to one checkpoint; what was killed holds nothing. */
static void a_checkpoint_has_one_writer(void **state) {
    pid_t child =
        run_start(run_line(ENDLESS "--checkpoint {tmp}/c.safetensors --checkpoint-every 5"), -1);
    RUN_UNTIL(child, step_of(*state, "c.safetensors") >= 5);
    CHECK_SAYS(run(run_line(ENDLESS "--checkpoint {tmp}/c.safetensors --resume")), 73,
               "c.safetensors: another run is writing to it");
    CHECK_SAYS(run(run_line(ENDLESS "--checkpoint {tmp}/c.safetensors")), 73, "another run");
    assert_true(WIFSIGNALED(run_end(child, SIGKILL)));
    CHECK_SAYS(run(run_line(ENDLESS "--checkpoint {tmp}/c.safetensors")), 64, "exists");
    remove_file("c.safetensors");
}

/* A checkpoint is not replaced by that of a trial from the start, nor one file by another. */
static void files_are_not_lost(void **state) {
    char before[1 << 17], after[1 << 17];
    (void)state;
    assert_int_equal(run(run_line(LONG "-q --checkpoint {tmp}/c.safetensors"))->code, 0);
    size_t bytes = read_file("c.safetensors", before, sizeof before);
    CHECK_SAYS(run(run_line(LONG "-q --checkpoint {tmp}/c.safetensors")), 64,
               "c.safetensors exists: resume to go on from it, or give another name");
    CHECK_SAYS(run(run_line(SMALL "-q --checkpoint {tmp}/c.safetensors --seed 8")), 64, "exists");
    assert_int_equal(read_file("c.safetensors", after, sizeof after), bytes);
    assert_memory_equal(before, after, bytes);
    CHECK_SAYS(
        run(run_line(LONG "--checkpoint {tmp}/c.safetensors --resume -o {tmp}/./c.safetensors")),
        64, "--checkpoint and --output are both to be written to");
    remove_file("c.safetensors");
    CHECK_SAYS(run(SMALL "-o q.svg --plot ./q.svg"), 64, "--output and --plot are both");
    CHECK_SAYS(run("curve --dim 2 --n 4 -o q.svg --plot q.svg"), 64, "give two names");
}

static void a_full_disk_leaves_the_last_checkpoint(void **state) {
    const char *line = ENDLESS "--checkpoint {tmp}/c.safetensors --resume";
    const run_setting full = {.file_limit = 4096};
    CHECK_SAYS(run_with(run_line(LONG "-q --checkpoint {tmp}/c.safetensors"), &full), 74, "");
    assert_false(exists("c.safetensors"));
    stop_on_the_way(*state);
    char before[1 << 17], after[1 << 17];
    size_t bytes = read_file("c.safetensors", before, sizeof before);
    CHECK_SAYS(run_with(run_line(line), &full), 74, "c.safetensors");
    assert_int_equal(read_file("c.safetensors", after, sizeof after), bytes);
    assert_memory_equal(before, after, bytes);
    CHECK_SAYS(run(run_line(ENDLESS "--checkpoint {tmp}/c.safetensors --resume --dim 16")), 65,
               "its 'dim' is '8', that of this run '16'");
    CHECK_SAYS(run(run_line(LONG "-q --checkpoint {tmp}/none.safetensors --resume")), 66,
               "no such file");
    remove_file("c.safetensors");
}

/* --m and --success-accuracy are what sweeps call --samples and --success. */
static void both_spellings_are_read(void **state) {
    (void)state;
    CHECK_SAYS(run("train --m 0"), 64, "--samples: '0' is not a whole number of 1 or more");
    CHECK_SAYS(run("train --success-accuracy 2"), 64, "--success: must be above 0");
    CHECK_SAYS(run("train --m 5 --online 5"), 64, "exclude each other");
}

static void bad_input_is_refused(void **state) {
    const struct {
        const char *words, *says;
    } cases[] = {
        {"--length 1 --task and:3", "1 bits cannot hold the 3 relevant ones"},
        {"--task and:0", "no Boolean function: 'and:0'"},
        {"--task and:17", "no Boolean function: 'and:17'"},
        {"--task table:011", "no Boolean function: 'table:011'"},
        {"--samples 0", "--samples: '0' is not a whole number of 1 or more"},
        {"--samples 5 --online 5", "exclude each other"},
        {"--success 0", "above 0 and at most 1, not 0"},
        {"--success 1.01", "at most 1, not 1.01"},
        {"--heads 7", "heads that divide its dim, not 7 heads of 64"},
        {"--dropout 1", "below 1, not 1"},
        {"--noise 0.5", "--noise: must be from 0 to below 0.5"},
        {"--probability 2", "--probability: must be from 0 to 1, not 2"},
        {"--relevant 1,2", "3 relevant bits, but 2 positions"},
        {"--relevant 1,1,2", "given twice"},
        {"--relevant 1,2,300", "position 300 is not below the length 300"},
        {"--model tree", "'tree' is none of"},
        {"--model head --dropout 0.1", "no dropout"},
        {"--model head --heads 2", "--heads means nothing to --model head"},
        {"--model head --hidden 2", "--hidden means nothing to --model head"},
        {"--model mlp --heads 4", "--heads means nothing to --model mlp"},
        {"--model mlp --fixed-positions", "--fixed-positions means nothing"},
        {"--model mlp --attention-dropout 0.1", "--attention-dropout means nothing"},
        {"--activation relu", "--activation means nothing to --model transformer"},
        {"--model head --ball positions.spectral=0.1", "not trained"},
        {"--fixed-positions --ball pos_emb.spectral=0.1", "not trained"},
        {"--ball qk.long=3", "names no norm"},
        {"--ball left.spectral=3", "names no matrix"},
        {"--lr 0", "--lr: must be above 0"},
        {"--resume", "--resume needs --checkpoint"},
        {"--checkpoint-every 5", "--checkpoint-every needs --checkpoint"},
        {"--test-samples 1", "--test-samples must be 2 or more"},
        {"--plot run.bmp", "run.bmp"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line, "train %s", cases[i].words);
        CHECK_SAYS(run(line), 64, cases[i].says);
    }
    CHECK_SAYS(run("train --task and:3 --length 100 --samples 2"), 1, "fits a second and");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_success_is_told_and_written),
        cmocka_unit_test(a_failure_writes_no_model),
        cmocka_unit_test(the_law_of_the_inputs_is_told),
        cmocka_unit_test(noise_is_on_test_labels_too),
        cmocka_unit_test(other_models_and_pictures),
        cmocka_unit_test(attention_is_a_solid_line),
        cmocka_unit_test(a_killed_trial_is_resumed),
        cmocka_unit_test(ctrl_c_keeps_the_state),
        cmocka_unit_test(a_checkpoint_has_one_writer),
        cmocka_unit_test(files_are_not_lost),
        cmocka_unit_test(a_full_disk_leaves_the_last_checkpoint),
        cmocka_unit_test(both_spellings_are_read),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, run_open_folder, close_folder);
}
