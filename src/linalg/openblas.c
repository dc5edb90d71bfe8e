/* Opens OpenBLAS and prepares the environment for it: the one file of the library that reads the
 * environment. */
#define _GNU_SOURCE /* RTLD_NOLOAD, MAP_ANONYMOUS */
#include "linalg/openblas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/parallel.h"
#include "base/sized.h"
#include "base/text.h"
#include "linalg/cores.h"

#define NAME    "libopenblas.so.0"
#define PACKAGE "libopenblas0-pthread"

wt_openblas_calls wt_openblas;

/* What opening it came to, once for the process. */
static struct {
    pthread_mutex_t busy; /* held while it is opened, and while work space is taken */
    atomic_bool done;
    wt_status status;
    char sentence[WT_MESSAGE_BYTES]; /* when the status is not WT_OK */
    wt_blas about;
    void *(*take)(int unused); /* its own way to work space; NULL where it is hidden */
    void (*give_back)(void *space);
    atomic_int spaces; /* threads there is work space for */
} opened = {.busy = PTHREAD_MUTEX_INITIALIZER};

/* ---- the environment ------------------------------------------------------------------------- */

/* A variable that is set for a while. */
typedef struct {
    const char *name;
    bool changed, was_set;
    char before[256];
} variable;

/* A value too long to be kept is no number of threads, and stays. */
static void set_for_now(variable *of, const char *value) {
    const char *before = getenv(of->name);
    of->was_set = before != NULL;
    if (of->was_set && strlen(before) >= sizeof of->before)
        return;
    if (of->was_set)
        snprintf(of->before, sizeof of->before, "%s", before);
    of->changed = setenv(of->name, value, 1) == 0;
}

