#include "io/script.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

bool wt_script_room(wt_script *script, size_t more) {
    if (script->status != WT_OK || script->room - script->length > more)
        return script->status == WT_OK;
    char *larger;
    size_t room = 2 * script->room + more + 4096;
    script->status = WT_NEW(script->context, &larger, room, "text");
    if (script->status != WT_OK)
        return false;
    if (script->length > 0)
        memcpy(larger, script->text, script->length);
    wt_release(script->text);
    script->text = larger;
    script->room = room;
    return true;
}

void wt_script_add(wt_script *script, const char *format, ...) {
    va_list values, again;
    size_t room = script->room - script->length;
    va_start(values, format);
    va_copy(again, values);
    /* mostly there is room enough at once */
    int length =
        script->status != WT_OK
            ? -1
            : vsnprintf(room > 0 ? script->text + script->length : NULL, room, format, values);
    if (length >= 0 && (size_t)length >= room && wt_script_room(script, (size_t)length))
        vsnprintf(script->text + script->length, script->room - script->length, format, again);
    if (length >= 0 && script->status == WT_OK)
        script->length += (size_t)length;
    va_end(again);
    va_end(values);
}

/* In double quotes gnuplot obeys backslashes and backquotes, which start programs; in single ones a
 * quote at the start cannot be written. As numbers they are letters like others. */
void wt_script_quote(wt_script *script, const char *words) {
    char shown[WT_SHOWN_CHARACTER];
    size_t left = words == NULL ? 0 : strlen(words);
    wt_script_add(script, "\"");
    for (size_t taken; left > 0; words += taken, left -= taken) {
        taken = wt_show_character(words, left, shown);
        for (const char *letter = shown; *letter != '\0'; letter++)
            wt_script_add(script, strchr("\\\"`@", *letter) != NULL ? "\\%03o" : "%c",
                          (unsigned char)*letter);
    }
    wt_script_add(script, "\"");
}

void wt_script_word(wt_script *script, const char *word) {
    size_t bytes = wt_shell_word(word, NULL, 0);
    if (wt_script_room(script, bytes))
        script->length +=
            wt_shell_word(word, script->text + script->length, script->room - script->length);
}

void wt_script_json(wt_script *script, const char *words) {
    static const char letters[] = "\"\\\b\f\n\r\t", spelled[] = "\"\\bfnrt";
    wt_script_bytes(script, "\"", 1);
    while (*words != '\0') {
        size_t plain = 0;
        while ((unsigned char)words[plain] >= ' ' && words[plain] != '"' && words[plain] != '\\')
            plain++;
        wt_script_bytes(script, words, plain);
        words += plain;
        if (*words == '\0')
            break;
        const char *found = strchr(letters, *words);
        if (found != NULL)
            wt_script_add(script, "\\%c", spelled[found - letters]);
        else
            wt_script_add(script, "\\u%04X", (unsigned)*words);
        words++;
    }
    wt_script_bytes(script, "\"", 1);
}

static void add_text(wt_script *script, const char *text) {
    wt_script_bytes(script, text, strlen(text));
}

void wt_script_csv(wt_script *script, const char *text) {
    size_t plain = strcspn(text, ",\"\n\r");
    bool quoted = text[plain] != '\0';
    add_text(script, quoted ? "\"" : "");
    add_text(script, wt_csv_lead(text));
    for (; text[plain] != '\0'; plain = strcspn(text, "\"")) {
        bool quote = text[plain] == '"'; /* stands there twice */
        wt_script_bytes(script, text, plain + quote);
        add_text(script, quote ? "\"" : "");
        text += plain + quote;
    }
    wt_script_bytes(script, text, plain);
    add_text(script, quoted ? "\"" : "");
}

void wt_script_number(wt_script *script, double value) {
    if (isfinite(value))
        wt_script_add(script, "%.10g", value);
    else
        wt_script_add(script, "NaN");
}

void wt_script_free(wt_script *script) {
    wt_release(script->text);
    *script = (wt_script){.context = script->context};
}
