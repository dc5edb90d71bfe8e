/* A command is a table of options, some words and a function. The table makes the parser, --help,
 * the man page, the completions and the reference in docs/. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <jansson.h>
#include <stdarg.h>

#include "wattle/field.h"
#include "wattle/program.h"
#include "wattle/text.h"

typedef enum {
    CLI_FLAG,    /* bool */
    CLI_TEXT,    /* const char * */
    CLI_CHOICE,  /* const char *, one of those in `value`: "relu|softmax" */
    CLI_INPUT,   /* const char *, a file to read */
    CLI_OUTPUT,  /* const char *, a file to write; `value` tells its formats: "FILE.csv|.npy|-" */
    CLI_COUNT,   /* size_t, 1 or more */
    CLI_NATURAL, /* uint64_t, 0 or more */
    CLI_REAL,    /* double */
    CLI_BYTES,   /* size_t, "4G" */
    CLI_SECONDS, /* double, "10m" */
    CLI_GRID,    /* of fields alone: a list of numbers */
    CLI_COUNTS,  /* cli_counts, of a grid of whole numbers of 0 or more */
    CLI_TEXTS,   /* cli_texts: may be given several times */
} cli_kind;

typedef struct cli_counts {
    size_t count, *values;
} cli_counts;

/* The values of an option that was given several times, in their order. */
#define CLI_TEXTS_MOST 64
typedef struct cli_texts {
    size_t count;
    const char *items[CLI_TEXTS_MOST];
} cli_texts;

typedef struct cli_option {
    const char *name;     /* without the dashes */
    char letter;          /* of the short form; 0 = none */
    cli_kind kind;        /* decides the type of the field at `offset` */
    size_t offset;        /* of the field in the command's values */
    const char *value;    /* name of the value in --help, the alternatives of a choice */
    const char *fallback; /* what is parsed when the option is not given; NULL = zero */
    const char *help;     /* one or two sentences */
} cli_option;

/* Options that are the fields of a struct among the command's values. They come before the others;
 * a field that an option of the command has the name of, in either spelling, is left out. */
typedef struct cli_table {
    const wt_field *(*fields)(size_t *count);
    size_t offset, bytes; /* of the struct, which begins with its size */
    const char *except;   /* names of further fields that are left out, blanks between them */
} cli_table;
#define CLI_TABLE(type, member, table, names)                                                      \
    { (table), offsetof(type, member), sizeof(((type *)0)->member), (names) }

/* What every command takes. */
typedef struct cli_common {
    size_t threads, memory;
    double time; /* seconds; 0 = no limit */
    uint64_t seed;
    bool json, quiet, verbose, help;
    const char *color;
} cli_common;

typedef struct cli_call cli_call;

typedef struct cli_command {
    const char *name;
    const char *summary;  /* one line, no full stop */
    const char *operands; /* "FILE [OTHER]", "one|two FILE...": as in the usage line; NULL = none */
    int words;            /* of them, at the start, that are no files but COMMAND or such words */
    bool waits;           /* for others, without an end of its own: tells of no progress */
    bool lean;            /* memory that it gives back goes to the system, as under --mem */
    bool any_bytes;       /* --json can tell of paths that are not UTF-8 */
    const char *description; /* paragraphs parted by blank lines */
    const char *examples;    /* lines of shell */
    const cli_table *tables; /* ends with one without fields; may be NULL */
    const cli_option *options;
    size_t option_count;
    size_t values_bytes;
    wt_status (*run)(cli_call *call);
} cli_command;

#define CLI_OPTIONS(table, type)                                                                   \
    .options = (table), .option_count = sizeof(table) / sizeof *(table),                           \
    .values_bytes = sizeof(type)

struct cli_call {
    wt_context *context;
    const cli_command *command;
    cli_common common;
    void *values; /* of the type the command's table was written for */
    bool *given;  /* one an option of the command, common ones after them */
    char **operands;
    int operand_count;
};

/* All commands, in the order of `wattle --help`; ends with NULL. */
extern const cli_command *const cli_commands[];
extern const cli_option cli_common_options[];
extern const size_t cli_common_option_count;

const cli_command *cli_find_command(const char *name);
/* WT_USAGE with a sentence that offers the nearest name. */
wt_status cli_unknown_command(wt_context *context, const char *name);
/* Options of the command, those of its tables first. Valid until another command is asked for. */
const cli_option *cli_options_of(const cli_command *command, size_t *count);
/* The field that an option of the command is, NULL for one that is none; and its table. */
const wt_field *cli_field_at(const cli_command *command, size_t index, const cli_table **table);
/* Options of the command, then the common ones; NULL past the end. */
const cli_option *cli_option_at(const cli_command *command, size_t index);

/* Fills the call from the words after the command's name. WT_USAGE with a sentence otherwise. */
wt_status cli_parse(cli_call *call, int argc, char **argv);
/* Where the value of an option goes; its kind says what is there. */
void *cli_value_at(cli_call *call, size_t index, const cli_option *option);
/* WT_USAGE when there are too few or too many, or the first is none of the words there are. */
wt_status cli_check_operands(cli_call *call);
/* How many operands "FILE [OTHER...]" stands for. */
void cli_operand_range(const char *operands, int *least, int *most);
/* WT_USAGE when an output has the suffix of a format that is not written, or would take the place
 * of an input or of another output; WT_CANNOT_CREATE when it cannot be written. */
