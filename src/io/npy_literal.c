/* The head of an npy file is a Python literal. This reads the one shape of literal that describes a
 * plain array and refuses all others with the place where they part. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/npy.h"
#include "io/types.h"

typedef struct {
    wt_context *context;
    const wt_input *input;
    const char *text;
    size_t at, bytes;
    uint64_t start; /* of the text in the file */
    wt_array *out;
} literal;

static wt_status refuse(const literal *parser, const char *wanted) {
    return wt_input_fail(parser->context, parser->input, "header, byte %" PRIu64 ": %s is expected",
                         parser->start + parser->at, wanted);
}

static void skip_blanks(literal *parser) {
    while (parser->at < parser->bytes && parser->text[parser->at] != '\0' &&
           strchr(" \t\n\r", parser->text[parser->at]) != NULL)
        parser->at++;
}

/* Takes the character if it is the next one after blanks. */
static bool take(literal *parser, char character) {
    skip_blanks(parser);
    if (parser->at >= parser->bytes || parser->text[parser->at] != character)
        return false;
    parser->at++;
    return true;
}

enum { WORD_BYTES = 64 }; /* the longest string or word that can mean anything here */

/* A string in either kind of quotes, without escapes. */
static wt_status take_string(literal *parser, char out[WORD_BYTES], const char *wanted) {
    char quote = '\'';
    if (!take(parser, quote)) {
        quote = '"';
        if (!take(parser, quote))
            return refuse(parser, wanted);
    }
    size_t length = 0;
    while (parser->at < parser->bytes && parser->text[parser->at] != quote) {
        char next = parser->text[parser->at];
        if (length + 1 == WORD_BYTES || next == '\\' || next == '\0' || next == '\n')
            return refuse(parser, wanted);
        out[length++] = next;
        parser->at++;
    }
    out[length] = '\0';
    return take(parser, quote) ? WT_OK : refuse(parser, wanted);
}

static wt_status take_type(literal *parser) {
    char descr[WORD_BYTES], shown[WT_QUOTED_BYTES];
    if (take(parser, '['))
        return wt_input_fail(parser->context, parser->input,
                             "header, byte %" PRIu64 ": a structured array is not read",
                             parser->start + parser->at - 1);
    wt_status status = take_string(parser, descr, "a type like '<f8'");
    if (status != WT_OK || wt_type_from_npy(descr, &parser->out->type))
        return status;
    wt_quote(descr, shown, sizeof shown);
    if (strchr(descr, 'O') != NULL)
        return wt_input_fail(parser->context, parser->input,
                             "type '%s': an object array holds pickled Python, not numbers", shown);
    return wt_input_fail(
        parser->context, parser->input,
        descr[0] == '>' ? "type '%s': big-endian values are not read"
                        : "type '%s' is none of <f8 <f4 <f2 <i8 <i4 <i2 |i1 <u8 <u4 <u2 |u1 |b1",
        shown);
}

static bool take_word(literal *parser, const char *word) {
    size_t length = strlen(word);
    skip_blanks(parser);
    if (parser->bytes - parser->at < length || memcmp(parser->text + parser->at, word, length) != 0)
        return false;
    parser->at += length;
    return true;
}

static wt_status take_order(literal *parser) {
    parser->out->fortran = take_word(parser, "True");
    if (parser->out->fortran || take_word(parser, "False"))
        return WT_OK;
    return refuse(parser, "True or False");
}

static wt_status take_dimension(literal *parser, size_t *out) {
    skip_blanks(parser);
    size_t begin = parser->at, value = 0;
    for (; parser->at < parser->bytes; parser->at++) {
        char digit = parser->text[parser->at];
        if (digit < '0' || digit > '9')
            break;
        if (!wt_multiply(value, 10, &value) || !wt_add(value, (size_t)(digit - '0'), &value))
            return wt_input_fail(parser->context, parser->input,
                                 "header, byte %" PRIu64 ": the shape overflows",
                                 parser->start + begin);
    }
    if (parser->at == begin)
        return refuse(parser, "a whole number of 0 or more");
    take(parser, 'L'); /* Python 2 marked long integers so */
    *out = value;
    return WT_OK;
}

/* "()", "(3,)", "(3, 4)", "(3, 4,)" */
static wt_status take_shape(literal *parser) {
    wt_array *out = parser->out;
    if (!take(parser, '('))
        return refuse(parser, "a shape like (3, 4)");
    while (!take(parser, ')')) {
        if (out->rank == WT_MAX_RANK)
            return wt_input_fail(parser->context, parser->input,
                                 "header, byte %" PRIu64 ": more than %d dimensions",
                                 parser->start + parser->at, WT_MAX_RANK);
        WT_PASS(take_dimension(parser, &out->shape[out->rank]));
        out->rank++;
        if (take(parser, ','))
            continue;
        if (out->rank == 1)
            return refuse(parser, "a comma, as in (3,)");
        if (!take(parser, ')'))
            return refuse(parser, "a comma or the end of the shape");
        break;
    }
    return WT_OK;
}

static const struct {
    const char *key;
    wt_status (*take)(literal *parser);
} fields[] = {{"descr", take_type}, {"fortran_order", take_order}, {"shape", take_shape}};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

/* One "'key': value"; seen tells which keys came before. */
static wt_status take_field(literal *parser, bool seen[FIELD_COUNT]) {
    char key[WORD_BYTES];
    WT_PASS(take_string(parser, key, "'descr', 'fortran_order' or 'shape'"));
    size_t which = 0;
    while (which < FIELD_COUNT && strcmp(fields[which].key, key) != 0)
        which++;
    if (which == FIELD_COUNT || seen[which])
        return refuse(parser, "each of 'descr', 'fortran_order' and 'shape' once, before this,");
    seen[which] = true;
    return take(parser, ':') ? fields[which].take(parser) : refuse(parser, "a colon");
}

wt_status wt_npy_parse(wt_context *context, const wt_input *input, const char *text, size_t bytes,
                       uint64_t start, wt_array *out) {
    literal parser = {context, input, text, 0, bytes, start, out};
    bool seen[FIELD_COUNT] = {false};
    if (!take(&parser, '{'))
        return refuse(&parser, "an opening brace");
    while (!take(&parser, '}')) {
        WT_PASS(take_field(&parser, seen));
        if (take(&parser, ','))
            continue;
        if (!take(&parser, '}'))
            return refuse(&parser, "a comma or the closing brace");
        break;
    }
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (!seen[i])
            return wt_input_fail(context, input, "the header has no '%s'", fields[i].key);
    skip_blanks(&parser);
    return parser.at == bytes ? WT_OK : refuse(&parser, "nothing more");
}
