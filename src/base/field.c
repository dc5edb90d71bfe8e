#include "base/field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/text.h"

/* Whole numbers up to here are doubles. */
#define MOST_WHOLE 9007199254740992.0

static bool is_text(const wt_field *field) {
    return field->kind == WT_FIELD_KIND_WORD || field->kind == WT_FIELD_KIND_TEXT;
}

static bool is_whole(const wt_field *field) {
    return field->kind == WT_FIELD_KIND_COUNT || field->kind == WT_FIELD_KIND_NATURAL;
}

const char *wt_field_option(const wt_field *field) {
    return field->option != NULL ? field->option : field->name;
}

const wt_field *wt_field_at(const wt_field *fields, size_t count, size_t index) {
    return index < count ? &fields[index] : NULL;
}

const wt_field *wt_field_find(const wt_field *fields, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].name, name) == 0 || strcmp(wt_field_option(&fields[i]), name) == 0)
            return &fields[i];
    return NULL;
}

/* ---- what a value may be ----------------------------------------------------------------------
 */

typedef struct {
    bool above, below; /* the ends are out */
    double least, most;
} interval;

static interval read_range(const char *text) {
    char *end;
    interval out = {.above = *text == '('};
    out.least = strtod(text + 1, &end);
    out.most = strtod(end + 1, &end);
    out.below = *end == ')';
    return out;
}

static bool inside(const interval *range, double x) {
    return (range->above ? x > range->least : x >= range->least) &&
           (range->below ? x < range->most : x <= range->most);
}

/* "must be above 0 and at most 1, not 2" */
static wt_status refuse_number(wt_context *context, const interval *range, double x) {
    char low[48], high[48] = "";
    bool bounded = isfinite(range->most);
    snprintf(low, sizeof low,
             bounded && !range->above ? "from %g"
             : range->above           ? "above %g"
                                      : "%g or more",
             range->least);
    if (bounded)
        snprintf(high, sizeof high, "%s%s %g", range->above ? " and" : "",
                 range->below   ? range->above ? " below" : " to below"
                 : range->above ? " at most"
                                : " to",
                 range->most);
    return wt_fail(context, WT_USAGE, "must be %s%s, not %g", low, high, x);
}

static bool is_alternative(const char *alternatives, const char *word) {
    size_t length = strlen(word);
    for (const char *at = alternatives; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (length > 0 && strncmp(at, word, length) == 0 &&
            (at[length] == '|' || at[length] == '\0'))
            return strchr(word, '|') == NULL;
    }
    return false;
}

static bool is_none(const wt_field *field, wt_value value) {
    double none;
    if (field->none == NULL)
        return false;
    if (value.text != NULL)
        return strcmp(value.text, field->none) == 0;
    return wt_real_parse(field->none, &none) && value.number == none;
}

wt_status wt_field_check(wt_context *context, const wt_field *field, wt_value value) {
    double x = value.number, least = field->kind == WT_FIELD_KIND_COUNT ? 1 : 0;
    if (is_none(field, value))
        return WT_OK;
    if (field->list && value.text != NULL) {
        wt_arena arena = wt_arena_start(context, "a list");
        wt_list list;
        wt_status status = wt_field_list(&arena, field, value.text, &list);
        wt_arena_free(&arena);
        return status;
    }
    if (value.text != NULL) {
        bool choice = field->value != NULL && strchr(field->value, '|') != NULL;
        if (*value.text == '\0')
            return wt_fail(context, WT_USAGE, "the value is empty");
        return !choice || is_alternative(field->value, value.text)
                   ? WT_OK
                   : wt_fail(context, WT_USAGE, "'%s' is none of %s", value.text, field->value);
    }
    if (is_text(field))
        return wt_fail(context, WT_USAGE, "must be given");
    if (!isfinite(x))
        return wt_fail(context, WT_USAGE, "must be a number, not %g", x);
    if (is_whole(field) && !(x >= least && x <= MOST_WHOLE && x == floor(x)))
        return wt_fail(context, WT_USAGE, "must be a whole number of %g or more, not %g", least, x);
    if (field->range != NULL) {
        interval range = read_range(field->range);
        if (!inside(&range, x))
            return refuse_number(context, &range, x);
    }
    return WT_OK;
}

/* ---- text -------------------------------------------------------------------------------------
 */

static wt_status refuse(wt_context *context, const char *text, const char *wanted) {
    return wt_fail(context, WT_USAGE, "'%s' is not %s", text, wanted);
}

/* A word that begins as a number does. */
static bool looks_numeric(const char *text) {
    return *text != '\0' && strchr("0123456789+-.", *text) != NULL;
}

wt_status wt_field_parse(wt_context *context, const wt_field *field, const char *text,
                         wt_value *out) {
    uint64_t whole;
    *out = (wt_value){0};
    if (is_text(field) || (field->kind == WT_FIELD_KIND_CHOICE && !looks_numeric(text))) {
        out->text = text;
    } else if (field->kind == WT_FIELD_KIND_FLAG) {
        out->number = strcmp(text, "yes") == 0;
        if (out->number == 0 && strcmp(text, "no") != 0)
            return wt_fail(context, WT_USAGE, "'%s' is neither yes nor no", text);
    } else if (is_whole(field)) {
        bool count = field->kind == WT_FIELD_KIND_COUNT;
        if (!wt_unsigned_parse(text, &whole) || whole < count || whole > (uint64_t)MOST_WHOLE)
            return refuse(context, text,
                          count ? "a whole number of 1 or more" : "a whole number of 0 or more");
        out->number = (double)whole;
    } else if (!wt_real_parse(text, &out->number)) {
        return refuse(context, text, "a number that fits a double");
    }
    return wt_field_check(context, field, *out);
}

