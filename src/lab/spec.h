/* What a sweep is to do, as it is written, from within. */
#ifndef WT_LAB_SPEC_H
#define WT_LAB_SPEC_H

#include "base/context.h"
#include "io/script.h"
#include "wattle/sweep.h"

#define WT_SPEC_LINE 198 /* characters a line may have: Debian's build of inih takes no more */

enum { WT_SPEC_MOST = 64, WT_SPEC_PLACE = 320 };

typedef struct wt_sweep_spec_entry {
    char *key, *text;
    int line; /* in the file; 0 = set by an option */
} wt_sweep_spec_entry;

struct wt_sweep_spec {
    char *path; /* as sentences show it; NULL = no file */
    wt_sweep_spec_entry entries[WT_SPEC_MOST];
    size_t count;
};

/* Sets all words of "experiment=curve n=16:512:x2 ..", as wt_sweep_spec_line gives them: values may
 * have blanks in them. What was read before a failure stays. */
wt_status wt_sweep_spec_add_line(wt_context *context, const char *line, wt_sweep_spec *spec);

/* "experiment=curve n=16:512:x2 ..": all there is, in one line; to be released. */
wt_status wt_sweep_spec_line(wt_context *context, const wt_sweep_spec *spec, char **out);

/* The sweep that such a line tells as the INI file `wattle sweep run` reads; what is too long for a
 * line of one is left to the words of the command. */
void wt_sweep_spec_write(wt_script *out, const char *sweep);
/* Those words, quoted for a shell: " --set seed=1,2,3"; nothing where the file has all. */
void wt_sweep_spec_words(wt_script *out, const char *sweep);

/* NULL when the key is not there. */
const wt_sweep_spec_entry *wt_sweep_spec_find(const wt_sweep_spec *spec, const char *key);

/* The entry that a sentence about a whole setting is about: the first whose key is a word of it,
 * those set by an option before those of the file. NULL when there is none. */
const wt_sweep_spec_entry *wt_sweep_spec_blame(const wt_sweep_spec *spec, const char *sentence);

/* WT_CONFIG or WT_USAGE, led in by where the entry stands: "spec.ini: line 3: n: ..". Without an
 * entry, by the file alone. */
__attribute__((format(printf, 4, 5))) wt_status wt_sweep_spec_fail(wt_context *context,
                                                                   const wt_sweep_spec *spec,
                                                                   const wt_sweep_spec_entry *entry,
                                                                   const char *format, ...);

#endif
