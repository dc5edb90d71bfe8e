/* cc hello.c $(pkg-config --cflags --libs wattle) -o hello && ./hello */
#include <stdio.h>
#include <wattle/wattle.h>

int main(void) {
    wt_context *context;
    if (wt_context_new(&context) != WT_OK)
        return 1;
    double normal[4];
    wt_random_normal(wt_stream_for(7, "hello", 0), 0, 4, normal);
    printf("wattle %s on %d threads:", wt_version(), wt_context_threads(context));
    for (int i = 0; i < 4; i++)
        printf(" %.6f", normal[i]);
    printf("\n");
    wt_context_free(context);
    return 0;
}
