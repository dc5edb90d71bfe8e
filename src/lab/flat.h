/* The JSON a store holds, member by member and without a tree: objects of plain values with their
 * names in rising order and no blanks, as cell.h writes them. Anything else is no text of ours. */
#ifndef WT_LAB_FLAT_H
#define WT_LAB_FLAT_H

#include "base/context.h"

typedef enum wt_flat_kind {
    WT_FLAT_NULL,
    WT_FLAT_FALSE,
    WT_FLAT_TRUE,
    WT_FLAT_WHOLE, /* -?digits */
    WT_FLAT_REAL,
    WT_FLAT_WORDS
} wt_flat_kind;

/* Pieces of the text. Names and words are without their quotes, and as they stand: wt_flat_spell
 * makes letters of their escapes. */
typedef struct wt_flat_member {
    const char *name, *value;
    size_t name_length, value_length;
    wt_flat_kind kind;
} wt_flat_member;

/* Starts before the first member: {.at = text}. */
typedef struct wt_flat {
    const char *at; /* NULL = past the end, or `wrong` */
    const char *last;
    size_t last_length;
    bool begun, wrong;
} wt_flat;

/* The next member; false past the last, or when the text is none of ours, which `wrong` tells. The
 * text must be valid UTF-8. */
bool wt_flat_next(wt_flat *walk, wt_flat_member *out);
/* Whether the member has this name. */
bool wt_flat_is(const wt_flat_member *member, const char *name);
/* Whether the text is of ours from end to end. */
bool wt_flat_check(const char *text);

/* The number of a value: true is 1, words that are a number count as it, NaN for all else. */
double wt_flat_number(const wt_flat_member *member);
/* A whole number from 0 to 2^53; false when it is none. */
bool wt_flat_natural(const wt_flat_member *member, int64_t *out);
/* Words or a name in letters, into out[size], cut off between characters where that is too small;
 * length + 1 is enough. */
void wt_flat_spell(const char *text, size_t length, char *out, size_t size);

#endif
