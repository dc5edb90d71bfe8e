/* `wattle search`: which bits explain the labels, and how many samples it takes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "search_show.h"
#include "set_options.h"
#include "wattle/memory.h"
#include "wattle/program.h"

typedef struct {
    wt_search_options search;
    size_t most;
    bool fewest;
} values;

static const cli_table tables[] = {CLI_TABLE(values, search, wt_search_fields, ""), {0}};
static const cli_option options[] = {
    {"fewest", 0, CLI_FLAG, offsetof(values, fewest), NULL, NULL,
     "With DATA.npz: the answers with the fewest errors, not those with none."},
    {"most", 0, CLI_COUNT, offsetof(values, most), "N", "10", "With DATA.npz: most answers shown."},
    {"output", 'o', CLI_OUTPUT, offsetof(values, search.output), "FILE.csv", NULL,
     "Where the trials go, one row a length, trial and number of samples."},
};

/* ---- samples of a file ------------------------------------------------------------------------
 */

static wt_status show_answers(cli_call *call, const wt_bits *bits, const wt_search_result *found) {
    const values *given = call->values;
    if (call->common.json) {
        json_t *answers = json_array();
        for (size_t i = 0; i < found->found; i++)
            cli_json_add(answers, cli_json_counts(found->bits, found->position + i * found->bits));
        return cli_emit(
            call, "input:s task:s samples:u length:u errors:u complete:b looked:u answers:o",
            call->operands[0], given->search.task, wt_bits_samples(bits), wt_bits_length(bits),
            found->errors, found->complete, found->looked, answers);
    }
    cli_print_row("samples", "%zu of %zu bits", wt_bits_samples(bits), wt_bits_length(bits));
    cli_print_row("answers", "%zu%s, each wrong on %zu samples", found->found,
                  found->complete ? "" : " of more", found->errors);
    cli_print_row("positions tried", "%llu", (unsigned long long)found->looked);
    for (size_t i = 0; i < found->found; i++) {
        for (size_t j = 0; j < found->bits; j++)
            cli_print("%s%zu", j > 0 ? "," : "  ", found->position[i * found->bits + j]);
        putchar('\n');
    }
    return WT_OK;
}

static wt_status search_file(cli_call *call, const wt_bits *bits) {
    const values *given = call->values;
    wt_boolean *function = NULL;
    wt_search_result found = WT_SIZED(wt_search_result);
    wt_status status;
    WT_TRY(wt_boolean_new(call->context, given->search.task, &function));
    WT_TRY(given->fewest ? wt_bits_search_best(call->context, bits, function, given->most, &found)
                         : wt_bits_search(call->context, bits, function, given->most, &found));
    WT_TRY(show_answers(call, bits, &found));
    if (found.found == 0)
        status = wt_fail(call->context, WT_MISSED, "no %zu positions explain all %zu labels as %s",
                         wt_boolean_bits(function), wt_bits_samples(bits), given->search.task);
done:
    wt_boolean_free(function);
    wt_search_result_free(&found);
    return status;
}

static wt_status show_parity(cli_call *call, const wt_bits *bits, const wt_parity_result *found,
                             const size_t *position, size_t count) {
    if (call->common.json)
        return cli_emit(
            call,
            "input:s samples:u length:u consistent:b rank:u dimension:u least:o least_count:o "
            "positions:o",
            call->operands[0], wt_bits_samples(bits), wt_bits_length(bits), found->consistent,
            found->rank, found->dimension,
            found->least_known ? json_integer((json_int_t)found->least) : json_null(),
            found->least_known ? json_integer((json_int_t)found->least_count) : json_null(),
            found->consistent ? cli_json_counts(count, position) : json_null());
    cli_print_row("samples", "%zu of %zu bits, rank %zu", wt_bits_samples(bits),
                  wt_bits_length(bits), found->rank);
    if (!found->consistent)
        return WT_OK;
    cli_print_row("parities", "2^%zu are right on all samples", found->dimension);
    if (found->least_known)
        cli_print_row("fewest positions", "%zu, in %zu of them", found->least, found->least_count);
    else
        cli_print_row("fewest positions", "not looked for: too many parities are right");
    for (size_t j = 0; j < count; j++)
        cli_print("%s%zu", j > 0 ? "," : "  ", position[j]);
    putchar('\n');
    return WT_OK;
}

