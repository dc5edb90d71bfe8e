#include "lab/spec.h"

#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/source.h"

#define MOST_BYTES ((uint64_t)1 << 20) /* of a file: no sweep needs as much */

/* A file on its way through the parser, which asks for a line at a time. */
typedef struct {
    wt_context *context;
    wt_sweep_spec *spec;
    const char *text;
    size_t at, bytes;
    int line;
    bool seen_section;
    wt_status status; /* of the first failure; its sentence is on the context */
} reading;

const wt_sweep_spec_entry *wt_sweep_spec_find(const wt_sweep_spec *spec, const char *key) {
    for (size_t i = 0; i < spec->count; i++)
        if (strcmp(spec->entries[i].key, key) == 0)
            return &spec->entries[i];
    return NULL;
}

static bool has_word(const char *sentence, const char *word) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    size_t length = strlen(word);
    for (const char *at = sentence; (at = strstr(at, word)) != NULL; at += length) {
        bool begins = at == sentence || strchr(letters, at[-1]) == NULL;
        if (begins && (at[length] == '\0' || strchr(letters, at[length]) == NULL))
            return true;
    }
    return false;
}

const wt_sweep_spec_entry *wt_sweep_spec_blame(const wt_sweep_spec *spec, const char *sentence) {
    const wt_sweep_spec_entry *found = NULL;
    for (size_t i = 0; i < spec->count; i++) {
        const wt_sweep_spec_entry *entry = &spec->entries[i];
        if (has_word(sentence, entry->key) &&
            (found == NULL || (found->line > 0 && entry->line == 0)))
            found = entry;
    }
    return found;
}

wt_status wt_sweep_spec_fail(wt_context *context, const wt_sweep_spec *spec,
                             const wt_sweep_spec_entry *entry, const char *format, ...) {
    char reason[WT_MESSAGE_BYTES], key[WT_QUOTED_BYTES] = "";
    va_list values;
    va_start(values, format);
    vsnprintf(reason, sizeof reason, format, values);
    va_end(values);
    const char *file = spec->path == NULL ? "the sweep" : spec->path;
    if (entry == NULL)
        return wt_fail(context, spec->path == NULL ? WT_USAGE : WT_CONFIG, "%s: %s", file, reason);
    wt_quote(entry->key, key, sizeof key);
    size_t length = strlen(key); /* a reason that names the key says it once */
    const char *why = strncmp(reason, key, length) == 0 && strncmp(reason + length, ": ", 2) == 0
                          ? reason + length + 2
                          : reason;
    if (entry->line == 0)
        return wt_fail(context, WT_USAGE, "--set %s: %s", key, why);
    return wt_fail(context, WT_CONFIG, "%s: line %d: %s: %s", file, entry->line, key, why);
}

__attribute__((format(printf, 2, 3))) static wt_status refuse_line(reading *file,
                                                                   const char *format, ...) {
    char reason[WT_MESSAGE_BYTES];
    va_list values;
    va_start(values, format);
    vsnprintf(reason, sizeof reason, format, values);
    va_end(values);
    return wt_fail(file->context, WT_CONFIG, "%s: line %d: %s", file->spec->path, file->line,
                   reason);
}

/* The next line for the parser, as fgets would give it. The parser cuts lines that do not fit its
 * buffer, so that they are refused here. */
static char *next_line(char *out, int room, void *stream) {
    reading *file = stream;
    if (file->at >= file->bytes || file->status != WT_OK)
        return NULL;
    const char *begin = file->text + file->at;
    const char *end = memchr(begin, '\n', file->bytes - file->at);
    size_t length = end == NULL ? file->bytes - file->at : (size_t)(end - begin) + 1;
    file->line++;
    if (length >= (size_t)room) {
        file->status = refuse_line(file, "is longer than %d characters", room - 2);
        return NULL;
    }
    memcpy(out, begin, length);
    out[length] = '\0';
    if (strlen(out) != length || !wt_utf8_valid(out)) {
        file->status = refuse_line(file, "is not UTF-8 text");
        return NULL;
    }
    file->at += length;
    return out;
}

