/* usage: fill_store STORE KEY=GRID...: makes a store with all cells of a sweep, see fill.h. */
#include "lab/fill.h"

#include <stdio.h>

int main(int count, char **words) {
    wt_context *context;
    if (count < 3 || wt_context_new(&context) != WT_OK)
        return 64;
    wt_status status = fill_store(context, words[1], words + 2, (size_t)count - 2);
    if (status != WT_OK)
        fprintf(stderr, "fill_store: %s\n", wt_context_message(context));
    wt_context_free(context);
    return wt_status_exit_code(status);
}
