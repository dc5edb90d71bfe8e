#include "lab/spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/quote.h"
#include "io/source.h"

#define MOST_BYTES ((uint64_t)1 << 20) /* of a file: no sweep needs as much */

/* A file on its way, line by line. */
typedef struct {
    wt_context *context;
    wt_spec *spec;
    const char *section; /* the last that was seen */
    int line;
    bool seen_section; /* with a key in it */
} reading;

const wt_spec_entry *wt_spec_find(const wt_spec *spec, const char *key) {
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

const wt_spec_entry *wt_spec_blame(const wt_spec *spec, const char *sentence) {
    const wt_spec_entry *found = NULL;
    for (size_t i = 0; i < spec->count; i++) {
        const wt_spec_entry *entry = &spec->entries[i];
        if (has_word(sentence, entry->key) &&
            (found == NULL || (found->line > 0 && entry->line == 0)))
            found = entry;
    }
    return found;
}

wt_status wt_spec_fail(wt_context *context, const wt_spec *spec, const wt_spec_entry *entry,
                       const char *format, ...) {
    char reason[WT_MESSAGE_BYTES], key[WT_QUOTED_BYTES] = "";
    va_list values;
    va_start(values, format);
    vsnprintf(reason, sizeof reason, format, values);
    va_end(values);
    const char *file = spec->path == NULL ? "the sweep" : spec->path;
    if (entry == NULL)
        return wt_fail(context, spec->path == NULL ? WT_USAGE : WT_CONFIG, "%s: %s", file, reason);
    wt_quote(entry->key, key, sizeof key);
    if (entry->line == 0)
        return wt_fail(context, WT_USAGE, "--set %s: %s", key, reason);
    return wt_fail(context, WT_CONFIG, "%s: line %d: %s: %s", file, entry->line, key, reason);
}

static wt_status refuse_line(reading *file, const char *reason) {
    return wt_fail(file->context, WT_CONFIG, "%s: line %d: %s", file->spec->path, file->line,
                   reason);
}

static wt_status add(wt_context *context, wt_spec *spec, const char *key, const char *text,
                     int line) {
    wt_status status;
    if (spec->count == WT_SPEC_MOST)
        return wt_fail(context, WT_CONFIG, "a sweep of more than %d keys", WT_SPEC_MOST);
    wt_spec_entry *entry = &spec->entries[spec->count];
    *entry = (wt_spec_entry){.line = line};
    WT_TRY(wt_copy_text(context, &entry->key, key, "a key"));
    WT_TRY(wt_copy_text(context, &entry->text, text, "a value"));
    spec->count++;
done:
    if (status != WT_OK)
        wt_release(entry->key);
    return status;
}

static wt_status take_pair(reading *file, const char *key, const char *text) {
    const char *section = file->section;
    char reason[WT_MESSAGE_BYTES], shown[WT_QUOTED_BYTES];
    if (strcmp(section, "sweep") != 0) {
        wt_quote(section, shown, sizeof shown);
        snprintf(reason, sizeof reason,
                 section[0] == '\0' ? "'%s' stands before any section; "
                                      "begin with [sweep]"
                                    : "unknown section [%s]; there is "
                                      "[sweep] alone",
                 section[0] == '\0' ? key : shown);
        return refuse_line(file, reason);
    }
    file->seen_section = true;
    wt_quote(key, shown, sizeof shown);
    const wt_spec_entry *before = wt_spec_find(file->spec, key);
    if (before != NULL) {
        snprintf(reason, sizeof reason, "'%s' is given again, after line %d", shown, before->line);
        return refuse_line(file, reason);
    }
    if (text[0] == '\0') {
        snprintf(reason, sizeof reason, "'%s' has no value", shown);
        return refuse_line(file, reason);
    }
    return add(file->context, file->spec, key, text, file->line);
}

/* Without the blanks around it; writes into it. */
static char *trim(char *text) {
    static const char blanks[] = " \t\r\v\f";
    text += strspn(text, blanks);
    size_t length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1]) != NULL)
        text[--length] = '\0';
    return text;
}

/* Ends the line before a ';' that follows a blank. */
static void drop_comment(char *line) {
    for (char *at = strchr(line, ';'); at != NULL; at = strchr(at + 1, ';'))
        if (at > line && (at[-1] == ' ' || at[-1] == '\t')) {
            *at = '\0';
            return;
        }
}

