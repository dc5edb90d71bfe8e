/* `wattle sweep disputes`: cells that two stores had with other numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "set_options.h"
#include "sweep_actions.h"

typedef struct {
    wt_context *context;
    json_t *disputes;
} collection;

static json_t *side_of(const wt_record *record) {
    return cli_json("metrics:o wall_seconds:r version:s machine:s finished_date:s",
                    json_loads(record->metrics, 0, NULL), record->wall_seconds, record->version,
                    record->machine, record->finished_date);
}

static wt_status add_dispute(void *user, const wt_record *cell, const wt_record *other) {
    collection *all = user;
    json_t *parameters = json_loads(cell->parameters, 0, NULL);
    json_t *one = cli_json("hash:s experiment:s parameters:o kept:o other:o", cell->hash,
                           cell->experiment, parameters, side_of(cell), side_of(other));
    json_object_set_new(one, "seed", json_integer(cell->seed));
    cli_json_add(all->disputes, one);
    return WT_OK;
}

static const char *text_of(const json_t *side, const char *key) {
    return json_string_value(json_object_get(side, key));
}

/* A number of a side as words. */
static const char *number_of(const json_t *side, const char *metric, char out[32]) {
    const json_t *value = json_object_get(json_object_get(side, "metrics"), metric);
    if (json_is_number(value))
        snprintf(out, 32, "%.10g", json_number_value(value));
    else
        snprintf(out, 32, "-");
    return out;
}

/* The metrics that are not the same to the last digit. */
static void print_metrics(const json_t *kept, const json_t *other) {
    char left[32], right[32];
    json_t *metrics = json_object_get(kept, "metrics");
    for (void *at = json_object_iter(metrics); at != NULL;
         at = json_object_iter_next(metrics, at)) {
        const char *name = json_object_iter_key(at);
        if (!json_equal(json_object_iter_value(at),
                        json_object_get(json_object_get(other, "metrics"), name)))
            cli_print("  %-20s %-24s %s\n", name, number_of(kept, name, left),
                      number_of(other, name, right));
    }
}

static void print_dispute(const json_t *one) {
    const json_t *kept = json_object_get(one, "kept"), *other = json_object_get(one, "other");
    char *parameters = json_dumps(json_object_get(one, "parameters"), JSON_COMPACT);
    cli_print("cell %.12s  %s  seed %lld  %s\n", text_of(one, "hash"), text_of(one, "experiment"),
              (long long)json_integer_value(json_object_get(one, "seed")),
              parameters == NULL ? "" : parameters);
    free(parameters);
    cli_print("  %-20s %-24s %s\n", "", "kept", "other");
    print_metrics(kept, other);
    static const char *const about[] = {"version", "machine", "finished_date"};
    for (size_t i = 0; i < sizeof about / sizeof *about; i++)
        cli_print("  %-20s %-24s %s\n", about[i], text_of(kept, about[i]),
                  text_of(other, about[i]));
}

wt_status cli_sweep_disputes(cli_call *call, const cli_sweep_values *given) {
    (void)given;
    const char *path = call->operands[1];
    collection all = {.context = call->context, .disputes = json_array()};
    wt_store *store = NULL;
    const json_t *one;
    size_t i;
    wt_status status;
    WT_TRY(wt_store_open(call->context, path, WT_STORE_MODE_READ, &store));
    WT_TRY(wt_store_walk_disputes(call->context, store, add_dispute, &all));
    wt_store_free(store); /* before somebody reads what is printed */
    store = NULL;
    if (call->common.json) {
        WT_TRY(cli_emit(call, "store:s disputes:o", path, json_incref(all.disputes)));
        goto done;
    }
    if (json_array_size(all.disputes) == 0)
        cli_print("no cell of %s was found with other numbers\n", path);
    json_array_foreach(all.disputes, i, one) {
        print_dispute(one);
    }
done:
    wt_store_free(store);
    json_decref(all.disputes);
    return status;
}
