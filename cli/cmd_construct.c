/* `wattle construct`: attention heads with weights written down, and whether they keep their
 * promise. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "set_options.h"
#include "wattle/construct.h"

typedef struct {
    wt_construction_spec spec;
    const char *check, *output;
    cli_counts relevant;
    size_t draws;
} values;

static const cli_table tables[] = {CLI_TABLE(values, spec, wt_construction_fields, ""), {0}};
static const cli_option options[] = {
    {"relevant", 0, CLI_COUNTS, offsetof(values, relevant), "LIST", NULL,
     "The s relevant positions, from 0; by default different ones by the seed."},
    {"draws", 0, CLI_COUNT, offsetof(values, draws), "N", "100",
     "Random values of the irrelevant bits every pattern is run with."},
    {"check", 0, CLI_INPUT, offsetof(values, check), "FILE", NULL,
     "Check the construction in this file instead of building one."},
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE.safetensors", NULL,
     "Where the weights go; not written when the promise is missed."},
};

static wt_status build(cli_call *call, wt_construction **out) {
    values *given = call->values;
    wt_construction_spec *spec = &given->spec;
    if (!cli_given(call, "function"))
        return wt_fail(call->context, WT_USAGE, "wattle construct needs --function or --check");
    if (cli_given(call, "position-dim") && spec->positions != WT_POSITIONS_RANDOM)
        return wt_fail(call->context, WT_USAGE,
                       "--position-dim is of random positions, not of others");
    spec->relevant = given->relevant.values;
    spec->relevant_count = given->relevant.count;
    spec->seed = call->common.seed;
    return wt_construction_new(call->context, spec, out);
}

static wt_status load(cli_call *call, wt_construction **out) {
    const values *given = call->values;
    WT_PASS(cli_exclude(call, "--check",
                        "function length relevant positions position-dim heads tokens output"));
    return wt_construction_load(call->context, given->check, out);
}

static wt_status emit(cli_call *call, const wt_construction_summary *built,
                      const wt_construction_report *report, const wt_construction_least *least,
                      const char *written) {
    const values *given = call->values;
    return cli_emit(
        call,
        "function:s input:s length:u bits:u relevant:o tokens:s heads:u dim:u gap:r strength:r "
        "overlap:r promise:r head_error:r drawn_error:r function_error:r kept:b widths:o norms:o "
        "output:s least_strength:r least_linear:r",
        given->check == NULL ? given->spec.function : NULL, given->check, built->length,
        built->bits, cli_json_counts(built->bits, built->relevant), built->bag ? "bag" : "sum",
        built->heads, built->dim, built->gap, built->strength, built->overlap, report->promise,
        report->head_error, report->drawn_error, report->function_error, report->kept,
        cli_json_counts(2, (const size_t[]){built->width1, built->width2}),
        cli_json("qk21:r v21:r v:r x:r cls:r", built->qk21, built->v21, built->v, built->x,
                 built->cls),
        written, least->strength, least->linear);
}

static void print_least(const char *name, double least, const char *what) {
    if (isfinite(least))
        cli_print_row(name, "%.5g %s", least, what);
    else
        cli_print_row(name, "none %s", what);
}

static void print(const wt_construction_summary *built, const wt_construction_report *report,
                  const wt_construction_least *least) {
    char list[24 * WT_BOOLEAN_MAX_BITS] = "";
    size_t used = 0;
    for (size_t j = 0; j < built->bits; j++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%zu", j > 0 ? "," : "",
                                 built->relevant[j]);
    cli_print_row("bits", "%zu relevant of %zu: %s", built->bits, built->length, list);
    cli_print_row("heads", "%zu in %zu dimensions, tokens %s", built->heads, built->dim,
                  built->bag ? "bag" : "sum");
    cli_print_row("strength R", "%.5g, overlap rho %.4g", built->strength, built->overlap);
    print_least("least R", least->strength, "keeps the promise");
    print_least("least R, linear", least->linear, "without the exponential");
    cli_print_row("network", "ReLU, widths %zu and %zu", built->width1, built->width2);
    cli_print_row("norms",
                  "|W_QK^T|_{2,1} %.5g, |W_V|_{2,1} %.5g, |W_V| %.5g, tokens %.5g, [CLS] %.5g",
                  built->qk21, built->v21, built->v, built->x, built->cls);
    cli_print_row("promise", "gamma / 4 = %.5g", report->promise);
    cli_print_row("worst head error", "%.5g over all inputs, %.5g over random ones",
                  report->head_error, report->drawn_error);
    cli_print_row("worst final error", "%.3g", report->function_error);
    cli_print_row("kept", "%s", report->kept ? "yes" : "no");
}

static wt_status run(cli_call *call) {
    const values *given = call->values;
    wt_construction *built = NULL;
    wt_construction_summary about = WT_SIZED(wt_construction_summary);
    wt_construction_report report = WT_SIZED(wt_construction_report);
    wt_construction_least least = WT_SIZED(wt_construction_least);
    wt_status status;
    WT_TRY(given->check != NULL ? load(call, &built) : build(call, &built));
    WT_TRY(wt_construction_check(call->context, built, given->draws, call->common.seed, &report));
    WT_TRY(wt_construction_find_least(call->context, built, &least));
    WT_TRY(wt_construction_summarise(call->context, built, &about));
    const char *written = report.kept ? given->output : NULL;
    if (written != NULL)
        WT_TRY(wt_construction_save(call->context, built, written));
    if (call->common.json)
        WT_TRY(emit(call, &about, &report, &least, written));
    else
        print(&about, &report, &least);
    if (!report.kept)
        status = wt_fail(call->context, WT_MISSED,
                         "the promise is missed: a head is off by %.4g, not %.4g, and the function "
                         "by %.3g",
                         report.head_error, report.promise, report.function_error);
done:
    wt_construction_free(built);
    return status;
}

const cli_command cli_construct = {
    .name = "construct",
    .summary = "build attention heads that compute a sparse Boolean function, and check them",
    .description =
        "Writes down the weights of attention heads with which the [CLS] token looks at the s "
        "relevant bits among T and at hardly anything else, and of a ReLU network that reads them. "
        "One head tells how many relevant bits are 1, which serves symmetric functions; s heads "
        "tell each of them, which serves any.\n\n"
        "Then all 2^s patterns of the relevant bits are run. The promise is that every head is "
        "within gamma / 4 of its ideal answer, gamma the gap between two of them: the error is "
        "the largest over all values of the irrelevant bits, found exactly, beside the largest "
        "over random ones. The network's answer must be the function's, but for rounding. "
        "Beside the strength R solved from the promise stands the least with which these heads "
        "keep it, by bisection, with softmax weights exp(R k) of scores k and with weights "
        "max(0, 1 + R k).\n\n"
        "Exit code 1 and no file when the promise is missed.",
    .examples = "wattle construct --function symmetric:0001 --length 1024 --relevant 5,20,30 -o "
                "head.safetensors\n"
                "wattle construct --function table:01101001 --length 4096 --positions random\n"
                "wattle construct --check head.safetensors",
    .tables = tables,
    CLI_OPTIONS(options, values),
    .run = run,
};