static void restore(const variable *of) {
    if (!of->changed)
        return;
    if (of->was_set)
        setenv(of->name, of->before, 1);
    else
        unsetenv(of->name);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void *load(const wt_core *wanted, wt_blas_choice *choice) {
    variable core = {.name = "OPENBLAS_CORETYPE"}, threads = {.name = "OPENBLAS_NUM_THREADS"};
    const char *users = getenv(core.name);
    void *library = dlopen(NAME, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    *choice = users != NULL && users[0] != '\0' ? WT_BLAS_CHOICE_USER
              : library != NULL                 ? WT_BLAS_CHOICE_LOADED_BEFORE
              : wanted != NULL                  ? WT_BLAS_CHOICE_PROCESSOR
                                                : WT_BLAS_CHOICE_LIBRARY;
    if (library != NULL)
        return library;
    if (*choice == WT_BLAS_CHOICE_PROCESSOR)
        set_for_now(&core, wanted->name);
    /* More would only wait: our loop is the one that spawns. */
    set_for_now(&threads, "1");
    library = dlopen(NAME, RTLD_NOW | RTLD_LOCAL);
    restore(&threads);
    restore(&core);
    return library;
}

static const struct {
    const char *name;
    size_t at;
} calls[] = {
#define ROW(name) {#name, offsetof(wt_openblas_calls, name)},
    WT_OPENBLAS_CALLS(ROW)
#undef ROW
};

/* A function's address, which dlsym gives as one of data. */
static void point(void *pointer, void *symbol) {
    memcpy(pointer, &symbol, sizeof symbol);
}

/* The name of the first call that the library lacks, NULL when it has all. */
static const char *find_calls(void *library) {
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *symbol = dlsym(library, calls[i].name);
        if (symbol == NULL)
            return calls[i].name;
        point((char *)&wt_openblas + calls[i].at, symbol);
    }
    point(&opened.take, dlsym(library, "blas_memory_alloc"));
    point(&opened.give_back, dlsym(library, "blas_memory_free"));
    return NULL;
}

/* Room for the work space of one thread, which is 128 MiB of addresses on x86-64. */
#define SPACE ((size_t)129 << 20)

static bool has_room(void) {
    void *room = mmap(NULL, SPACE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return false;
    munmap(room, SPACE);
    return true;
}

static wt_status no_room(wt_context *context, const char *what, int threads) {
    char bytes[WT_BYTES_TEXT];
    return wt_fail(context, WT_MEMORY,
                   "no memory is left for %s, which takes %s for each of %d threads", what,
                   wt_bytes_format(SPACE, bytes), threads);
}

static wt_status check_core(wt_context *context, unsigned features) {
    const wt_core *core = wt_core_named(opened.about.core);
    if (core == NULL || features == 0 || wt_core_runs(core, features))
        return WT_OK;
    return wt_fail(context, WT_CONFIG,
                   "OPENBLAS_CORETYPE asks for the %s kernels of OpenBLAS, which this processor "
                   "cannot run",
                   core->name);
}

static wt_status open_library(wt_context *context) {
    unsigned features = wt_cpu_features();
    void *library = load(wt_core_for(features), &opened.about.choice);
    if (library == NULL) {
        const char *why = dlerror();
        return !has_room() ? no_room(context, "OpenBLAS", wt_parallel_width(context))
                           : wt_fail(context, WT_UNAVAILABLE,
                                     "OpenBLAS cannot be opened: %s (Debian's package is %s)", why,
                                     PACKAGE);
    }
    const char *missing = find_calls(library);
    if (missing != NULL)
        return wt_fail(context, WT_UNAVAILABLE,
                       "%s is no OpenBLAS with LAPACK: it has no %s (Debian's package is %s)", NAME,
                       missing, PACKAGE);
    opened.about.config = wt_openblas.openblas_get_config();
    opened.about.parallel = wt_openblas.openblas_get_parallel();
    opened.about.core = wt_openblas.openblas_get_corename();
    wt_core_judge(features, &opened.about);
    wt_openblas.openblas_set_num_threads(1); /* one that was loaded before may have more */
    WT_PASS(wt_openblas_check_flavour(context, opened.about.parallel, opened.about.config));
    return check_core(context, features);
}

wt_status wt_openblas_check_flavour(wt_context *context, int parallel, const char *config) {
    if (parallel == 0)
        return wt_fail(context, WT_INTERNAL,
                       "the BLAS in use (%s) is OpenBLAS built without threads, which gives wrong "
                       "products when two threads enter it; use its pthread flavour (%s)",
                       config, PACKAGE);
    return WT_OK;
}

/* ---- work space ------------------------------------------------------------------------------ */

/* OpenBLAS takes work space when a thread enters, keeps it for the next one, and tries again for
 * ever where there is no memory. So all of it is taken here first, each after a look whether there
 * is room. Past MOST threads a build for fewer would complain. */
enum { MOST_SPACES = 64 };

static wt_status take_spaces(wt_context *context, int threads) {
    void *spaces[MOST_SPACES];
    int most = threads < MOST_SPACES ? threads : MOST_SPACES, taken = 0;
    wt_status status = WT_OK;
    while (taken < most && status == WT_OK)
        if (!has_room())
            status = no_room(context, "the work space of OpenBLAS", threads);
        else
            spaces[taken++] = opened.take(0);
    while (taken > 0)
        opened.give_back(spaces[--taken]);
    return status;
}

static wt_status open_once(wt_context *context) {
    if (!atomic_load(&opened.done)) {
        opened.status = open_library(context);
        snprintf(opened.sentence, sizeof opened.sentence, "%s",
                 opened.status == WT_OK ? "" : wt_context_message(context));
        atomic_store(&opened.done, opened.status != WT_MEMORY); /* which may come back */
    }
    return opened.status == WT_OK ? WT_OK : wt_fail(context, opened.status, "%s", opened.sentence);
}

wt_status wt_openblas_open(wt_context *context) {
    int threads = wt_parallel_width(context);
    wt_status status;
    if (atomic_load(&opened.done) && opened.status == WT_OK &&
        threads <= atomic_load(&opened.spaces))
        return WT_OK;
    pthread_mutex_lock(&opened.busy);
    WT_TRY(open_once(context));
    if (opened.take != NULL && opened.give_back != NULL && threads > atomic_load(&opened.spaces))
        WT_TRY(take_spaces(context, threads));
    if (threads > atomic_load(&opened.spaces))
        atomic_store(&opened.spaces, threads);
done:
    pthread_mutex_unlock(&opened.busy);
    return status;
}

wt_status wt_blas_open(wt_context *context, wt_blas *out) {
    WT_PASS(wt_sized_check(context, "wt_blas", out, sizeof opened.about));
    wt_status status = wt_openblas_open(context);
    const wt_blas none = {0};
    wt_sized_write(out, status == WT_OK ? &opened.about : &none, sizeof none);
    return status;
}
