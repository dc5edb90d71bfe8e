/* The parser on a table with an option of every kind. */
#include "check.h"
#include "command.h"

typedef struct {
    bool flag;
    const char *text, *choice, *input, *output;
    size_t count, bytes;
    uint64_t natural;
    double real;
    cli_counts grid, integers;
} all_values;

#define OPTION(name, letter, kind, value, fallback)                                                \
    { #name, letter, kind, offsetof(all_values, name), value, fallback, "A help." }

static const cli_option options[] = {
    OPTION(flag, 'f', CLI_FLAG, NULL, NULL),
    OPTION(text, 'x', CLI_TEXT, "TEXT", NULL),
    OPTION(choice, 'c', CLI_CHOICE, "relu|softmax|re", "relu"),
    OPTION(input, 'i', CLI_INPUT, "FILE", NULL),
    OPTION(output, 'o', CLI_OUTPUT, "FILE", NULL),
    OPTION(count, 'n', CLI_COUNT, "N", "3"),
    OPTION(bytes, 0, CLI_BYTES, "BYTES", "1K"),
    OPTION(natural, 0, CLI_NATURAL, "N", NULL),
    OPTION(real, 'r', CLI_REAL, "R", "0.5"),
    OPTION(grid, 0, CLI_COUNTS, "GRID", "1,2"),
    OPTION(integers, 0, CLI_COUNTS, "GRID", NULL),
};

static const cli_command command = {
    .name = "all",
    .summary = "try everything",
    .operands = "[FILE] [OTHER]",
    .description = "",
    .examples = "",
    CLI_OPTIONS(options, all_values),
};

/* Parses the words; on success `check` looks at the call. */
static wt_status parse(wt_context *context, char **words, void (*check)(const cli_call *call)) {
    int count = 0;
    while (words[count] != NULL)
        count++;
    cli_call call = {.context = context, .command = &command};
    wt_status status = cli_parse(&call, count, words);
    if (status == WT_OK && check != NULL)
        check(&call);
    cli_call_free(&call);
    return status;
}

#define WORDS(...) ((char *[]){(char[]){"all"}, __VA_ARGS__, NULL})
#define W(text)    ((char[]){text})

static void check_fallbacks(const cli_call *call) {
    const all_values *values = call->values;
    assert_false(values->flag);
    assert_null(values->text);
    assert_string_equal(values->choice, "relu");
    assert_int_equal(values->count, 3);
    assert_int_equal(values->bytes, 1024);
    CHECK_NEAR(values->real, 0.5, 0);
    assert_int_equal(values->grid.count, 2);
    assert_int_equal(values->integers.count, 0);
    assert_false(cli_given(call, "count"));
    assert_false(cli_given(call, "no-such-option"));
    assert_int_equal(call->operand_count, 0);
}
static void fallbacks_stand_when_nothing_is_given(void **state) {
    CHECK_OK(*state, parse(*state, (char *[]){W("all"), NULL}, check_fallbacks));
}

static void check_all(const cli_call *call) {
    const all_values *values = call->values;
    assert_true(values->flag);
    assert_string_equal(values->text, "--odd");
    assert_string_equal(values->choice, "re");
    assert_string_equal(values->input, "-");
    assert_string_equal(values->output, "out.npz");
    assert_int_equal(values->count, 7);
    assert_int_equal(values->bytes, 3 << 19);
    assert_true(values->natural == UINT64_MAX);
    CHECK_NEAR(values->real, -2.5, 0);
    assert_int_equal(values->grid.count, 3);
    assert_int_equal(values->grid.values[2], 16);
    assert_int_equal(values->integers.count, 2);
    assert_int_equal(call->common.threads, 2);
    assert_int_equal(call->common.seed, 9);
    assert_true(call->common.json);
    assert_true(cli_given(call, "count") && cli_given(call, "seed"));
    assert_int_equal(call->operand_count, 2);
    assert_string_equal(call->operands[0], "first");
    assert_string_equal(call->operands[1], "--json");
}
static void every_kind_is_parsed(void **state) {
    char **words =
        WORDS(W("first"), W("-f"), W("--text=--odd"), W("-cre"), W("--input"), W("-"), W("-o"),
              W("out.npz"), W("-n7"), W("--bytes"), W("1.5M"), W("--natural=18446744073709551615"),
              W("--real"), W("-2.5"), W("--grid=4:16:x2"), W("--integers"), W("1,5"), W("-t2"),
              W("--seed"), W("9"), W("--json"), W("--"), W("--json"));
    CHECK_OK(*state, parse(*state, words, check_all));
}

static void check_last(const cli_call *call) {
    const all_values *values = call->values;
    assert_int_equal(values->count, 5);
    assert_int_equal(values->grid.count, 1);
    assert_string_equal(values->text, "b");
}
static void the_last_of_repeated_options_wins(void **state) {
    char **words = WORDS(W("-n4"), W("--grid=1,2,3"), W("--text=a"), W("--count=5"), W("--grid=1"),
                         W("--text"), W("b"));
    CHECK_OK(*state, parse(*state, words, check_last));
}

static void check_prefix(const cli_call *call) {
    const all_values *values = call->values;
    assert_int_equal(values->count, 6);
    CHECK_NEAR(values->real, -1e-3, 0);
}
static void unique_beginnings_are_enough(void **state) {
    CHECK_OK(*state, parse(*state, WORDS(W("--cou=6"), W("--rea"), W("-1e-3")), check_prefix));
}

static void wrong_words_get_a_sentence(void **state) {
    static const struct {
        const char *word, *second, *says;
    } cases[] = {
        {"--in", "x", "--in could be --input or --integers"},
        {"--count", NULL, "--count needs a value: N"},
        {"-n", NULL, "--count needs a value: N"},
        {"--flag=1", NULL, "--flag takes no value"},
        {"--output", "--json", "--output needs a value and '--json' looks like an option"},
        {"--outptu=3", NULL, "unknown option --outptu; did you mean --output?"},
        {"-z", NULL, "unknown option -z"},
        {"-7", NULL, "unknown option -7"},
        {"--count=0", NULL, "--count: '0' is not a whole number of 1 or more"},
        {"--count=-1", NULL, "'-1' is not a whole number"},
        {"--count=99999999999999999999", NULL, "is not a whole number"},
        {"--count=1e3", NULL, "'1e3' is not a whole number"},
        {"--natural=-0", NULL, "a whole number of 0 or more"},
        {"--real=1,5", NULL, "--real: '1,5' is not a number"},
        {"--real=nan", NULL, "'nan' is not a number"},
        {"--real=1e-999", NULL, "'1e-999' is not a number that fits a double"},
        {"--real=1e999", NULL, "'1e999' is not a number"},
        {"--bytes=4GB", NULL, "--bytes: '4GB' is not a size"},
        {"--choice=rel", NULL, "--choice: 'rel' is none of relu|softmax|re"},
        {"--choice=relu|softmax", NULL, "is none of"},
        {"--choice=", NULL, "'' is none of"},
        {"--text=", NULL, "--text: the value is empty"},
        {"--grid=1:5", NULL, "--grid: '1:5' is no grid"},
        {"--grid=-1,5", NULL, "--grid must be 0 or more, not -1"},
        {"--integers=0:1:0.5", NULL, "--integers: '0:1:0.5' is no grid: a value is not an integer"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char first[64], second[64];
        snprintf(first, sizeof first, "%s", cases[i].word);
        snprintf(second, sizeof second, "%s", cases[i].second == NULL ? "" : cases[i].second);
        /* an operand in front must not end up in the sentence */
        char **words = WORDS(W("operand"), first, cases[i].second == NULL ? NULL : second);
        CHECK_FAILS(*state, parse(*state, words, NULL), WT_USAGE, cases[i].says);
        assert_null(strstr(wt_context_message(*state), "operand"));
    }
    char **three = WORDS(W("a"), W("b"), W("c"));
    CHECK_FAILS(*state, parse(*state, three, NULL), WT_USAGE, "'c' is one operand too many");
}

static void a_failed_allocation_leaks_nothing(void **state) {
    wt_context *context = *state;
    wt_status status = WT_MEMORY;
    for (long k = 1; status != WT_OK; k++) {
        assert_true(k < 100);
        atomic_store(&context->allocation_to_fail, k);
        char **words = WORDS(W("--grid=1,2"), W("--integers=1:100:1"));
        status = parse(context, words, NULL);
        assert_true(status == WT_OK || status == WT_MEMORY);
        assert_int_equal(wt_context_memory_used(context), 0);
    }
    atomic_store(&context->allocation_to_fail, 0);
}

/* Names and letters are unique, choices have alternatives, fallbacks parse: for every command. */
static void the_tables_make_sense(void **state) {
    for (size_t c = 0; cli_commands[c] != NULL; c++) {
        const cli_option *one, *other;
        for (size_t i = 0; (one = cli_option_at(cli_commands[c], i)) != NULL; i++) {
            assert_true((one->value == NULL) == (one->kind == CLI_FLAG));
            for (size_t j = 0; j < i; j++) {
                other = cli_option_at(cli_commands[c], j);
                assert_string_not_equal(one->name, other->name);
                assert_false(one->letter != 0 && one->letter == other->letter);
            }
        }
        char name[64];
        snprintf(name, sizeof name, "%s", cli_commands[c]->name);
        char *words[] = {name, W("--help"), NULL};
        cli_call call = {.context = *state, .command = cli_commands[c]};
        CHECK_OK(*state, cli_parse(&call, 2, words));
        cli_call_free(&call);
    }
}

static const char *word_at(const void *from, size_t index) {
    return ((const char *const *)from)[index];
}
static void the_nearest_name_is_found(void **state) {
    (void)state;
    static const char *const names[] = {"info", "selfcheck", "bench", "help", NULL};
    assert_string_equal(cli_nearest("inof", word_at, names), "info");
    assert_string_equal(cli_nearest("self", word_at, names), "selfcheck");
    assert_string_equal(cli_nearest("benhc", word_at, names), "bench");
    assert_null(cli_nearest("q", word_at, names));
    assert_null(cli_nearest("frobnicate", word_at, names));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fallbacks_stand_when_nothing_is_given),
        cmocka_unit_test(every_kind_is_parsed),
        cmocka_unit_test(the_last_of_repeated_options_wins),
        cmocka_unit_test(unique_beginnings_are_enough),
        cmocka_unit_test(wrong_words_get_a_sentence),
        cmocka_unit_test(a_failed_allocation_leaks_nothing),
        cmocka_unit_test(the_tables_make_sense),
        cmocka_unit_test(the_nearest_name_is_found),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
