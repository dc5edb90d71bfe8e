#include "version.h"

#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <zip.h>

#include "command.h"
#include "commit.h"
#include "wattle/blas.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* A version is told on a machine without OpenBLAS too: it may be asked for because of that. */
wt_status cli_write_version(wt_context *context, bool json) {
    wt_blas blas = WT_SIZED(wt_blas);
    bool found = wt_blas_open(context, &blas) == WT_OK;
    if (!json) {
        cli_print("wattle %s (%s)\ncompiler: %s\nbuilt in: %s, jansson %s, libzip %s, SQLite "
                  "%s\n",
                  wt_version(), WATTLE_COMMIT, COMPILER, found ? blas.config : "no OpenBLAS",
                  jansson_version_str(), zip_libzip_version(), sqlite3_libversion());
        return WT_OK;
    }
    json_t *all = json_pack("{s:s, s:s, s:s, s:{s:b, s:s?, s:s, s:s, s:s}}", "version",
                            wt_version(), "commit", WATTLE_COMMIT, "compiler", COMPILER, "built_in",
                            "openmp", 0, "blas", blas.config, "jansson", jansson_version_str(),
                            "libzip", zip_libzip_version(), "sqlite", sqlite3_libversion());
    if (all == NULL)
        return wt_fail(context, WT_MEMORY, "no memory for the JSON result");
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
    return WT_OK;
}
