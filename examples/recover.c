/* Draws sequences through a layer, recovers the layer from them, and compares the two.
 * cc recover.c $(pkg-config --cflags --libs wattle) -o recover && ./recover */
#include <stdio.h>
#include <stdlib.h>
#include <wattle/wattle.h>

static void must(wt_context *context, wt_status status) {
    if (status == WT_OK)
        return;
    fprintf(stderr, "recover: %s\n", wt_context_message(context));
    exit(wt_status_exit_code(status));
}

int main(void) {
    wt_context *context;
    if (wt_context_new(&context) != WT_OK)
        return 1;

    /* Two heads in 8 dimensions, and what they make of 40 sequences of 4 Boolean tokens. */
    wt_layer *teacher, *layer;
    wt_sequences *data;
    wt_teacher_options made_as;
    WT_INIT(wt_teacher_options, &made_as);
    made_as.seed = 1;
    must(context, wt_layer_teacher(context, &made_as, &teacher));
    must(context, wt_sequences_new(context, 40, 4, 8, 8, &data));
    must(context, wt_layer_draw(context, teacher, WT_LAW_BOOLEAN, 1, 0, 2, 0, data));

    /* heads = 0: the number of heads is found too. */
    wt_recover_options options;
    WT_INIT(wt_recover_options, &options);
    wt_recover_report report = WT_SIZED(wt_recover_report);
    must(context, wt_layer_recover(context, data, &options, &layer, &report, NULL));
    printf("%zu heads, recovered: %s (%s), held-out error %.1e, condition %.1f\n", report.heads,
           report.recovered ? "yes" : "no", wt_recover_verdict_name(report.verdict),
           report.holdout_error, report.condition);

    wt_comparison comparison = WT_SIZED(wt_comparison);
    wt_compare_options compare_as;
    WT_INIT(wt_compare_options, &compare_as);
    must(context, wt_layer_compare(context, teacher, layer, &compare_as, &comparison));
    for (size_t i = 0; i < comparison.matches; i++)
        printf("head %zu: Theta error %.1e, W error %.1e\n", i, comparison.match[i].theta_error,
               comparison.match[i].w_error);

    wt_comparison_free(&comparison);
    wt_layer_free(teacher);
    wt_layer_free(layer);
    wt_sequences_free(data);
    wt_context_free(context);
    return 0;
}