static void free_entry(wt_sweep_spec_entry *entry) {
    wt_release(entry->key);
    wt_release(entry->text);
}

/* Puts a key with its value, in the place of one of this name. */
static wt_status put(wt_context *context, wt_sweep_spec *spec, const char *key, const char *text,
                     int line) {
    const wt_sweep_spec_entry *known = wt_sweep_spec_find(spec, key);
    const size_t place = known == NULL ? spec->count : (size_t)(known - spec->entries);
    wt_sweep_spec_entry entry = {.line = line};
    wt_status status;
    if (place == WT_SPEC_MOST)
        return wt_fail(context, WT_CONFIG, "a sweep of more than %d keys", WT_SPEC_MOST);
    WT_TRY(wt_copy_text(context, &entry.key, key, "a key"));
    WT_TRY(wt_copy_text(context, &entry.text, text, "a value"));
    free_entry(&spec->entries[place]);
    spec->entries[place] = entry;
    spec->count += known == NULL;
    return WT_OK;
done:
    free_entry(&entry);
    return status;
}

static wt_status take_pair(reading *file, const char *section, const char *key, const char *text) {
    char shown[WT_QUOTED_BYTES];
    if (section[0] == '\0')
        return refuse_line(file, "'%s' stands before any section; begin with [sweep]", key);
    if (strcmp(section, "sweep") != 0)
        return refuse_line(file, "unknown section [%s]; there is [sweep] alone",
                           wt_quote(section, shown, sizeof shown));
    file->seen_section = true;
    wt_quote(key, shown, sizeof shown);
    const wt_sweep_spec_entry *before = wt_sweep_spec_find(file->spec, key);
    if (before != NULL) /* an indented line too: the parser reads it as more of the last key */
        return refuse_line(file, "'%s' is given again, after line %d", shown, before->line);
    if (text == NULL || text[0] == '\0')
        return refuse_line(file, "'%s' has no value", shown);
    return put(file->context, file->spec, key, text, file->line);
}

/* inih's: 0 is an error, after which it goes on all the same. */
static int on_pair(void *user, const char *section, const char *key, const char *text) {
    reading *file = user;
    if (file->status == WT_OK)
        file->status = take_pair(file, section, key, text);
    return file->status == WT_OK;
}

static wt_status parse(reading *file) {
    int bad_line = ini_parse_stream(next_line, file, on_pair, file);
    if (file->status != WT_OK)
        return file->status;
    if (bad_line < 0)
        return wt_fail(file->context, WT_MEMORY, "%s: no memory to read it", file->spec->path);
    if (bad_line > 0) {
        file->line = bad_line;
        return refuse_line(file, "is neither a [section] nor 'key = value'");
    }
    if (!file->seen_section)
        return wt_fail(file->context, WT_CONFIG, "%s: has no section [sweep] with keys in it",
                       file->spec->path);
    return WT_OK;
}

static wt_status read_file(wt_context *context, const char *path, wt_sweep_spec *out) {
    wt_source source = {.file = -1};
    char *text = NULL;
    wt_status status;
    WT_TRY(wt_source_open(context, path, &source));
    WT_TRY(wt_copy_text(context, &out->path, source.shown, "the path of a sweep"));
    if (source.bytes > MOST_BYTES)
        WT_TRY(wt_fail(context, WT_CONFIG, "%s: is too large for the description of a sweep",
                       out->path));
    WT_TRY(WT_NEW(context, &text, (size_t)source.bytes + 1, "the description of a sweep"));
    int64_t got = wt_source_read(&source, 0, text, (size_t)source.bytes);
    if (got < 0)
        WT_TRY(wt_fail(context, WT_IO, "%s: cannot be read", out->path));
    reading file = {.context = context, .spec = out, .text = text, .bytes = (size_t)got};
    WT_TRY(parse(&file));
done:
    wt_release(text);
    wt_source_close(&source);
    return status;
}

