/* Finds and opens plugins: a device is opened once, and stays open for the process. */
#define _GNU_SOURCE /* dladdr1 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "base/descriptor.h"
#include "base/sized.h"
#include "base/text.h"
#include "base/work.h"
#include "device/device.h"
#include "device/ridge.h"

#include "wattle/blas.h"
#include "wattle/text.h"

#define MOST_DEVICES 64
#define PATH_BYTES   4096

/* A kind of device, and the plugin that opens them. */
typedef struct {
    const char *file;
    bool blas; /* it brings OpenBLAS along, which is to have our kernels */
    const char *lost, *built;
    const wt_device_plugin *plugin; /* NULL before it is loaded */
} device_kind;

/* A device and its account. */
typedef struct {
    wt_device device; /* first: a wt_device of ours is one of these */
    bool open;
    atomic_size_t used, peak;
} opened_device;

static struct {
    pthread_mutex_t busy;
    char folder[PATH_BYTES]; /* of wt_device_look_in; "" = none */
    opened_device devices[MOST_DEVICES], ranks;
} opened = {.busy = PTHREAD_MUTEX_INITIALIZER};

static device_kind
    cuda = {.file = "libwattle_cuda.so", .lost = "no GPU can be used", .built = "a CUDA compiler"},
    mpi = {.file = "libwattle_mpi.so",
           .blas = true,
           .lost = "MPI cannot be used",
           .built = "OpenMPI and ScaLAPACK (Debian: libscalapack-openmpi-dev, libopenmpi-dev)"};

/* ---- services -------------------------------------------------------------------------------- */

static wt_status fail(wt_context *context, wt_status status, const char *sentence) {
    return wt_fail(context, status, "%s", sentence);
}

static void raise_peak(opened_device *device, size_t used) {
    size_t peak = atomic_load(&device->peak);
    while (used > peak && !atomic_compare_exchange_weak(&device->peak, &peak, used))
        continue;
}

static wt_status hold(wt_context *context, wt_device *device, size_t bytes, const char *what) {
    opened_device *of = (opened_device *)device;
    const wt_context *whole = context;
    while (whole->parent != NULL) /* workers share what the device has */
        whole = whole->parent;
    size_t before = atomic_load(&of->used), budget = wt_context_memory(whole);
    bool limited = budget > 0 && budget < device->memory;
    size_t most = limited ? budget : device->memory;
    /* what is refused is never seen by others */
    while (before <= most && bytes <= most - before)
        if (atomic_compare_exchange_weak(&of->used, &before, before + bytes)) {
            raise_peak(of, before + bytes);
            return WT_OK;
        }
    char wanted[WT_BYTES_TEXT], used[WT_BYTES_TEXT], limit[WT_BYTES_TEXT];
    return wt_fail(context, WT_MEMORY, "%s needs %s on %s, with %s in use there and %s %s", what,
                   wt_bytes_format(bytes, wanted), device->name, wt_bytes_format(before, used),
                   limited ? "a memory budget of" : "a memory of", wt_bytes_format(most, limit));
}

static void release(wt_device *device, size_t bytes) {
    atomic_fetch_sub(&((opened_device *)device)->used, bytes);
}

static void lower_threads(wt_context *context, int most) {
    if (context->threads > most)
        context->threads = most;
}

static const wt_device_services services = {.fail = fail,
                                            .check_cancelled = wt_context_check_cancelled,
                                            .hold = hold,
                                            .release = release,
                                            .message = wt_context_message,
                                            .lower_threads = lower_threads,
                                            .maker = &wt_ridge_maker_host,
                                            .work = wt_work_add};

/* ---- the plugin ------------------------------------------------------------------------------ */

void wt_device_look_in(const char *folder) {
    snprintf(opened.folder, sizeof opened.folder, "%s", folder == NULL ? "" : folder);
}

