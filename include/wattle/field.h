/* Fields: what the members of an options struct are called, what they may be and what they mean.
 *
 * One table of fields an options struct makes the options of a command, the keys of a sweep, what
 * model files say of a setting, and the reference. It reads and prints a setting by name:
 *
 *     size_t count;
 *     const wt_field *fields = wt_train_fields(&count), *steps;
 *     wt_value value;
 *     wt_train_spec setting;
 *     WT_INIT(wt_train_spec, &setting);
 *     steps = wt_field_find(fields, count, "steps");
 *     if (wt_field_parse(context, steps, "500", &value) == WT_OK)
 *         wt_field_set(steps, value, &setting);
 */
#ifndef WATTLE_FIELD_H
#define WATTLE_FIELD_H

#include "wattle/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wt_field_kind {
    WT_FIELD_KIND_WORD,    /* const char *; "rfa,brfa" in a sweep is two of them */
    WT_FIELD_KIND_TEXT,    /* const char * in which commas mean nothing to a sweep */
    WT_FIELD_KIND_COUNT,   /* size_t, 1 or more */
    WT_FIELD_KIND_NATURAL, /* size_t */
    WT_FIELD_KIND_REAL,    /* double */
    WT_FIELD_KIND_CHOICE,  /* wt_value: a number, or a word; "1e-3,1e-2,loo" in a sweep */
    WT_FIELD_KIND_FLAG     /* bool: yes or no */
} wt_field_kind;

/* A value: text for words and texts, else NULL and the number (a flag is 0 or 1). Text is borrowed.
 */
typedef struct wt_value {
    double number;
    const char *text;
} wt_value;

/* It may grow at its end: a table is walked by wt_field_at, never by a pointer of one's own. */
typedef struct wt_field {
    const char *name; /* in sweeps, and in the names of their cells */
    wt_field_kind kind;
    const char *fallback;     /* as it would be written; NULL = must be given */
    const char *help;         /* one or two sentences */
    size_t offset;            /* of the member in its struct */
    const char *value;        /* what is to be written, as "P"; the words allowed: "relu|softmax" */
    const char *option;       /* the other spelling: of the command's option; NULL = the name */
    const char *file;         /* the key in model files of before; NULL = the option, as now */
    const char *range;        /* of numbers, as an interval: "(0,1]", "[0,inf)"; NULL = any */
    const char *none;         /* the text that is NULL or NaN in the struct; NULL = no such text */
    const char *const *words; /* the member is an enum of these, from 0; they end with NULL */
    const char *only; /* the models it means something to, with blanks between; NULL = all */
    int64_t since;    /* the result version it came in when cells of that had names already: at its
                         fallback it is not in them; 0 = from the start */
    const char *letter; /* of the command's short option: "T"; NULL = none */
    bool list;          /* a text that is a list of values, as a sweep has them: "rfa,brfa" or
                           "16:1024:x2"; range and value are those of the items */
    wt_field_kind item; /* of a list: the kind of its items */
} wt_field;

/* A field of a table of `count`; NULL past the last. */
WT_API const wt_field *wt_field_at(const wt_field *fields, size_t count, size_t index);
/* The field of that name, in either spelling; NULL when there is none. */
WT_API const wt_field *wt_field_find(const wt_field *fields, size_t count, const char *name);
/* As the command spells it. */
WT_API const char *wt_field_option(const wt_field *field);

/* One value from text, in its range; the text is borrowed. WT_USAGE with a sentence that leaves out
 * the name: "'x' is not a whole number of 1 or more". */
WT_API wt_status wt_field_parse(wt_context *context, const wt_field *field, const char *text,
                                wt_value *out);
/* WT_USAGE unless the value is one that the field may have; the same sentences. */
WT_API wt_status wt_field_check(wt_context *context, const wt_field *field, wt_value value);

#define WT_FIELD_TEXT 32
/* The value as wt_field_parse reads it. Texts are returned as they are, else it is written into
 * out[WT_FIELD_TEXT]. */
WT_API const char *wt_field_print(const wt_field *field, wt_value value, char *out);

/* The values of a list, each in the range of the field, in the arena. Of a field that is none,
 * several values of its kind. */
typedef struct wt_list {
    size_t count;
    wt_value *values;
} wt_list;
WT_API wt_status wt_field_list(wt_arena *arena, const wt_field *field, const char *text,
                               wt_list *out);

/* The member of a struct. */
WT_API wt_value wt_field_get(const wt_field *field, const void *object);
/* Whether it is the NULL or NaN that stands for `none`, or a text that is not there. */
WT_API bool wt_field_is_none(const wt_field *field, const void *object);
WT_API void wt_field_set(const wt_field *field, wt_value value, void *object);

#ifdef __cplusplus
}
#endif
#endif