static wt_status eliminate_file(cli_call *call, const wt_bits *bits) {
    wt_parity_result found = WT_SIZED(wt_parity_result);
    size_t *position = NULL, count = 0;
    wt_status status;
    WT_TRY(wt_bits_solve_parity(call->context, bits, &found));
    WT_TRY(WT_NEW(call->context, &position, wt_bits_length(bits), "positions"));
    for (size_t t = 0; t < wt_bits_length(bits); t++)
        if (found.member[t])
            position[count++] = t;
    WT_TRY(show_parity(call, bits, &found, position, count));
    if (!found.consistent)
        status = wt_fail(call->context, WT_MISSED, "no parity explains all %zu labels",
                         wt_bits_samples(bits));
done:
    wt_release(position);
    wt_parity_result_free(&found);
    return status;
}

/* Options of trials, or of the other method, must not be lost on a file. */
static wt_status check_file(cli_call *call, bool elimination) {
    WT_PASS(
        cli_exclude(call, "a data file", "length samples trials noise probability rate output"));
    const char *of_search = elimination ? cli_first_given(call, "task fewest most") : NULL;
    if (of_search != NULL)
        return wt_fail(call->context, WT_USAGE,
                       "--%s does not go with --method elimination, which solves for parities of "
                       "any size that are right on all samples",
                       of_search);
    if (!elimination && !cli_given(call, "task"))
        return wt_fail(call->context, WT_USAGE, "wattle search needs --task");
    return WT_OK;
}

static wt_status run_file(cli_call *call) {
    const values *given = call->values;
    bool elimination = given->search.method == WT_SEARCH_METHOD_ELIMINATION;
    wt_bits *bits = NULL;
    wt_status status;
    WT_TRY(check_file(call, elimination));
    WT_TRY(wt_bits_load(call->context, call->operands[0], &bits));
    WT_TRY(elimination ? eliminate_file(call, bits) : search_file(call, bits));
done:
    wt_bits_free(bits);
    return status;
}

/* ---- trials -----------------------------------------------------------------------------------
 */

static wt_status run_table(cli_call *call) {
    values *given = call->values;
    wt_search_options *chosen = &given->search;
    wt_search_trials *table = NULL;
    wt_status status;
    if (cli_given(call, "probability") && isnan(chosen->probability))
        chosen->probability = 0; /* in a table of trials that is none */
    chosen->seed = call->common.seed;
    cli_goes_on = chosen->output != NULL;
    WT_TRY(wt_search_trials_run(call->context, chosen, &table));
    if (call->common.json)
        WT_TRY(search_emit_json(call, table, chosen));
    else
        search_print(table, chosen);
done:
    wt_search_trials_free(table);
    return status;
}

static wt_status run(cli_call *call) {
    const values *given = call->values;
    if (call->operand_count == 1)
        return run_file(call);
    if (given->search.task == NULL)
        return wt_fail(call->context, WT_USAGE, "wattle search needs --task");
    if (given->fewest || cli_given(call, "most"))
        return wt_fail(call->context, WT_USAGE, "--fewest and --most need a data file");
    return run_table(call);
}

const cli_command cli_search = {
    .name = "search",
    .summary = "find which bits explain labels, and how many samples that takes",
    .operands = "[DATA.npz]",
    .description =
        "What information allows, whatever the learner: in how many of the trials do m samples of "
        "a sparse Boolean function leave one choice of its s positions among T, and it is the "
        "right one? The search is exhaustive, and exact: positions that a few samples rule out "
        "are never tried again. With label noise the choice with the fewest errors must be the "
        "only one, and right.\n\n"
        "A trial redraws positions and inputs by the seed; samples of a smaller m are the first of "
        "a larger one. With --method elimination a parity of unknown size is found by elimination "
        "over GF(2), which takes about T samples. A run with -o that is interrupted goes on when "
        "the "
        "same command is given again.\n\n"
        "With DATA.npz (bits (n,T), labels (n)) the answers themselves are shown; exit code 1 "
        "when there is none. Positions count from 0.",
    .examples = "wattle search --task and:3 --length 100,300,1100 --samples 10:60:5\n"
                "wattle search --task parity:3 --length 30 --samples 5:60:5 --method elimination\n"
                "wattle search data.npz --task majority:3 --fewest",
    .tables = tables,
    CLI_OPTIONS(options, values),
    .run = run,
};
