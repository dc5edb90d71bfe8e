/* A sweep as the file and the words that do it again. */
#include <string.h>

#include "lab/spec.h"

static bool fits_line(const wt_sweep_spec_entry *entry) {
    return strlen(entry->key) + strlen(" = ") + strlen(entry->text) <= WT_SPEC_LINE;
}

/* What is no sweep of ours any more is written as far as it can be read. */
static void each_entry(wt_script *out, const char *sweep,
                       void (*take)(wt_script *out, const wt_sweep_spec_entry *entry)) {
    wt_sweep_spec *spec;
    wt_status status = wt_sweep_spec_parse(out->context, "", &spec);
    if (status == WT_OK)
        status = wt_sweep_spec_add_line(out->context, sweep, spec);
    if (status == WT_MEMORY)
        out->status = WT_MEMORY;
    for (size_t i = 0; spec != NULL && i < spec->count; i++)
        take(out, &spec->entries[i]);
    wt_sweep_spec_free(spec);
}

static void add_line(wt_script *out, const wt_sweep_spec_entry *entry) {
    if (fits_line(entry))
        wt_script_add(out, "%s = %s\n", entry->key, entry->text);
    else
        wt_script_add(out, "; %s is too long for a line: it comes by --set\n", entry->key);
}

void wt_sweep_spec_write(wt_script *out, const char *sweep) {
    wt_script_add(out, "[sweep]\n");
    each_entry(out, sweep, add_line);
}

static void add_word(wt_script *out, const wt_sweep_spec_entry *entry) {
    if (fits_line(entry))
        return;
    wt_script_add(out, " --set %s=", entry->key);
    wt_script_word(out, entry->text);
}

void wt_sweep_spec_words(wt_script *out, const char *sweep) {
    each_entry(out, sweep, add_word);
}
