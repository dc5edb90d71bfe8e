/* Actions of `wattle sweep` that show: list, export, status, experiments. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "set_options.h"
#include "sweep_actions.h"
#include "wattle/experiment.h"

/* ---- list and export --------------------------------------------------------------------- */

static wt_status print_block(void *user, const void *bytes, size_t count) {
    cli_call *call = user;
    return fwrite(bytes, 1, count, stdout) == count
               ? WT_OK
               : wt_fail(call->context, WT_IO, "standard output could not be written");
}

/* The store is closed before somebody reads what is printed. */
static wt_status print_table(cli_call *call, wt_export_options *options) {
    wt_store *store = NULL;
    wt_output *table = NULL;
    const char *folder = getenv("TMPDIR");
    wt_status status;
    if (folder != NULL && *folder != '\0')
        options->folder = folder;
    WT_TRY(cli_sweep_experiment(call, options->experiment));
    WT_TRY(wt_store_open(call->context, call->operands[1], WT_STORE_MODE_READ, &store));
    WT_TRY(wt_store_export(call->context, store, options, &table));
    wt_store_free(store);
    store = NULL;
    cli_json_emitted = call->common.json;
    WT_TRY(options->path != NULL ? wt_output_commit(table)
                                 : wt_output_walk(table, print_block, call));
done:
    wt_output_free(table);
    wt_store_free(store);
    return status;
}

wt_status cli_sweep_export(cli_call *call, const cli_sweep_values *given) {
    wt_export_options options;
    if (call->common.json && (given->csv || given->output != NULL))
        return wt_fail(call->context, WT_USAGE, "--json and --%s exclude each other",
                       given->csv ? "csv" : "output");
    WT_INIT(wt_export_options, &options);
    options.path = given->output == NULL || strcmp(given->output, "-") == 0 ? NULL : given->output;
    bool json =
        call->common.json || (options.path != NULL && cli_has_suffix(options.path, ".json"));
    options.format = json ? WT_EXPORT_FORMAT_JSON : WT_EXPORT_FORMAT_CSV;
    options.experiment = given->experiment;
    return print_table(call, &options);
}

wt_status cli_sweep_list(cli_call *call, const cli_sweep_values *given) {
    wt_export_options options;
    WT_INIT(wt_export_options, &options);
    options.format = call->common.json ? WT_EXPORT_FORMAT_LIST_JSON : WT_EXPORT_FORMAT_LIST;
    options.experiment = given->experiment;
    options.failed_only = given->failed;
    return print_table(call, &options);
}

/* ---- status ------------------------------------------------------------------------------ */

typedef struct {
    wt_context *context;
    json_t *experiments; /* an object by name */
    json_t *facts;       /* {"command": [..], "sweep": [..]} */
    size_t disputed;
} summary;

static wt_status add_cell(void *user, const wt_record *record) {
    summary *all = user;
    json_t *one = json_object_get(all->experiments, record->experiment);
    if (one == NULL) {
        one = cli_json("done:u failed:u wall_seconds:r", (size_t)0, (size_t)0, 0.0);
        cli_json_put(all->experiments, record->experiment, one);
    }
    json_t *count = json_object_get(one, record->failed ? "failed" : "done");
    json_t *seconds = json_object_get(one, "wall_seconds");
    json_integer_set(count, json_integer_value(count) + 1);
    json_real_set(seconds, json_real_value(seconds) + record->wall_seconds);
    return WT_OK;
}

static wt_status add_fact(void *user, const char *kind, const char *text) {
    summary *all = user;
    json_t *facts = json_object_get(all->facts, kind);
    if (facts != NULL)
        cli_json_add(facts, json_string(text));
    return WT_OK;
}

/* The store as it is at one moment; it is let go before anything is printed. */
static wt_status summarise(summary *all, const char *path) {
    wt_store *store = NULL;
    wt_store_count count = WT_SIZED(wt_store_count);
    wt_status status;
    WT_TRY(wt_store_open(all->context, path, WT_STORE_MODE_READ, &store));
    WT_TRY(wt_store_hold(all->context, store));
    WT_TRY(wt_store_walk(all->context, store, NULL, add_cell, all));
    WT_TRY(wt_store_walk_notes(all->context, store, add_fact, all));
    WT_TRY(wt_store_counts(all->context, store, &count));
    all->disputed = count.disputed;
done:
    wt_store_free(store);
    return status;
}

static void print_summary(const char *path, const summary *all) {
    const json_t *one;
    size_t i;
    cli_print_row("store", "%s", path);
    for (void *at = json_object_iter(all->experiments); at != NULL;
         at = json_object_iter_next(all->experiments, at)) {
        one = json_object_iter_value(at);
        cli_print_row(json_object_iter_key(at), "%lld done, %lld failed, %.3g s of computing",
                      (long long)json_integer_value(json_object_get(one, "done")),
                      (long long)json_integer_value(json_object_get(one, "failed")),
                      json_real_value(json_object_get(one, "wall_seconds")));
    }
    if (all->disputed > 0)
        cli_print_row("with other numbers", "%zu cells: wattle sweep disputes", all->disputed);
    json_array_foreach(json_object_get(all->facts, "command"), i, one) {
        cli_print_row(i == 0 ? "commands" : "", "%s", json_string_value(one));
    }
}

