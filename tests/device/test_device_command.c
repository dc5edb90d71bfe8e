/* The command on a device: the fake beside a copy of the command, which is the host in disguise. */
#define _GNU_SOURCE /* mkdtemp */
#include "cli/run.h"

#define FIT "fit --target mean-power:2 --dim 3 --keys 4 --n 60 --heads 9 --test-n 10 --lambda loo "
#define CURVE                                                                                      \
    "curve --model rfa,rfa-inf --target mean-power:2 --dim 3 --keys 4 --heads 9 "                  \
    "--n 8,16,32 --reps 3 --test-n 10 --threads 1 "

static run_result host, device;

static void try_with(const char *fault, const char *line, run_result *out) {
    char variable[64];
    snprintf(variable, sizeof variable, "FAKE_DEVICE=%s", fault);
    *out = *run_with(line, &(run_setting){.variable = variable});
}

/* All but what says where, how long and how much. */
static void drop_lines(char *text) {
    static const char *const words[] = {"\"device\"", "\"seconds\"", "\"bytes\"", "\"flops\""};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        char *at = strstr(text, words[w]);
        for (; at != NULL; at = strstr(text, words[w])) {
            char *end = strchr(at, '\n');
            memmove(at, end, strlen(end) + 1);
        }
    }
}

static void numbers_are_the_hosts(void **state) {
    (void)state;
    static const char *const lines[] = {FIT "--json --device ", CURVE "--json --device ",
                                        FIT "--model brfa-inf --json --device "};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[512];
        snprintf(line, sizeof line, "%shost", lines[i]);
        try_with("", line, &host);
        snprintf(line, sizeof line, "%scuda", lines[i]);
        try_with("", line, &device);
        assert_int_equal(host.code, 0);
        assert_int_equal(device.code, 0);
        drop_lines(host.out);
        drop_lines(device.out);
        assert_string_equal(device.out, host.out);
    }
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *fault, *line, *says;
        int code;
    } cases[] = {
        {"driver", FIT "--device cuda", "wattle: no GPU can be used: no driver\n", 69},
        {"version", FIT "--device cuda:0", "another version of this library", 69},
        {"", FIT "--device cuda:1", "this machine has 1 GPU", 69},
        {"", FIT "--device gpu", "there is no device 'gpu'", 64},
        {"", CURVE "--n 400 --device cuda --mem 1M", "the kernel matrix needs 1.2 MiB on cuda:0",
         70},
        {"", "fit --target mean-power:2 --n 60 --ball 1,2 --device cuda",
         "cuda:0 has no engine for norm balls", 69},
        {"driver", "bench linalg --device cuda",
         "bench linalg measures the host; --device goes with bench device", 64},
        {"die:1", FIT "--solver dual --device cuda", "wattle: cuda:0 failed in a product: lost\n",
         69},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        try_with(cases[i].fault, cases[i].line, &device);
        if (strstr(device.err, cases[i].says) == NULL)
            fail_msg("'%s' does not say '%s'", device.err, cases[i].says);
        assert_int_equal(device.code, cases[i].code);
    }
}

static void automatic(void **state) {
    (void)state;
    try_with("driver", FIT "--device auto", &device);
    assert_int_equal(device.code, 0);
    assert_string_equal(device.err, "");
    try_with("driver", FIT "--device auto --verbose", &device);
    assert_non_null(strstr(device.err, "running on the host: no GPU can be used: no driver"));
    try_with("", FIT "--device auto --verbose", &device);
    assert_non_null(strstr(device.err, "running on cuda:0"));
}

/* What is to be done can be asked where it cannot be done. */
static void dry_runs_need_no_device(void **state) {
    (void)state;
    try_with("driver", "reproduce --scale tiny --dry-run --device cuda", &device);
    assert_int_equal(device.code, 0);
    assert_non_null(strstr(device.err, "it could not run here: no GPU can be used: no driver"));
    try_with("driver", "reproduce --scale tiny --dry-run --device gpu", &device);
    assert_int_equal(device.code, 64);
    try_with("driver", "sweep experiments --device cuda", &device);
    assert_int_equal(device.code, 0);
}

static size_t lines_of(const char *path) {
    FILE *file = fopen(path, "r");
    size_t lines = 0;
    assert_non_null(file);
    for (int c = fgetc(file); c != EOF; c = fgetc(file))
        lines += c == '\n';
    fclose(file);
    return lines;
}

