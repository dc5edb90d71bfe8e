/* Several values of a field, as sweeps and list options have them. */
#include <string.h>

#include "base/context.h"
#include "base/field.h"
#include "base/memory.h"
#include "wattle/text.h"

/* Room for `more` values after those there are. */
static wt_status grow(wt_arena *arena, wt_list *list, size_t more) {
    wt_value *larger = WT_TAKE(arena, wt_value, list->count + more);
    if (larger != NULL && list->count > 0)
        memcpy(larger, list->values, list->count * sizeof *larger);
    list->values = larger;
    return arena->status;
}

static wt_status add_grid(wt_arena *arena, const wt_field *item, const char *text, wt_list *out) {
    bool whole = item->kind == WT_FIELD_KIND_COUNT || item->kind == WT_FIELD_KIND_NATURAL;
    double least = item->kind == WT_FIELD_KIND_COUNT ? 1 : 0;
    wt_grid grid = {0};
    wt_status status;
    WT_TRY((whole ? wt_grid_parse_integers : wt_grid_parse)(arena->context, text, &grid));
    WT_TRY(grow(arena, out, grid.count));
    for (size_t i = 0; i < grid.count; i++) {
        if (whole && grid.values[i] < least)
            WT_TRY(wt_fail(arena->context, WT_USAGE, "must be a whole number of %g or more, not %g",
                           least, grid.values[i]));
        out->values[out->count++] = (wt_value){.number = grid.values[i]};
    }
done:
    wt_grid_free(&grid);
    return status;
}

static wt_status add_word(wt_arena *arena, const wt_field *item, const char *word, wt_list *out) {
    wt_value value = {.text = word};
    if (item->kind == WT_FIELD_KIND_CHOICE && strchr("0123456789+-.", word[0]) != NULL)
        return add_grid(arena, item, word, out);
    if (item->kind == WT_FIELD_KIND_FLAG) {
        bool yes = strcmp(word, "yes") == 0;
        if (!yes && strcmp(word, "no") != 0)
            return wt_fail(arena->context, WT_USAGE, "'%s' is neither yes nor no", word);
        value = (wt_value){.number = yes};
    }
    WT_PASS(grow(arena, out, 1));
    out->values[out->count++] = value;
    return WT_OK;
}

/* Words with commas between them, blanks around them dropped; cuts the text into pieces. */
static wt_status add_words(wt_arena *arena, const wt_field *item, char *text, wt_list *out) {
    for (char *at = text; at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma++ = '\0';
        at += strspn(at, " \t");
        for (size_t length = strlen(at); length > 0 && strchr(" \t", at[length - 1]) != NULL;)
            at[--length] = '\0';
        if (*at == '\0')
            return wt_fail(arena->context, WT_USAGE, "a value between commas is empty");
        WT_PASS(add_word(arena, item, at, out));
        at = comma;
    }
    return WT_OK;
}

wt_status wt_list_parse(wt_arena *arena, const wt_field *item, const char *text, wt_list *out) {
    char *copy = wt_arena_copy(arena, text);
    WT_PASS(arena->status);
    switch (item->kind) {
    case WT_FIELD_KIND_TEXT:
        return add_word(arena, item, copy, out);
    case WT_FIELD_KIND_WORD:
    case WT_FIELD_KIND_CHOICE:
    case WT_FIELD_KIND_FLAG:
        return add_words(arena, item, copy, out);
    default:
        return add_grid(arena, item, text, out);
    }
}

wt_status wt_field_list(wt_arena *arena, const wt_field *field, const char *text, wt_list *out) {
    wt_field item = *field;
    *out = (wt_list){0};
    item.list = false;
    item.kind = field->list ? field->item : field->kind;
    WT_PASS(wt_list_parse(arena, &item, text, out));
    for (size_t i = 0; i < out->count; i++)
        WT_PASS(wt_field_check(arena->context, &item, out->values[i]));
    return WT_OK;
}
