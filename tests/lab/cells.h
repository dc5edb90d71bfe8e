/* Cells with known answers, and what a claim measures on them. */
#ifndef TESTS_LAB_CELLS_H
#define TESTS_LAB_CELLS_H

#include "check.h"
#include "lab/claims.h"

static wt_results results;
static size_t serial;

static inline int close_all(void **state) {
    wt_results_clear(&results);
    return check_close(state);
}

static inline int start_fresh(void **state) {
    (void)state;
    wt_results_clear(&results);
    return 0;
}

/* With a message, a cell that failed. */
static inline void add_record(wt_context *context, const char *experiment, const char *parameters,
                              const char *metrics, const char *message) {
    char hash[WT_HASH_TEXT];
    snprintf(hash, sizeof hash, "%064zx", serial++);
    wt_record record = {.hash = hash,
                        .experiment = experiment,
                        .parameters = parameters,
                        .seed = 1009, /* not for exploring */
                        .result_version = 1,
                        .failed = message[0] != '\0',
                        .message = message,
                        .metrics = metrics,
                        .version = "0.1.0",
                        .machine = "here & <there>",
                        .finished_date = "2026-01-31T12:00:00Z"};
    CHECK_OK(context, wt_results_add(context, &results, &record));
}

static inline void add(wt_context *context, const char *experiment, const char *parameters,
                       const char *metrics) {
    add_record(context, experiment, parameters, metrics, "");
}

static inline void add_recover(wt_context *context, const char *tokens, int parity, int rep,
                               int success, double flops) {
    char parameters[256], metrics[128];
    snprintf(
        parameters, sizeof parameters,
        "{\"dim\":8,\"dim-ratio\":%d,\"heads\":%d,\"length\":4,\"method\":\"refine\",\"noise\":0,"
        "\"parity\":%d,\"rep\":%d,\"samples-ratio\":%d,\"tokens\":\"%s\"}",
        parity > 0 ? 2 : 0, parity > 0 ? parity : 2, parity, rep, parity > 0 ? 10 : 5, tokens);
    snprintf(metrics, sizeof metrics,
             "{\"flops\":%.17g,\"recovered\":%d,\"starts\":1,\"success\":%d}", flops, success,
             success);
    add(context, "recover", parameters, metrics);
}

static inline void add_curve(wt_context *context, const char *model, const char *target, int dim,
                             int keys, int n, int rep, double error) {
    char parameters[256], metrics[64];
    snprintf(parameters, sizeof parameters,
             "{\"bias\":%d,\"dim\":%d,\"keys\":%d,\"model\":\"%s\",\"n\":%d,\"rep\":%d,"
             "\"target\":\"%s\"}",
             strcmp(model, "brfa") == 0 ? 4 : 0, dim, keys, model, n, rep, target);
    snprintf(metrics, sizeof metrics, "{\"test_error\":%.17g}", error);
    add(context, "curve", parameters, metrics);
}

static inline const wt_claim_part *part_of(const char *claim, const char *name) {
    const wt_claim_part *part;
    for (size_t i = 0; (part = wt_claim_part_at(i)) != NULL; i++)
        if (strcmp(part->claim, claim) == 0 &&
            (name == NULL || (part->name != NULL && strcmp(part->name, name) == 0)))
            return part;
    fail_msg("there is no claim %s", claim);
    return NULL;
}

static inline wt_evidence measure(wt_context *context, const char *claim, const char *name) {
    const wt_claim_part *part = part_of(claim, name);
    wt_evidence evidence;
    CHECK_OK(context, wt_part_measure(context, &results, part, &evidence));
    return evidence;
}

#endif