/* A line without its end; writes into it, and the section stays in it. */
static wt_status take_line(reading *file, char *line) {
    if (!wt_utf8_valid(line))
        return refuse_line(file, "is not UTF-8 text");
    line = trim(line);
    if (line[0] == '\0' || line[0] == '#' || line[0] == ';')
        return WT_OK;
    drop_comment(line);
    char *mark = line[0] == '[' ? strchr(line, ']') : strpbrk(line, "=:");
    if (mark == NULL)
        return refuse_line(file, "is neither a [section] nor 'key = value'");
    *mark = '\0';
    if (line[0] != '[')
        return take_pair(file, trim(line), trim(mark + 1));
    file->section = line + 1;
    return WT_OK;
}

/* All lines of a text that ends with 0, which is cut into pieces. */
static wt_status parse(reading *file, char *text, size_t bytes) {
    static const char mark[] = "\xef\xbb\xbf"; /* some editors begin with it */
    size_t at = strncmp(text, mark, strlen(mark)) == 0 ? strlen(mark) : 0;
    while (at < bytes) {
        char *end = memchr(text + at, '\n', bytes - at);
        size_t length = end == NULL ? bytes - at : (size_t)(end - text) - at;
        file->line++;
        text[at + length] = '\0';
        if (strlen(text + at) != length)
            return refuse_line(file, "is not UTF-8 text");
        wt_status status = take_line(file, text + at);
        if (status != WT_OK)
            return status;
        at += length + 1;
    }
    if (!file->seen_section)
        return wt_fail(file->context, WT_CONFIG, "%s: has no section [sweep] with keys in it",
                       file->spec->path);
    return WT_OK;
}

wt_status wt_spec_read(wt_context *context, const char *path, wt_spec *out) {
    wt_source source = {.file = -1};
    char *text = NULL;
    wt_status status;
    *out = (wt_spec){0};
    WT_TRY(wt_source_open(context, path, &source));
    WT_TRY(wt_copy_text(context, &out->path, source.shown, "the path of a sweep"));
    if (source.bytes > MOST_BYTES) {
        status = wt_fail(context, WT_CONFIG, "%s: is too large for the description of a sweep",
                         out->path);
        goto done;
    }
    WT_TRY(WT_NEW(context, &text, (size_t)source.bytes + 1, "the description of a sweep"));
    int64_t got = wt_source_read(&source, 0, text, (size_t)source.bytes);
    if (got < 0) {
        status = wt_fail(context, WT_IO, "%s: cannot be read", out->path);
        goto done;
    }
    text[got] = '\0';
    reading file = {.context = context, .spec = out, .section = ""};
    WT_TRY(parse(&file, text, (size_t)got));
done:
    wt_release(text);
    wt_source_close(&source);
    return status;
}

wt_status wt_spec_set(wt_context *context, wt_spec *spec, const char *assignment) {
    const char *equals = strchr(assignment, '=');
    char *key = NULL;
    wt_status status;
    if (equals == NULL || equals == assignment || equals[1] == '\0' || !wt_utf8_valid(assignment))
        return wt_fail(context, WT_USAGE, "--set: '%s' is not of the form key=grid", assignment);
    WT_TRY(wt_copy_text(context, &key, assignment, "a key"));
    key[equals - assignment] = '\0';
    wt_spec_entry *entry = NULL;
    for (size_t i = 0; i < spec->count; i++)
        if (strcmp(spec->entries[i].key, key) == 0)
            entry = &spec->entries[i];
    if (entry == NULL) {
        WT_TRY(add(context, spec, key, equals + 1, 0));
        goto done;
    }
    char *text = NULL;
    WT_TRY(wt_copy_text(context, &text, equals + 1, "a value"));
    wt_release(entry->text);
    entry->text = text;
    entry->line = 0;
done:
    wt_release(key);
    return status;
}

wt_status wt_spec_line(wt_context *context, const wt_spec *spec, char **out) {
    size_t bytes = 1, used = 0;
    for (size_t i = 0; i < spec->count; i++)
        bytes += strlen(spec->entries[i].key) + strlen(spec->entries[i].text) + 2;
    wt_status status = WT_NEW_ZERO(context, out, bytes, "the keys of a sweep");
    for (size_t i = 0; status == WT_OK && i < spec->count; i++)
        used += (size_t)snprintf(*out + used, bytes - used, "%s%s=%s", i == 0 ? "" : " ",
                                 spec->entries[i].key, spec->entries[i].text);
    return status;
}

void wt_spec_free(wt_spec *spec) {
    for (size_t i = 0; i < spec->count; i++) {
        wt_release(spec->entries[i].key);
        wt_release(spec->entries[i].text);
    }
    wt_release(spec->path);
    *spec = (wt_spec){0};
}
