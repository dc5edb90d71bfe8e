/* The methods of recovery by name, and the fields of their options. */
#include <string.h>

#include "base/sized.h"
#include "layer/learn/recover_fields.h"
#include "layer/learn/recovery.h"
#include "wattle/sculpt.h"

const char *const wt_recover_form_words[] = {"given", "auto", NULL};

static const wt_field fields[] = {WT_RECOVER_FIELDS("auto")};
enum { FIELDS = sizeof fields / sizeof *fields };

const wt_field *wt_recover_fields(size_t *count) {
    *count = FIELDS;
    return fields;
}

void wt_recover_options_init(wt_recover_options *options, size_t size) {
    wt_recover_options full = {0};
    wt_fields_init(fields, FIELDS, &full);
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

static wt_status refine(wt_context *context, const wt_sequences *data,
                        const wt_recover_options *options, wt_layer **out,
                        wt_recover_report *report, wt_sculpt_report *stages) {
    (void)stages;
    return wt_refine(context, data, options, out, report);
}

static wt_status adam(wt_context *context, const wt_sequences *data,
                      const wt_recover_options *options, wt_layer **out, wt_recover_report *report,
                      wt_sculpt_report *stages) {
    (void)stages;
    return wt_adam(context, data, options, out, report);
}

/* Stages first, then refining from the start they give. */
static wt_status sculpt(wt_context *context, const wt_sequences *data,
                        const wt_recover_options *options, wt_layer **out,
                        wt_recover_report *report, wt_sculpt_report *stages) {
    wt_sculpt_options of_stages;
    wt_recover_options from = *options;
    wt_layer *start = NULL;
    wt_status status;
    const wt_layer_form form = wt_recover_form(options);
    if (!wt_layer_is_plain(&form) || data->lengths != NULL || data->partial)
        WT_TRY(wt_fail(context, WT_USAGE,
                       "sculpt knows whole sequences of plain layers alone: biases, masks, norms, "
                       "residual connections and missing rows are for refine"));
    WT_INIT(wt_sculpt_options, &of_stages);
    of_stages.heads = options->heads;
    of_stages.teacher = options->teacher;
    WT_TRY(wt_sculpt(context, data, &of_stages, &start, stages));
    from.heads = start->heads;
    from.start = start;
    WT_TRY(wt_refine(context, data, &from, out, report));
    report->method = "sculpt";
    if (strcmp(report->start_from, "given") == 0)
        report->start_from = "sculpt";
    report->seconds += stages->seconds;
    report->flops += stages->flops;
done:
    wt_layer_free(start);
    return status;
}

static const struct {
    wt_recover_method about;
    wt_recover_run_fn *run; /* NULL for one that asks */
} methods[] = {
    {{"auto", 200, false}, wt_recover_auto},
    {{"refine", 200, false}, refine},
    {{"sculpt", 200, false}, sculpt},
    {{"adam", 20000, false}, adam},
    {{"query", 0, true}, NULL},
};
enum { METHODS = sizeof methods / sizeof *methods };

static size_t place_of(const char *name) {
    size_t i = 0;
    while (i < METHODS && strcmp(methods[i].about.name, name) != 0)
        i++;
    return i;
}

const wt_recover_method *wt_recover_method_find(const char *name) {
    size_t i = place_of(name);
    return i < METHODS ? &methods[i].about : NULL;
}

wt_status wt_layer_recover(wt_context *context, const wt_sequences *data,
                           const wt_recover_options *given, wt_layer **out,
                           wt_recover_report *report, wt_sculpt_report *stages) {
    wt_recover_report full = WT_SIZED(wt_recover_report);
    wt_sculpt_report of_sculpt = WT_SIZED(wt_sculpt_report);
    wt_recover_options options;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_recover_open(context, NULL, given, report, &options));
    if (stages != NULL)
        WT_TRY(wt_sized_check(context, "wt_sculpt_report", stages, sizeof of_sculpt));
    size_t method = place_of(options.method);
    if (methods[method].run == NULL)
        return wt_fail(context, WT_USAGE, "method %s chooses its inputs: it takes no examples",
                       options.method);
    status =
        wt_recover_as_formed(context, methods[method].run, data, &options, out, &full, &of_sculpt);
    wt_sized_write(report, &full, sizeof full);
    if (stages != NULL)
        wt_sized_write(stages, &of_sculpt, sizeof of_sculpt);
done:
    return status;
}
