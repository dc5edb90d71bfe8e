#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "features/model/features.h"
#include "features/model/model_fields.h"

const char *const wt_model_kind_words[] = {[WT_MODEL_KIND_RFA] = "rfa",
                                           [WT_MODEL_KIND_BRFA] = "brfa",
                                           [WT_MODEL_KIND_RFMLP] = "rfmlp",
                                           [WT_MODEL_KIND_RFA_INF] = "rfa-inf",
                                           [WT_MODEL_KIND_BRFA_INF] = "brfa-inf",
                                           [WT_MODEL_KIND_RFMLP_INF] = "rfmlp-inf",
                                           NULL};
enum { KINDS = sizeof wt_model_kind_words / sizeof *wt_model_kind_words - 1 };
const char *const wt_activation_words[] = {
    [WT_ACTIVATION_RELU] = "relu", [WT_ACTIVATION_SOFTMAX] = "softmax", NULL};

#define AT(member) offsetof(wt_model_spec, member)
static const wt_field fields[] = {WT_MODEL_FIELDS(AT, WT_FIELD_ONE, "rfa")};
enum { FIELDS = sizeof fields / sizeof *fields };

const wt_field *wt_model_fields(size_t *count) {
    *count = FIELDS;
    return fields;
}

wt_status wt_model_kind_parse(wt_context *context, const char *word, wt_model_kind *out) {
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(word, wt_model_kind_words[i]) == 0) {
            *out = (wt_model_kind)i;
            return WT_OK;
        }
    return wt_fail(context, WT_USAGE,
                   "there is no model '%s': rfa, brfa, rfmlp, rfa-inf, brfa-inf or rfmlp-inf",
                   word);
}

const char *wt_model_kind_name(wt_model_kind kind) {
    return (size_t)kind < KINDS ? wt_model_kind_words[kind] : "?";
}

bool wt_model_kind_infinite(wt_model_kind kind) {
    return kind >= WT_MODEL_KIND_RFA_INF && (size_t)kind < KINDS;
}

wt_status wt_activation_parse(wt_context *context, const char *word, wt_activation *out) {
    *out = strcmp(word, "softmax") == 0 ? WT_ACTIVATION_SOFTMAX : WT_ACTIVATION_RELU;
    if (strcmp(word, wt_activation_name(*out)) != 0)
        return wt_fail(context, WT_USAGE, "activation '%s' is neither relu nor softmax", word);
    return WT_OK;
}

const char *wt_activation_name(wt_activation activation) {
    return activation == WT_ACTIVATION_RELU      ? "relu"
           : activation == WT_ACTIVATION_SOFTMAX ? "softmax"
                                                 : "?";
}

wt_status wt_model_check(wt_context *context, const wt_model_spec *spec) {
    const char *name = wt_model_kind_name(spec->kind);
    bool infinite = wt_model_kind_infinite(spec->kind);
    wt_status status = wt_check_choice(context, "model", (int)spec->kind, KINDS);
    if (status == WT_OK)
        status = wt_check_choice(context, "activation", (int)spec->activation,
                                 WT_ACTIVATION_SOFTMAX + 1);
    if (status != WT_OK)
        return status;
    if (!infinite && spec->heads == 0)
        return wt_fail(context, WT_USAGE, "%s needs 1 head or more", name);
    if (!isfinite(spec->bias))
        return wt_fail(context, WT_USAGE, "the bias of %s must be finite, not %g", name,
                       spec->bias);
    if (infinite && spec->activation == WT_ACTIVATION_SOFTMAX)
        return wt_fail(context, WT_USAGE,
                       "%s has no closed form with softmax: take relu, or a finite model", name);
    if (spec->kind == WT_MODEL_KIND_RFMLP && spec->activation == WT_ACTIVATION_SOFTMAX)
        return wt_fail(context, WT_USAGE, "rfmlp has no softmax: it does not attend");
    if (spec->dim == 0 || spec->keys == 0)
        return wt_fail(context, WT_USAGE,
                       "%s needs tokens of 1 dimension or more and 1 key or more", name);
    return WT_OK;
}

void wt_model_spec_init(wt_model_spec *spec, size_t size) {
    wt_model_spec all = {0};
    wt_fields_init(fields, FIELDS, &all);
    spec->size = size;
    wt_sized_write(spec, &all, sizeof all);
}

wt_status wt_model_spec_read(wt_context *context, const wt_model_spec *given, wt_model_spec *out) {
    WT_INIT(wt_model_spec, out);
    WT_PASS(wt_sized_read(context, "wt_model_spec", given, out, sizeof *out));
    return wt_model_check(context, out);
}

wt_status wt_model_spec_check(wt_context *context, const wt_model_spec *spec) {
    wt_model_spec all;
    return wt_model_spec_read(context, spec, &all);
}