/* A device that is lost in the fourth of six cells leaves the three before it. */
static void nothing_is_lost(void **state) {
    (void)state;
    char folder[] = "/tmp/wattle-device-XXXXXX", line[512], path[64], part[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/curve.csv", folder);
    snprintf(part, sizeof part, "%s/curve.csv.part", folder);
    snprintf(line, sizeof line, CURVE "--device cuda -o %s", path);
    try_with("die:4", line, &device);
    assert_int_equal(device.code, 69);
    assert_non_null(strstr(device.err, "cuda:0 failed in a product: lost"));
    assert_int_equal(access(part, F_OK), 0);
    try_with("die:4", line, &device); /* the three that are left */
    assert_int_equal(device.code, 0);
    assert_int_equal(access(part, F_OK), -1);
    assert_int_equal(lines_of(path), 1 + 6 * 3);
    unlink(path);
    /* what was begun on the device is not gone on with on the host */
    try_with("die:4", line, &device);
    assert_int_equal(device.code, 69);
    snprintf(line, sizeof line, CURVE "-o %s", path);
    try_with("", line, &device);
    assert_int_equal(device.code, 0);
    assert_non_null(strstr(device.err, "curve.csv.part"));
    unlink(path);
    rmdir(folder);
}

/* Recoveries: the host's numbers, and the same refusals. */
static void recoveries(void **state) {
    (void)state;
    static const struct {
        const char *fault, *options, *says;
        int code;
    } cases[] = {
        {"", "--method adam --device cuda", "cuda:0 has no engine for adam", 69},
        {"", "--device cuda --mem 600K", "attended tokens needs", 70},
        {"die:1", "--device cuda", "wattle: cuda:0 failed in a product: lost\n", 69},
    };
    char folder[] = "/tmp/wattle-device-XXXXXX", line[512], layer[64], data[64];
    assert_non_null(mkdtemp(folder));
    snprintf(layer, sizeof layer, "%s/layer.safetensors", folder);
    snprintf(data, sizeof data, "%s/data.npz", folder);
    snprintf(line, sizeof line, "teacher --heads 2 --dim 5 --seed 1 -o %s", layer);
    try_with("", line, &host);
    snprintf(line, sizeof line, "draw --layer %s --n 200 --length 5 -o %s", layer, data);
    try_with("", line, &host);
    assert_int_equal(host.code, 0);
    snprintf(line, sizeof line, "recover %s --heads 2 --json", data);
    try_with("", line, &host);
    snprintf(line, sizeof line, "recover %s --heads 2 --json --device cuda", data);
    try_with("", line, &device);
    assert_int_equal(host.code, 0);
    assert_non_null(strstr(device.out, "\"device\": \"cuda:0\""));
    drop_lines(host.out);
    drop_lines(device.out);
    assert_string_equal(device.out, host.out);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(line, sizeof line, "recover %s --heads 2 %s", data, cases[i].options);
        try_with(cases[i].fault, line, &device);
        if (strstr(device.err, cases[i].says) == NULL)
            fail_msg("'%s' does not say '%s'", device.err, cases[i].says);
        assert_int_equal(device.code, cases[i].code);
    }
    unlink(layer);
    unlink(data);
    rmdir(folder);
}

/* A store that has it all already is not told of another engine. */
static void sweeps(void **state) {
    (void)state;
    char folder[] = "/tmp/wattle-device-XXXXXX", line[512], path[64], store[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/sweep.ini", folder);
    snprintf(store, sizeof store, "%s/all.db", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("[sweep]\nexperiment = curve\ntarget = mean-power:2\ndim = 3\nkeys = 4\nheads = 9\n"
          "n = 8,16\nreps = 2\n",
          file);
    fclose(file);
    snprintf(line, sizeof line, "sweep run %s --store %s", path, store);
    try_with("", line, &host);
    assert_int_equal(host.code, 0);
    snprintf(line, sizeof line, "sweep run %s --store %s --device cuda", path, store);
    try_with("", line, &device);
    assert_int_equal(device.code, 0);
    assert_string_equal(device.err, "");
    snprintf(line, sizeof line, "sweep run %s --set reps=3 --store %s --device cuda", path, store);
    try_with("", line, &device);
    assert_int_equal(device.code, 0);
    assert_non_null(strstr(device.err, "by the host; those of this run are by cuda"));
    unlink(path);
    unlink(store);
    rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_the_hosts),
        cmocka_unit_test(refusals),
        cmocka_unit_test(automatic),
        cmocka_unit_test(dry_runs_need_no_device),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(recoveries),
        cmocka_unit_test(sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
