/* How a device is found and opened, what is said where it cannot be, and its account of memory. */
#define _GNU_SOURCE /* mkdtemp, setenv */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "device/device.h"

/* Each of these faults is met before a plugin is kept, which is for good. */
static void without_a_plugin(void **state) {
    wt_context *context = *state;
    wt_device_look_in("/nowhere");
    CHECK_FAILS(context, wt_context_set_device(context, "cuda"), WT_UNAVAILABLE,
                "libwattle_cuda.so is not in /nowhere");
    assert_string_equal(wt_context_device(context), "host");
    CHECK_OK(context, wt_context_set_device(context, "auto"));
    assert_non_null(strstr(wt_context_message(context), "libwattle_cuda.so"));
    assert_string_equal(wt_context_device(context), "host");
}

static void a_plugin_that_is_none(void **state) {
    wt_context *context = *state;
    char folder[] = "/tmp/wattle-plugin-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/libwattle_cuda.so", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("no library\n", file);
    fclose(file);
    wt_device_look_in(folder);
    CHECK_FAILS(context, wt_context_set_device(context, "cuda:0"), WT_UNAVAILABLE, path);
    unlink(path);
    rmdir(folder);
}

/* Whatever of it is there, as after a copy that was broken off: the process lives. The last of it,
 * its table of sections, nobody asks for. */
static void a_plugin_that_is_cut_off(void **state) {
    wt_context *context = *state;
    static const size_t sizes[] = {0, 15, 63, 64, 200, 5000, 20000};
    char folder[] = "/tmp/wattle-plugin-XXXXXX", path[64], bytes[20000];
    FILE *whole = fopen(FAKE_FOLDER "/libwattle_cuda.so", "r");
    assert_non_null(whole);
    assert_int_equal(fread(bytes, 1, sizeof bytes, whole), sizeof bytes);
    fclose(whole);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/libwattle_cuda.so", folder);
    wt_device_look_in(folder);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, sizes[i], file), sizes[i]);
        fclose(file);
        CHECK_FAILS(context, wt_context_set_device(context, "cuda"), WT_UNAVAILABLE,
                    sizes[i] < 64 ? path : "is cut off");
        CHECK_OK(context, wt_context_set_device(context, "auto"));
    }
    unlink(path);
    rmdir(folder);
}

static void a_plugin_of_another_version(void **state) {
    wt_context *context = *state;
    wt_device_look_in(FAKE_FOLDER);
    setenv("FAKE_DEVICE", "version", 1);
    CHECK_FAILS(context, wt_context_set_device(context, "cuda"), WT_UNAVAILABLE,
                "another version of this library");
    CHECK_OK(context, wt_context_set_device(context, "auto"));
    assert_null(wt_context_get_device(context));
}

static void without_a_driver(void **state) {
    wt_context *context = *state;
    wt_device_look_in(FAKE_FOLDER);
    setenv("FAKE_DEVICE", "driver", 1);
    CHECK_FAILS(context, wt_context_set_device(context, "cuda"), WT_UNAVAILABLE, "no driver");
    unsetenv("FAKE_DEVICE");
}

static void names(void **state) {
    wt_context *context = *state;
    static const char *const wrong[] = {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:64", "CUDA"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_FAILS(context, wt_context_set_device(context, wrong[i]), WT_USAGE,
                    "there is no device");
    CHECK_FAILS(context, wt_context_set_device(context, "cuda:1"), WT_UNAVAILABLE, "has 1 GPU");
    CHECK_OK(context, wt_context_set_device(context, "cuda"));
    assert_string_equal(wt_context_device(context), "cuda:0");
    wt_device *first = wt_context_get_device(context);
    CHECK_OK(context, wt_context_set_device(context, "host"));
    assert_null(wt_context_get_device(context));
    CHECK_OK(context, wt_context_set_device(context, "auto"));
    assert_ptr_equal(wt_context_get_device(context), first);
    assert_null(first->fleet);
}

static void memory_is_counted(void **state) {
    wt_context *context = *state;
    wt_device_info info = WT_SIZED(wt_device_info);
    CHECK_OK(context, wt_context_set_device(context, "cuda:0"));
    wt_device *device = wt_context_get_device(context);
    CHECK_OK(context, device->services->hold(context, device, 1000, "a matrix"));
    CHECK_OK(context, device->services->hold(context, device, 500, "another"));
    device->services->release(device, 1000);
    CHECK_OK(context, wt_context_device_info(context, &info));
    assert_string_equal(info.name, "cuda:0");
    assert_string_equal(info.product, "the host in disguise");
    assert_int_equal(info.used, 500);
    assert_int_equal(info.peak, 1500);
    CHECK_FAILS(context, device->services->hold(context, device, info.memory, "a third"), WT_MEMORY,
                "a third needs 1.0 GiB on cuda:0, with 500 B in use there and a memory");
    wt_context_set_memory(context, 1 << 20);
    CHECK_FAILS(context, device->services->hold(context, device, 1 << 20, "a fourth"), WT_MEMORY,
                "a memory budget of 1.0 MiB");
    wt_context_set_memory(context, 0);
    device->services->release(device, 500);
    CHECK_OK(context, wt_context_set_device(context, "host"));
    CHECK_OK(context, wt_context_device_info(context, &info));
    assert_string_equal(info.name, "host");
    assert_int_equal(info.memory, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_plugin),         cmocka_unit_test(a_plugin_that_is_none),
        cmocka_unit_test(a_plugin_that_is_cut_off), cmocka_unit_test(a_plugin_of_another_version),
        cmocka_unit_test(without_a_driver),         cmocka_unit_test(names),
        cmocka_unit_test(memory_is_counted),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
