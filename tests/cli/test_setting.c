/* The key `setting` of --json: all options of the call by name, with which it can be run again. */
#define _GNU_SOURCE
#include "cli/run.h"

static json_t *options_of(const char *command) {
    char line[64];
    snprintf(line, sizeof line, "help %s --json", command);
    json_t *all = run_json(line), *options = json_incref(json_object_get(all, "options"));
    json_decref(all);
    return options;
}

/* The names are those of the options but files, and the seed. */
static void check_names(const char *command, const json_t *setting) {
    json_t *options = options_of(command), *option;
    size_t i, named = 1;
    json_array_foreach(options, i, option) {
        const char *kind = json_string_value(json_object_get(option, "kind"));
        const char *name = json_string_value(json_object_get(option, "name"));
        bool file = strcmp(kind, "input") == 0 || strcmp(kind, "output") == 0;
        assert_int_equal(json_object_get(setting, name) == NULL, file);
        named += !file;
    }
    assert_int_equal(json_object_size(setting), named);
    assert_true(json_is_integer(json_object_get(setting, "seed")));
    json_decref(options);
}

static size_t write_value(char *out, size_t bytes, const json_t *value) {
    if (json_is_string(value))
        return (size_t)snprintf(out, bytes, "%s", json_string_value(value));
    if (json_is_integer(value))
        return (size_t)snprintf(out, bytes, "%lld", json_integer_value(value));
    if (json_is_real(value))
        return (size_t)snprintf(out, bytes, "%.17g", json_real_value(value));
    size_t i, used = 0;
    json_t *item;
    json_array_foreach(value, i, item) {
        used += (size_t)snprintf(out + used, bytes - used, "%s", i > 0 ? "," : "");
        used += write_value(out + used, bytes - used, item);
    }
    return used;
}

/* The setting as a command line again; `alone` are options that go with others only. */
static void write_line(const char *command, const char *alone, json_t *setting, char *line,
                       size_t bytes) {
    const char *name;
    json_t *value;
    size_t used = (size_t)snprintf(line, bytes, "%s --json", command);
    json_object_foreach(setting, name, value) {
        if (json_is_null(value) || json_is_false(value) || strstr(alone, name) != NULL)
            continue;
        used += (size_t)snprintf(line + used, bytes - used, " --%s", name);
        if (!json_is_true(value)) {
            used += (size_t)snprintf(line + used, bytes - used, "=");
            used += write_value(line + used, bytes - used, value);
        }
    }
}

static void drop_times(json_t *all) {
    json_object_del(all, "seconds");
    json_object_del(all, "bytes");
}

#define LAYER "/tmp/wattle-setting.safetensors"

static void the_setting_runs_it_again(void **state) {
    (void)state;
    static const struct {
        const char *command, *options, *alone; /* the command with its files */
    } cases[] = {
        {"fit", "--target mean-power:2 --n 40 --heads 20 --lambda loo --standardize --seed 3", ""},
        {"curve", "--model rfa,rfa-inf --target corr:2 --heads 5,20 --n 8:32:x2 --reps 2", ""},
        {"curve " TEST_DATA "/fixtures/sets.npz", "--bias 1:2:0.5 --model brfa --n 4 --reps 2",
         "target"},
        {"recover " TEST_DATA "/golden/attention_layer.npz", "--heads 2 --steps 2 --goal 9", ""},
        {"train", "--task and:2 --length 12 --samples 80 --model mlp --steps 20 --to-end",
         "checkpoint-every heads holdout"},
        {"train", "--probability 0.25 --length 9 --dim 8 --heads 2 --steps 2 --to-end --samples 9",
         "checkpoint-every holdout"},
        {"threshold",
         "--task and:2 --length 8 --samples 10:30 --trials 3 --steps 20 --model mlp --restarts 1",
         "heads"},
        {"teacher -o " LAYER, "--heads 3 --dim 4 --zero-sum --seed 9", ""},
        {"search", "--task and:2 --length 8,12 --samples 4:12:4 --trials 3 -p 0.4", "most"},
        {"construct", "--function and:2 --length 30 --positions random --relevant 3,7", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[8192], name[32];
        snprintf(line, sizeof line, "%s %s --json", cases[i].command, cases[i].options);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(cases[i].command, " "), cases[i].command);
        json_t *first = run_json(line), *setting = json_object_get(first, "setting");
        check_names(name, setting);
        write_line(cases[i].command, cases[i].alone, setting, line, sizeof line);
        json_t *second = run_json(line);
        drop_times(first);
        drop_times(second);
        if (!json_equal(first, second))
            fail_msg("%s gives another result", line);
        json_decref(first);
        json_decref(second);
    }
    unlink(LAYER);
}

/* Numbers are numbers, lists arrays, and what was not said is null. */
static void values_have_types(void **state) {
    (void)state;
    json_t *all = run_json("train --task and:2 --length 9 --dim 8 --heads 2 --steps 2 --to-end "
                           "--samples 9 --relevant 1,4 --json");
    json_t *setting = json_object_get(all, "setting");
    assert_string_equal(json_string_value(json_object_get(setting, "task")), "and:2");
    assert_int_equal(json_integer_value(json_object_get(setting, "samples")), 9);
    assert_true(json_is_real(json_object_get(setting, "lr")));
    assert_true(json_is_true(json_object_get(setting, "to-end")));
    assert_true(json_is_false(json_object_get(setting, "decoupled")));
    assert_true(json_is_null(json_object_get(setting, "probability")));
    assert_true(json_is_null(json_object_get(setting, "ball")));
    json_t *relevant = json_object_get(setting, "relevant");
    assert_int_equal(json_array_size(relevant), 2);
    assert_int_equal(json_integer_value(json_array_get(relevant, 1)), 4);
    json_decref(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_setting_runs_it_again),
        cmocka_unit_test(values_have_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
