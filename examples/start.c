/* cc start.c $(pkg-config --cflags --libs wattle) -o start && ./start */
#include <stdio.h>
#include <wattle/wattle.h>

/* A random layer of 2 heads, what it makes of two tokens, and a file of it. */
static wt_status work(wt_context *context, const char *path) {
    double x[2][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}}, y[2][4];
    wt_teacher_options about;
    wt_layer *layer = NULL;
    wt_status status;
    WT_INIT(wt_teacher_options, &about); /* the defaults */
    about.dim = 4;
    WT_TRY(wt_layer_teacher(context, &about, &layer));
    WT_TRY(wt_layer_forward(context, layer, 1, 2, &x[0][0], &y[0][0]));
    printf("F(X) = %.4f %.4f %.4f %.4f, ...\n", y[0][0], y[0][1], y[0][2], y[0][3]);
    WT_TRY(wt_layer_save(context, layer, path));
done:
    wt_layer_free(layer);
    return status;
}

int main(int argc, char **argv) {
    wt_context *context;
    if (wt_context_new(&context) != WT_OK)
        return 1;
    wt_status status = work(context, argc > 1 ? argv[1] : "layer.safetensors");
    if (status != WT_OK)
        fprintf(stderr, "start: %s\n", wt_context_message(context));
    wt_context_free(context);
    return wt_status_exit_code(status);
}
