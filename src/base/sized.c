#include "base/sized.h"

#include <string.h>

static size_t size_of(const void *given) {
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

wt_status wt_sized_check(wt_context *context, const char *what, const void *given, size_t bytes) {
    size_t size = size_of(given);
    if (size < sizeof size)
        return wt_fail(context, WT_USAGE, "the size of a %s is not set: initialise it first", what);
    if (size > bytes)
        return wt_fail(context, WT_USAGE,
                       "a %s of %zu bytes is of a later version of the library, which has %zu",
                       what, size, bytes);
    return WT_OK;
}

wt_status wt_sized_read(wt_context *context, const char *what, const void *given, void *full,
                        size_t bytes) {
    WT_PASS(wt_sized_check(context, what, given, bytes));
    memcpy(full, given, size_of(given));
    memcpy(full, &bytes, sizeof bytes);
    return WT_OK;
}

void wt_sized_write(void *given, const void *full, size_t bytes) {
    size_t size = size_of(given);
    memcpy(given, full, size < bytes ? size : bytes);
    memcpy(given, &size, sizeof size);
}