const char *wt_field_print(const wt_field *field, wt_value value, char *out) {
    double back;
    if (value.text != NULL)
        return value.text;
    if (field->kind == WT_FIELD_KIND_FLAG)
        return value.number != 0 ? "yes" : "no";
    for (int digits = 15; digits <= 17; digits++) { /* no more than it takes to be read as it is */
        snprintf(out, WT_FIELD_TEXT, "%.*g", digits, value.number);
        if (wt_real_parse(out, &back) && back == value.number)
            break;
    }
    return out;
}

/* ---- members ----------------------------------------------------------------------------------
 */

/* "?" for a number that is none of the enumeration. */
static const char *word_at(const char *const *words, int place) {
    for (int i = 0; words[i] != NULL; i++)
        if (i == place)
            return words[i];
    return "?";
}

wt_value wt_field_get(const wt_field *field, const void *object) {
    const void *member = (const char *)object + field->offset;
    wt_value value = {0};
    switch (field->kind) {
    case WT_FIELD_KIND_WORD:
    case WT_FIELD_KIND_TEXT:
        value.text = field->words != NULL && !field->list
                         ? word_at(field->words, *(const int *)member)
                         : *(const char *const *)member;
        if (value.text == NULL)
            value.text = field->none;
        break;
    case WT_FIELD_KIND_COUNT:
    case WT_FIELD_KIND_NATURAL:
        value.number = (double)*(const size_t *)member;
        break;
    case WT_FIELD_KIND_REAL:
        value.number = *(const double *)member;
        if (isnan(value.number) && field->none != NULL)
            wt_real_parse(field->none, &value.number);
        break;
    case WT_FIELD_KIND_CHOICE:
        value = *(const wt_value *)member;
        break;
    case WT_FIELD_KIND_FLAG:
        value.number = *(const bool *)member;
        break;
    }
    return value;
}

bool wt_field_is_none(const wt_field *field, const void *object) {
    const void *member = (const char *)object + field->offset;
    if (is_text(field))
        return (field->words == NULL || field->list) && *(const char *const *)member == NULL;
    return field->kind == WT_FIELD_KIND_REAL && isnan(*(const double *)member);
}

/* The place of a word that is known to be one of them. */
static int place_of(const char *const *words, const char *word) {
    int place = 0;
    while (words[place + 1] != NULL && strcmp(words[place], word) != 0)
        place++;
    return place;
}

void wt_field_set(const wt_field *field, wt_value value, void *object) {
    void *member = (char *)object + field->offset;
    bool none = is_none(field, value);
    switch (field->kind) {
    case WT_FIELD_KIND_WORD:
    case WT_FIELD_KIND_TEXT:
        if (field->words != NULL && !field->list)
            *(int *)member = place_of(field->words, value.text);
        else
            *(const char **)member = none ? NULL : value.text;
        break;
    case WT_FIELD_KIND_COUNT:
    case WT_FIELD_KIND_NATURAL:
        *(size_t *)member = (size_t)value.number;
        break;
    case WT_FIELD_KIND_REAL:
        *(double *)member = none ? NAN : value.number;
        break;
    case WT_FIELD_KIND_CHOICE:
        *(wt_value *)member = value;
        break;
    case WT_FIELD_KIND_FLAG:
        *(bool *)member = value.number != 0;
        break;
    }
}

/* ---- tables -----------------------------------------------------------------------------------
 */

wt_value wt_field_usual(const wt_field *field) {
    wt_value value = {.text = field->fallback};
    if (field->fallback == NULL || is_text(field))
        return value;
    if (field->kind == WT_FIELD_KIND_FLAG)
        return (wt_value){.number = strcmp(field->fallback, "yes") == 0};
    if (wt_real_parse(field->fallback, &value.number))
        value.text = NULL;
    return value;
}

void wt_fields_init(const wt_field *fields, size_t count, void *object) {
    for (size_t i = 0; i < count; i++)
        if (fields[i].fallback != NULL)
            wt_field_set(&fields[i], wt_field_usual(&fields[i]), object);
}

void wt_fields_set(const wt_field *fields, size_t count, const wt_value *values, void *object) {
    for (size_t i = 0; i < count; i++)
        wt_field_set(&fields[i], values[i], object);
}

void wt_fields_get(const wt_field *fields, size_t count, const void *object, wt_value *values) {
    for (size_t i = 0; i < count; i++)
        values[i] = wt_field_get(&fields[i], object);
}

/* The same with the name before it. */
static wt_status check_named(wt_context *context, const wt_field *field, wt_value value) {
    wt_status status = wt_field_check(context, field, value);
    if (status != WT_USAGE)
        return status;
    char why[WT_MESSAGE_BYTES];
    snprintf(why, sizeof why, "%s", wt_context_message(context));
    return wt_fail(context, WT_USAGE, "%s%s %s", wt_field_option(field),
                   strncmp(why, "must", 4) == 0 ? "" : ":", why);
}

wt_status wt_fields_check(wt_context *context, const wt_field *fields, size_t count,
                          const void *object) {
    wt_status status = WT_OK;
    for (size_t i = 0; status == WT_OK && i < count; i++)
        status = check_named(context, &fields[i], wt_field_get(&fields[i], object));
    return status;
}

wt_status wt_fields_read(wt_context *context, const wt_field *fields, size_t count,
                         const wt_value *values, void *object) {
    wt_status status = WT_OK;
    for (size_t i = 0; status == WT_OK && i < count; i++)
        status = check_named(context, &fields[i], values[i]);
    if (status == WT_OK)
        wt_fields_set(fields, count, values, object);
    return status;
}
