/* What holds for every table of fields. */
#ifndef TESTS_CHECK_FIELDS_H
#define TESTS_CHECK_FIELDS_H

#include "base/field.h"
#include "check.h"

/* The words of an enum are those that help shows. */
static inline void check_words(const wt_field *field) {
    char joined[256] = "";
    for (size_t i = 0, used = 0; field->words != NULL && field->words[i] != NULL; i++)
        used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%s", i == 0 ? "" : "|",
                                 field->words[i]);
    if (field->words != NULL)
        assert_string_equal(joined, field->value);
}

/* `object` is as its init function left it: every member is the field's fallback, which is read,
 * set and printed as it was. Every field has a name of its own, in either spelling, and words. */
static inline void check_fields(wt_context *context, const wt_field *fields, size_t count,
                                void *object) {
    for (size_t i = 0; i < count; i++) {
        const wt_field *field = &fields[i];
        wt_value value;
        char first[WT_FIELD_TEXT], again[WT_FIELD_TEXT];
        assert_ptr_equal(wt_field_find(fields, count, field->name), field);
        assert_ptr_equal(wt_field_find(fields, count, wt_field_option(field)), field);
        assert_true(field->help != NULL && *field->help != '\0');
        assert_true(field->kind == WT_FIELD_KIND_FLAG || field->value != NULL);
        check_words(field);
        if (field->fallback == NULL)
            continue; /* must be given */
        CHECK_OK(context, wt_field_check(context, field, wt_field_get(field, object)));
        CHECK_OK(context, wt_field_parse(context, field, field->fallback, &value));
        const char *written = wt_field_print(field, value, first);
        assert_string_equal(wt_field_print(field, wt_field_get(field, object), again), written);
        wt_field_set(field, value, object);
        assert_string_equal(wt_field_print(field, wt_field_get(field, object), again), written);
    }
}

#endif