/* The folder of the library, or of the program it is part of; false where that cannot be told. */
static bool own_folder(char *out) {
    Dl_info about;
    struct link_map *map = NULL;
    if (dladdr1(&services, &about, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL)
        return false;
    if (map->l_name[0] != '\0') {
        snprintf(out, PATH_BYTES, "%s", map->l_name);
    } else {
        ssize_t length = readlink("/proc/self/exe", out, PATH_BYTES - 1);
        if (length < 0)
            return false;
        out[length] = '\0';
    }
    char *slash = strrchr(out, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    return true;
}

/* Whether the folder, or one beside it, has the file. */
static bool is_in(const char *folder, const char *beside, const char *file, char *out) {
    int length = snprintf(out, PATH_BYTES, "%s%s/%s", folder, beside, file);
    return length < PATH_BYTES && access(out, F_OK) == 0;
}

/* Where it is; else `places` tells where it should be. */
static bool find_file(const char *file, char places[2 * PATH_BYTES + 32], char *out) {
    char own[PATH_BYTES] = "";
    snprintf(places, PATH_BYTES, "%s", opened.folder);
    if (opened.folder[0] != '\0')
        return is_in(opened.folder, "", file, out);
    bool found = own_folder(own) &&
                 (is_in(own, "", file, out) || is_in(own, "/../" WATTLE_LIBDIR, file, out));
    snprintf(places, 2 * PATH_BYTES + 32, "%s or %s/../" WATTLE_LIBDIR, own, own);
    return found;
}

/* Whether a library was cut off, as by a full disk: the loader maps what is not there, and dies of
 * SIGBUS. What is no library at all it refuses by itself. */
static bool is_cut(const char *path) {
    ElfW(Ehdr) head;
    ElfW(Phdr) part;
    struct stat about;
    bool cut = false;
    int file = wt_descriptor_move(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file < 0)
        return false;
    bool library = pread(file, &head, sizeof head, 0) == sizeof head &&
                   memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && fstat(file, &about) == 0;
    for (size_t i = 0; library && !cut && i < head.e_phnum; i++)
        cut = pread(file, &part, sizeof part, (off_t)(head.e_phoff + i * sizeof part)) !=
                  sizeof part ||
              (part.p_type == PT_LOAD && part.p_offset + part.p_filesz > (size_t)about.st_size);
    close(file);
    return cut;
}

static wt_status load(wt_context *context, device_kind *kind) {
    char path[PATH_BYTES], places[2 * PATH_BYTES + 32];
    wt_blas blas = WT_SIZED(wt_blas);
    if (kind->plugin != NULL)
        return WT_OK;
    if (!find_file(kind->file, places, path))
        return wt_fail(context, WT_UNAVAILABLE,
                       "%s: the plugin %s is not in %s; it is there where wattle was built with %s",
                       kind->lost, kind->file, places, kind->built);
    if (is_cut(path))
        return wt_fail(context, WT_UNAVAILABLE, "%s: %s is cut off: install it again", kind->lost,
                       path);
    if (kind->blas)
        WT_PASS(wt_blas_open(context, &blas));
    void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (file == NULL)
        return wt_fail(context, WT_UNAVAILABLE, "%s: %s", kind->lost, dlerror());
    const wt_device_plugin *plugin = dlsym(file, WT_DEVICE_SYMBOL);
    if (plugin == NULL || plugin->version != WT_DEVICE_VERSION) {
        wt_fail(context, WT_UNAVAILABLE,
                plugin == NULL ? "%s: %s is no plugin of this library"
                               : "%s: %s is of another version of this library",
                kind->lost, path);
        dlclose(file);
        return WT_UNAVAILABLE;
    }
    kind->plugin = plugin;
    return WT_OK;
}

/* ---- devices --------------------------------------------------------------------------------- */

static wt_status open_device(wt_context *context, device_kind *kind, size_t index,
                             wt_device **out) {
    opened_device *of = kind == &cuda ? &opened.devices[index] : &opened.ranks;
    wt_status status = WT_OK;
    pthread_mutex_lock(&opened.busy);
    if (!of->open) {
        WT_TRY(load(context, kind));
        of->device = (wt_device){.services = &services};
        snprintf(of->device.name, sizeof of->device.name, kind == &cuda ? "cuda:%zu" : "mpi",
                 index);
        WT_TRY(kind->plugin->open(context, (int)index, &of->device));
        of->open = true;
    }
    *out = &of->device;
done:
    pthread_mutex_unlock(&opened.busy);
    return status;
}

wt_status wt_device_check_name(wt_context *context, const char *name, size_t *index) {
    static const char *const words[] = {"host", "auto", "mpi", "cuda"};
    int64_t number = 0;
    *index = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name, words[i]) == 0)
            return WT_OK;
    if (strncmp(name, "cuda:", 5) != 0 || !wt_integer_parse(name + 5, &number) || number < 0 ||
        number >= MOST_DEVICES)
        return wt_fail(
            context, WT_USAGE,
            "there is no device '%s'; there are host, cuda, cuda:0 to cuda:%d, mpi, and auto", name,
            MOST_DEVICES - 1);
    *index = (size_t)number;
    return WT_OK;
}

wt_status wt_context_set_device(wt_context *context, const char *name) {
    size_t index;
    WT_PASS(wt_device_check_name(context, name, &index));
    bool automatic = strcmp(name, "auto") == 0;
    if (strcmp(name, "host") == 0) {
        context->device = NULL;
        return WT_OK;
    }
    wt_device *device = NULL;
    wt_status status =
        open_device(context, strcmp(name, "mpi") == 0 ? &mpi : &cuda, index, &device);
    if (status == WT_OK || (status == WT_UNAVAILABLE && automatic))
        context->device = device;
    return status == WT_UNAVAILABLE && automatic ? WT_OK : status;
}

wt_device *wt_context_get_device(const wt_context *context) {
    return context->device;
}

wt_status wt_device_refuse(wt_context *context, const char *what) {
    return wt_fail(context, WT_UNAVAILABLE, "%s has no engine for %s: run it on the host",
                   wt_context_device(context), what);
}

const char *wt_context_device(const wt_context *context) {
    return context->device == NULL ? "host" : context->device->name;
}

wt_status wt_context_device_info(wt_context *context, wt_device_info *out) {
    WT_PASS(wt_sized_check(context, "wt_device_info", out, sizeof *out));
    wt_device_info info = {.name = wt_context_device(context), .product = ""};
    opened_device *of = (opened_device *)context->device;
    if (of != NULL) {
        info.product = of->device.product;
        info.memory = of->device.memory;
        info.used = atomic_load(&of->used);
        info.peak = atomic_load(&of->peak);
        info.ranks = of->device.ranks;
        wt_device_counts counts = {0};
        if (of->device.count != NULL)
            WT_PASS(of->device.count(context, &of->device, &counts));
        info.flops = counts.flops;
        info.bytes = counts.bytes;
        info.messages = counts.messages;
    }
    wt_sized_write(out, &info, sizeof info);
    return WT_OK;
}