/* An empty specification filled by `fill`. */
static wt_status make(wt_context *context, const char *from, wt_sweep_spec **out,
                      wt_status (*fill)(wt_context *context, const char *from,
                                        wt_sweep_spec *spec)) {
    wt_status status;
    *out = NULL;
    WT_TRY(WT_NEW_ZERO(context, out, 1, "a sweep"));
    WT_TRY(fill(context, from, *out));
done:
    if (status != WT_OK) {
        wt_sweep_spec_free(*out);
        *out = NULL;
    }
    return status;
}

wt_status wt_sweep_spec_load(wt_context *context, const char *path, wt_sweep_spec **out) {
    return make(context, path, out, read_file);
}

/* Length of a key with "=" behind it, 0 = there is none: what else has a "=" is part of a value
 * with blanks in it. */
static size_t key_length(const char *text) {
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return text[length] == '=' ? length : 0;
}

/* Length of the value that starts here, up to the blank before the next key. */
static size_t value_length(const char *text) {
    size_t length = 0;
    while (text[length] != '\0' && (text[length] != ' ' || key_length(text + length + 1) == 0))
        length++;
    return length;
}

wt_status wt_sweep_spec_add_line(wt_context *context, const char *line, wt_sweep_spec *spec) {
    char *text = NULL;
    wt_status status;
    WT_TRY(wt_copy_text(context, &text, line, "a sweep"));
    for (char *at = text; *at != '\0';) {
        size_t key = key_length(at);
        if (key == 0)
            WT_TRY(wt_fail(context, WT_USAGE, "'%s' is not of the form key=grid", at));
        size_t whole = key + 1 + value_length(at + key + 1);
        char *next = at + whole + (at[whole] == ' ');
        at[whole] = '\0';
        WT_TRY(wt_sweep_spec_set(context, spec, at));
        at = next;
    }
done:
    wt_release(text);
    return status;
}

wt_status wt_sweep_spec_parse(wt_context *context, const char *text, wt_sweep_spec **out) {
    return make(context, text, out, wt_sweep_spec_add_line);
}

wt_status wt_sweep_spec_set(wt_context *context, wt_sweep_spec *spec, const char *assignment) {
    const char *equals = strchr(assignment, '=');
    char *key = NULL;
    wt_status status;
    if (equals == NULL || equals == assignment || equals[1] == '\0' || !wt_utf8_valid(assignment))
        return wt_fail(context, WT_USAGE, "--set: '%s' is not of the form key=grid", assignment);
    WT_TRY(wt_copy_text(context, &key, assignment, "a key"));
    key[equals - assignment] = '\0';
    WT_TRY(put(context, spec, key, equals + 1, 0));
done:
    wt_release(key);
    return status;
}

wt_status wt_sweep_spec_line(wt_context *context, const wt_sweep_spec *spec, char **out) {
    size_t bytes = 1, used = 0;
    for (size_t i = 0; i < spec->count; i++)
        bytes += strlen(spec->entries[i].key) + strlen(spec->entries[i].text) + 2;
    wt_status status = WT_NEW_ZERO(context, out, bytes, "the keys of a sweep");
    for (size_t i = 0; status == WT_OK && i < spec->count; i++)
        used += (size_t)snprintf(*out + used, bytes - used, "%s%s=%s", i == 0 ? "" : " ",
                                 spec->entries[i].key, spec->entries[i].text);
    return status;
}

void wt_sweep_spec_free(wt_sweep_spec *spec) {
    if (spec == NULL)
        return;
    for (size_t i = 0; i < spec->count; i++)
        free_entry(&spec->entries[i]);
    wt_release(spec->path);
    wt_release(spec);
}
