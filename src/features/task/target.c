#include "features/task/target.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define HIGHEST_POWER 64

static double dot(const double *a, const double *b, size_t dim) {
    double sum = 0;
    for (size_t j = 0; j < dim; j++)
        sum += a[j] * b[j];
    return sum;
}

/* x^p for whole p by squaring: the same bits everywhere, unlike pow. */
static double power(double x, double p) {
    double result = 1;
    for (unsigned left = (unsigned)p; left > 0; left /= 2, x *= x)
        if (left % 2 == 1)
            result *= x;
    return result;
}

/* <beta,x0>^p */
static double query_power(const wt_target_input *in, const double *parameters) {
    return power(dot(in->beta, in->query, in->dim), parameters[0]);
}

/* <beta,x1>^p, of the first key: the order of the keys matters to no other target */
static double first_power(const wt_target_input *in, const double *parameters) {
    return power(dot(in->beta, in->key, in->dim), parameters[0]);
}

/* (1/N) sum_i of a function of s = <x0,x_i> and b = <beta,x_i> */
typedef double (*pair_fn)(double s, double b, const double *parameters);
static double average(const wt_target_input *in, const double *parameters, pair_fn pair) {
    double sum = 0;
    for (size_t i = 0; i < in->keys; i++) {
        const double *key = in->key + i * in->dim;
        sum += pair(dot(in->query, key, in->dim), dot(in->beta, key, in->dim), parameters);
    }
    return sum / (double)in->keys;
}

static double mean_power_pair(double s, double b, const double *parameters) {
    (void)s;
    return power(b, parameters[0]);
}
static double corr_power_pair(double s, double b, const double *parameters) {
    return power(s, parameters[0]) * b;
}
static double corr_pair(double s, double b, const double *parameters) {
    (void)b;
    return power(s, parameters[0]);
}
static double corr_cos_pair(double s, double b, const double *parameters) {
    return cos(s) * power(b, parameters[0]);
}
static double mix_pair(double s, double b, const double *parameters) {
    double g = parameters[0];
    return (1 - g) * mean_power_pair(s, b, parameters + 1) +
           g * corr_power_pair(s, b, parameters + 2);
}

static double mean_power(const wt_target_input *in, const double *parameters) {
    return average(in, parameters, mean_power_pair);
}
static double corr_power(const wt_target_input *in, const double *parameters) {
    return average(in, parameters, corr_power_pair);
}
static double corr(const wt_target_input *in, const double *parameters) {
    return average(in, parameters, corr_pair);
}
static double corr_cos(const wt_target_input *in, const double *parameters) {
    return average(in, parameters, corr_cos_pair);
}
static double mix(const wt_target_input *in, const double *parameters) {
    return average(in, parameters, mix_pair);
}

/* Letters after the name: p and q are powers (0, 1, 2 ..), g a weight in [0, 1]. */
static const struct {
    const char *family, *letters;
    wt_target_info info;
    wt_target_fn value;
} targets[] = {
    {"query-power", "p", {"query-power:p", "<beta,x0>^p"}, query_power},
    {"first-power", "p", {"first-power:p", "<beta,x1>^p"}, first_power},
    {"mean-power", "p", {"mean-power:p", "(1/N) sum_i <beta,xi>^p"}, mean_power},
    {"corr-power", "q", {"corr-power:q", "(1/N) sum_i <x0,xi>^q <beta,xi>"}, corr_power},
    {"corr", "p", {"corr:p", "(1/N) sum_i <x0,xi>^p"}, corr},
    {"corr-cos", "p", {"corr-cos:p", "(1/N) sum_i cos(<x0,xi>) <beta,xi>^p"}, corr_cos},
    {"mix", "gpq", {"mix:g:p:q", "(1-g) mean-power:p + g corr-power:q"}, mix},
};
enum { TARGETS = sizeof targets / sizeof *targets };

const wt_target_info *wt_target_at(size_t index) {
    return index < TARGETS ? &targets[index].info : NULL;
}

static wt_status unknown(wt_context *context, const char *name) {
    const char *nearest = NULL;
    size_t least = strlen(name) / 3 + 2;
    for (size_t i = 0; i < TARGETS; i++) {
        size_t distance = wt_edit_distance(name, targets[i].family);
        if (distance < least) {
            least = distance;
            nearest = targets[i].info.form;
        }
    }
    if (nearest != NULL)
        return wt_fail(context, WT_USAGE, "there is no target '%s'; did you mean %s?", name,
                       nearest);
    return wt_fail(context, WT_USAGE,
                   "there is no target '%s'; the targets are query-power:p, first-power:p, "
                   "mean-power:p, corr-power:q, corr:p, corr-cos:p and mix:g:p:q",
                   name);
}

/* One parameter by its letter. */
static bool valid(char letter, double value) {
    if (letter == 'g')
        return value >= 0 && value <= 1;
    return value >= 0 && value <= HIGHEST_POWER && floor(value) == value;
}

static wt_status parse_parameters(wt_context *context, const char *text, char *words,
                                  const char *letters, const char *form, wt_target *out) {
    for (size_t i = 0; letters[i] != '\0'; i++) {
        if (words == NULL)
            return wt_fail(context, WT_USAGE, "target '%s' needs its parameters: %s", text, form);
        char *next = strchr(words, ':');
        if (next != NULL)
            *next++ = '\0';
        if (!wt_real_parse(words, &out->parameters[i]) || !valid(letters[i], out->parameters[i]))
            return wt_fail(context, WT_USAGE, "target '%s': %c must be %s", text, letters[i],
                           letters[i] == 'g' ? "in [0, 1]" : "a whole number of 0 to 64");
        out->count = i + 1;
        words = next;
    }
    if (words != NULL)
        return wt_fail(context, WT_USAGE, "target '%s' has too many parameters: %s", text, form);
    return WT_OK;
}

wt_status wt_target_parse(wt_context *context, const char *text, wt_target *out) {
    char words[128], shown[WT_QUOTED_BYTES / 2];
    if (strlen(text) >= sizeof words)
        return wt_fail(context, WT_USAGE, "'%s' is too long for a target",
                       wt_quote(text, shown, sizeof shown));
    snprintf(words, sizeof words, "%s", text);
    char *parameters = strchr(words, ':');
    if (parameters != NULL)
        *parameters++ = '\0';
    for (size_t i = 0; i < TARGETS; i++) {
        if (strcmp(words, targets[i].family) != 0)
            continue;
        *out = (wt_target){.family = targets[i].family, .value = targets[i].value};
        return parse_parameters(context, text, parameters, targets[i].letters, targets[i].info.form,
                                out);
    }
    return unknown(context, words);
}

void wt_target_spell(const wt_target *target, char *out) {
    size_t at = (size_t)snprintf(out, WT_TARGET_TEXT, "%s", target->family);
    for (size_t i = 0; i < target->count; i++)
        at += (size_t)snprintf(out + at, WT_TARGET_TEXT - at, ":%.17g", target->parameters[i]);
}