wt_status cli_sweep_status(cli_call *call, const cli_sweep_values *given) {
    (void)given;
    const char *path = call->operands[1];
    if (wt_folder_is(path))
        return cli_sweep_folder_status(call, path);
    summary all = {.context = call->context,
                   .experiments = json_object(),
                   .facts = cli_json("command:o sweep:o", json_array(), json_array())};
    wt_status status;
    WT_TRY(summarise(&all, path));
    if (call->common.json)
        WT_TRY(cli_emit(call, "store:s experiments:o disputed:u commands:o sweeps:o", path,
                        json_incref(all.experiments), all.disputed,
                        json_incref(json_object_get(all.facts, "command")),
                        json_incref(json_object_get(all.facts, "sweep"))));
    else
        print_summary(path, &all);
done:
    json_decref(all.experiments);
    json_decref(all.facts);
    return status;
}

wt_status cli_sweep_experiment(cli_call *call, const char *name) {
    char names[512] = "";
    size_t used = 0;
    const wt_experiment *one;
    if (name == NULL || wt_experiment_find(name) != NULL)
        return WT_OK;
    for (size_t i = 0; (one = wt_experiment_at(i)) != NULL && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ",
                                 wt_experiment_name(one));
    return wt_fail(call->context, WT_USAGE, "--experiment: '%s' is none of %s", name, names);
}

/* ---- experiments ------------------------------------------------------------------------- */

static const char *const kinds[] = {
    [WT_FIELD_KIND_WORD] = "words",    [WT_FIELD_KIND_TEXT] = "text",
    [WT_FIELD_KIND_COUNT] = "counts",  [WT_FIELD_KIND_NATURAL] = "whole",
    [WT_FIELD_KIND_REAL] = "reals",    [WT_FIELD_KIND_CHOICE] = "reals or words",
    [WT_FIELD_KIND_FLAG] = "yes or no"};

static json_t *describe(const wt_experiment *experiment) {
    json_t *parameters = json_array(), *metrics = json_array();
    const wt_field *field;
    const char *metric;
    for (size_t i = 0; (field = wt_experiment_field_at(experiment, i)) != NULL; i++)
        cli_json_add(parameters, cli_json("name:s kind:s default:s help:s", field->name,
                                          kinds[field->kind], field->fallback, field->help));
    for (size_t i = 0; (metric = wt_experiment_metric_at(experiment, i)) != NULL; i++)
        cli_json_add(metrics, json_string(metric));
    return cli_json("name:s summary:s result_version:u group:s reps:u parameters:o metrics:o",
                    wt_experiment_name(experiment), wt_experiment_summary(experiment),
                    (uint64_t)wt_experiment_result_version(experiment),
                    wt_experiment_group(experiment), wt_experiment_reps(experiment), parameters,
                    metrics);
}

static void print_experiment(const wt_experiment *experiment) {
    const wt_field *field;
    const char *metric;
    cli_print("%s: %s\n", wt_experiment_name(experiment), wt_experiment_summary(experiment));
    for (size_t i = 0; (field = wt_experiment_field_at(experiment, i)) != NULL; i++)
        cli_print("  %-14s %-15s %-12s %s\n", field->name, kinds[field->kind],
                  field->fallback == NULL ? "-" : field->fallback, field->help);
    cli_print("  %-14s %-15s %-12s %s\n", "seed", kinds[WT_FIELD_KIND_NATURAL], "0",
              "seeds, a grid");
    cli_print("  %-14s %-15s %-12zu %s\n", "reps", "count", wt_experiment_reps(experiment),
              "repetitions, each with draws of its own");
    cli_print("  metrics:");
    for (size_t i = 0; (metric = wt_experiment_metric_at(experiment, i)) != NULL; i++)
        cli_print(" %s", metric);
    cli_print("\n");
}

wt_status cli_sweep_experiments(cli_call *call, const cli_sweep_values *given) {
    (void)given;
    const char *wanted = call->operand_count > 1 ? call->operands[1] : NULL;
    json_t *all = json_array();
    const wt_experiment *one;
    wt_status status = WT_OK;
    if (wanted != NULL && wt_experiment_find(wanted) == NULL) {
        status = wt_fail(call->context, WT_USAGE,
                         "no experiment '%s'; 'wattle sweep experiments' lists them", wanted);
        goto done;
    }
    for (size_t i = 0; (one = wt_experiment_at(i)) != NULL; i++) {
        if (wanted != NULL && strcmp(wt_experiment_name(one), wanted) != 0)
            continue;
        if (call->common.json)
            cli_json_add(all, describe(one));
        else
            print_experiment(one);
    }
    if (call->common.json)
        WT_TRY(cli_emit(call, "experiments:o", json_incref(all)));
done:
    json_decref(all);
    return status;
}
