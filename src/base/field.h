/* Whole tables of fields. */
#ifndef WT_BASE_FIELD_H
#define WT_BASE_FIELD_H

#include "wattle/field.h"

/* Kinds of rows that are one value in one table and a list in another. */
#define WT_FIELD_ONE(item_kind) .kind = WT_FIELD_KIND_##item_kind
#define WT_FIELD_LIST(item_kind)                                                                   \
    .kind = WT_FIELD_KIND_TEXT, .list = true, .item = WT_FIELD_KIND_##item_kind

/* Values of the field's kind, grids and words as sweeps have them, added to *out; ranges are not
 * looked at. */
wt_status wt_list_parse(wt_arena *arena, const wt_field *item, const char *text, wt_list *out);

/* What a field is when nothing is said; text and 0 where it must be given. */
wt_value wt_field_usual(const wt_field *field);

/* Every member that has one gets its fallback. */
void wt_fields_init(const wt_field *fields, size_t count, void *object);
/* The same after a check of every value: WT_USAGE for the first that its field may not have. */
wt_status wt_fields_read(wt_context *context, const wt_field *fields, size_t count,
                         const wt_value *values, void *object);
/* All members from the values, in the order of the table, and back. */
void wt_fields_set(const wt_field *fields, size_t count, const wt_value *values, void *object);
void wt_fields_get(const wt_field *fields, size_t count, const void *object, wt_value *values);

/* WT_USAGE for the first member that is out of its range: "steps must be ..". */
wt_status wt_fields_check(wt_context *context, const wt_field *fields, size_t count,
                          const void *object);

#endif