wt_status cli_check_files(cli_call *call);
/* Whether the path of an output ends in ".csv", or such. */
bool cli_has_suffix(const char *path, const char *suffix);
/* To be called before the outputs are written, then after: remarks on those that were. */
void cli_tell_outputs(cli_call *call, bool written);
/* Whether both paths lead to one file, there already or yet to be written. */
bool cli_same_file(const char *a, const char *b);
void cli_call_free(cli_call *call);
/* Whether the user wrote the option. */
bool cli_given(const cli_call *call, const char *name);
/* The first of the options that the user wrote among these names, blanks between them; NULL = none.
 */
const char *cli_first_given(const cli_call *call, const char *names);
/* WT_USAGE when one of them was given: it and `what` ("--check") exclude each other. */
wt_status cli_exclude(const cli_call *call, const char *what, const char *names);

/* The nearest name within reach of a typing slip, or NULL. `next` walks the candidates. */
typedef const char *(*cli_candidate_fn)(const void *from, size_t index);
const char *cli_nearest(const char *word, cli_candidate_fn next, const void *from);

/* printf for words on stdout: all but ends of lines is made fit for a terminal, as by wt_show. Data
 * (JSON, CSV) go out as they are, by others. */
void cli_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Bytes at the start of the text that it prints as they are without a look: nearly all there are.
 */
size_t cli_print_plain(const char *text);
void cli_print_values(const char *format, va_list values) __attribute__((format(printf, 1, 0)));
/* Words were lost for want of memory. */
extern bool cli_print_lost;

/* Prints the object as the command's result on stdout and releases it, with the key "setting" where
 * options are fields of a table. NULL (no memory while it was built) becomes WT_MEMORY. */
wt_status cli_emit_json(cli_call *call, json_t *object);
/* Whether a result is printed already; it then tells of errors itself, as stdout has one value. */
extern bool cli_json_emitted;
/* The same of an object that "samples:u lambda:r output:s" describes: keys with the kinds of the
 * values that follow. s: text, null for NULL; u: size_t or uint64_t; b: bool; r: double, null when
 * it is not finite; o: any JSON value, which is taken over. */
wt_status cli_emit(cli_call *call, const char *format, ...);
/* The object alone, lists, one more in an object or a list; what no memory is there for is
 * remembered, and the result not printed. */
json_t *cli_json(const char *format, ...);
void cli_json_put(json_t *object, const char *key, json_t *value);
void cli_json_add(json_t *list, json_t *value);
json_t *cli_json_counts(size_t count, const size_t *values);
json_t *cli_json_reals(size_t count, const double *values);
json_t *cli_json_texts(size_t count, const char *const *texts);
json_t *cli_json_real(double value);
/* The options of the call but files, and the seed, by name; null = not said. */
json_t *cli_json_setting(cli_call *call);

/* The option of commands that can run on a GPU, a const char * at `offset`; to be chosen first
 * thing in `run`. */
#define CLI_DEVICE(offset)                                                                         \
    {                                                                                              \
        "device", 0, CLI_TEXT, (offset), "host|cuda[:I]|mpi|auto", "host",                         \
            "Where the heavy work runs: on the host, on a GPU, on all processes that mpirun has "  \
            "started (fit and curve; docs/cluster.md), or on the first GPU where there is one."    \
    }
wt_status cli_choose_device(cli_call *call, const char *name);
/* The same for a dry run, which a machine without the device can make: a remark says so. */
wt_status cli_foresee_device(cli_call *call, const char *name);
/* What --verbose adds for processes that worked together. */
void cli_remark_device(cli_call *call);
/* The number that mpirun or srun gave this process, where the words ask for --device mpi; else 0.
 * Rank 0 speaks for all. */
int64_t cli_rank(int argc, char **argv);

/* Writes the help of a command (or of wattle itself: NULL) in the given format: "text", "man",
 * "markdown". */
void cli_write_help(FILE *out, const cli_command *command, const char *format);
/* Writes the completion script of a shell: "bash", "zsh", "fish". */
void cli_write_completion(FILE *out, const char *shell);
/* Prints what may stand in the place of the last of the words after `wattle`. */
void cli_complete(int count, char **words);

/* Whether what a command leaves when it is interrupted is where the same command goes on; commands
 * say so. The exit code is 75 then, and 130 otherwise. */
extern bool cli_goes_on;

/* Lifts --time: what was learned is shown and written, however late. Whether it was over. */
bool cli_lift_time(cli_call *call);

/* Connects the context with the terminal: remarks, progress, Ctrl-C. */
void cli_terminal_attach(cli_call *call);
/* Wipes a progress line that is still on the screen, as all that is printed on stdout does. */
void cli_terminal_finish(void);
/* Seconds between lines of progress where stderr is no terminal; for tests. */
extern double cli_terminal_plain_every;
/* Lets go of the context, before it is freed. */
void cli_terminal_detach(void);

#endif
