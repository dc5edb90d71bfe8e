/* Runs the real binary and keeps what it said: stdout, stderr, exit code. */
#ifndef TESTS_CLI_RUN_H
#define TESTS_CLI_RUN_H

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { RUN_WORDS = 64, RUN_BYTES = 1 << 18 };

typedef struct run_setting {
    const char *directory;       /* to run in; NULL = here */
    const char *stdout_path;     /* opened for appending; NULL = kept in `out` */
    const char *variable;        /* of the environment, "NAME=value"; NULL = none */
    const char *second_variable; /* another */
    long file_limit;             /* most bytes a file may grow to; 0 = no limit */
    unsigned closed;             /* streams that are closed, 1 << number each */
    long address_limit;          /* most bytes of addresses (ulimit -v); 0 = no limit */
    unsigned seconds;            /* SIGALRM ends it then: it hangs; 0 = never */
} run_setting;

typedef struct run_result {
    int code;        /* exit code, -1 when a signal ended it */
    int signal;      /* that signal, or 0 */
    size_t progress; /* lines of progress, which a slow machine shows; they are not in `err` */
    size_t wrote;    /* lines that say what was written; they are not in `err` */
    char out[RUN_BYTES], err[RUN_BYTES];
} run_result;

/* The words of a command line, parted by spaces. Writes into `line`. */
static inline void run_split(char *line, char **words) {
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        assert_true(count + 1 < RUN_WORDS);
        words[count++] = word;
    }
    words[count] = NULL;
}

/* In the child: never returns. */
static inline void run_become(char **words, const run_setting *setting, int out, int err) {
    static char command[] = WATTLE_COMMAND;
    words[0] = command;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that is killed leaves nothing running */
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    unsetenv("WATTLE_FAULT_ALLOCATION");
    unsetenv("WATTLE_FAULT_WRITE");
    unsetenv("NO_COLOR");
    const char *variables[] = {setting->variable, setting->second_variable};
    for (int i = 0; i < 2; i++) {
        char name[64];
        if (variables[i] == NULL)
            continue;
        size_t length = strcspn(variables[i], "=");
        snprintf(name, sizeof name, "%.*s", (int)length, variables[i]);
        setenv(name, variables[i] + length + 1, 1);
    }
    if (setting->directory != NULL && chdir(setting->directory) != 0)
        _exit(126);
    if (setting->file_limit > 0) {
        struct rlimit limit = {(rlim_t)setting->file_limit, (rlim_t)setting->file_limit};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    for (int stream = 0; stream < 3; stream++)
        if ((setting->closed >> stream & 1) != 0)
            close(stream);
    if (setting->address_limit > 0) {
        struct rlimit limit = {(rlim_t)setting->address_limit, (rlim_t)setting->address_limit};
        setrlimit(RLIMIT_AS, &limit);
    }
    alarm(setting->seconds);
    execv(WATTLE_COMMAND, words);
    _exit(127);
}

static inline int run_open(const char *path) {
    char name[] = "/tmp/wattle-run-XXXXXX";
    int file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : mkstemp(name);
    assert_true(file >= 0);
    if (path == NULL)
        unlink(name);
    return file;
}

/* All that comes, up to what `out` holds; the rest is read and dropped. */
static inline void run_read(int file, char *out) {
    char rest[4096] = "";
    size_t length = 0;
    for (ssize_t more = 1; more > 0;) {
        bool fits = length < RUN_BYTES - 1;
        more = read(file, fits ? out + length : rest, fits ? RUN_BYTES - 1 - length : sizeof rest);
        length += fits && more > 0 ? (size_t)more : 0;
    }
    out[length] = '\0';
    close(file);
}

/* "wattle: 1:20  cells 3/9  0.15/s  ETA 40s": a time in front. */
static inline bool run_is_progress(const char *line) {
    static const char name[] = "wattle: ";
    const char *time = line + sizeof name - 1;
    if (strncmp(line, name, sizeof name - 1) != 0)
        return false;
    size_t minutes = strspn(time, "0123456789");
    return minutes > 0 && time[minutes] == ':' && strspn(time + minutes + 1, "0123456789") == 2 &&
           strncmp(time + minutes + 3, "  ", 2) == 0;
}

static inline bool run_is_written(const char *line) {
    return strncmp(line, "wattle: wrote ", 14) == 0;
}

/* Takes lines of one sort out of what was said; returns how many there were. */
static inline size_t run_drop(char *said, bool (*is_of)(const char *line)) {
    size_t dropped = 0;
    for (char *line = said; *line != '\0';) {
        char *end = line + strcspn(line, "\n");
        char *next = end + (*end == '\n');
        if (is_of(line)) {
            memmove(line, next, strlen(next) + 1);
            dropped++;
        } else {
            line = next;
        }
    }
    return dropped;
}

/* Runs `wattle` with the words of the line (parted by single spaces). The result is valid until
 * the next run. */
static inline const run_result *run_with(const char *line, const run_setting *setting) {
    static run_result result;
    static char copy[4096];
    char *words[RUN_WORDS];
    snprintf(copy, sizeof copy, "wattle %s", line);
    run_split(copy, words);
    /* stderr through a pipe: a limit on files must not cut the sentence about it */
    int out = run_open(setting->stdout_path), err[2];
    assert_int_equal(pipe(err), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        run_become(words, setting, out, err[1]);
    close(err[1]);
    run_read(err[0], result.err);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result.progress = run_drop(result.err, run_is_progress);
    result.wrote = run_drop(result.err, run_is_written);
    lseek(out, 0, SEEK_SET);
    run_read(out, result.out);
    return &result;
}

static inline const run_result *run(const char *line) {
    return run_with(line, &(run_setting){0});
}

/* A folder of the test's own, as cmocka's setup and teardown. */
static char run_folder[] = "/tmp/wattle-test-XXXXXX";
static inline int run_open_folder(void **state) {
    return mkdtemp(run_folder) == NULL ? -1 : check_open(state);
}
static inline int run_close_folder(void **state) {
    char line[64];
    snprintf(line, sizeof line, "rm -rf %s", run_folder);
    return system(line) == 0 ? check_close(state) : -1;
}
/* Runs in that folder. */
static inline const run_result *run_in_folder(const char *line) {
    return run_with(line, &(run_setting){.directory = run_folder});
}
/* The run there must end well. */
static inline void run_must(const char *line) {
    const run_result *result = run_in_folder(line);
    if (result->code != 0)
        fail_msg("wattle %s: exit %d: %s", line, result->code, result->err);
}
/* The run there must fail with the code and words that hold these, and leave no file `no`. */
static inline const run_result *run_refuses(const char *line, int code, const char *words) {
    char path[64];
    const run_result *result = run_in_folder(line);
    if (result->code != code || strstr(result->err, words) == NULL)
        fail_msg("wattle %s: exit %d, not %d with '%s': %s", line, result->code, code, words,
                 result->err);
    snprintf(path, sizeof path, "%s/no", run_folder);
    assert_int_equal(access(path, F_OK), -1);
    return result;
}

/* Starts it there and returns at once; what it says goes to `err`, or nowhere when that is -1. */
static inline pid_t run_start(const char *line, int err) {
    static char copy[4096];
    char *words[RUN_WORDS];
    snprintf(copy, sizeof copy, "wattle %s", line);
    run_split(copy, words);
    int nowhere = open("/dev/null", O_WRONLY);
    assert_true(nowhere >= 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        run_become(words, &(run_setting){.directory = run_folder}, nowhere,
                   err < 0 ? nowhere : err);
    close(nowhere);
    return child;
}

/* Whether it has ended by itself; it is to be waited for all the same. */
static inline bool run_has_ended(pid_t child) {
    siginfo_t about = {.si_pid = 0};
    assert_int_equal(waitid(P_PID, (id_t)child, &about, WEXITED | WNOHANG | WNOWAIT), 0);
    return about.si_pid == child;
}

static inline void run_pause(double seconds) {
    struct timespec span = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    nanosleep(&span, NULL);
}

/* Waits until the run has come so far or has ended, however long a machine takes for it. */
#define RUN_UNTIL(child, reached)                                                                  \
    while (!run_has_ended(child) && !(reached))                                                    \
    run_pause(0.002)

/* Whether a signal sent to the run still waits to be taken: a second of the same number would be
 * lost then. */
static inline bool run_signal_waits(pid_t child) {
    char path[64], line[128];
    unsigned long long waiting = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)child);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "ShdPnd: %llx", &waiting) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return waiting != 0;
}
/* Sends a signal, and returns when it was taken or the run has ended. */
static inline void run_signal(pid_t child, int signal) {
    assert_int_equal(kill(child, signal), 0);
    RUN_UNTIL(child, !run_signal_waits(child));
}

/* How a run ends on a signal, as waitpid tells it. */
static inline int run_end(pid_t child, int signal) {
    int status;
    assert_int_equal(kill(child, signal), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* The line with that folder in place of every "{tmp}". */
static inline const char *run_line(const char *format) {
    static char line[1024];
    size_t used = 0;
    for (; *format != '\0'; format++) {
        bool here = strncmp(format, "{tmp}", 5) == 0;
        used += (size_t)snprintf(line + used, sizeof line - used, "%.*s",
                                 here ? (int)strlen(run_folder) : 1, here ? run_folder : format);
        assert_true(used < sizeof line);
        format += here ? 4 : 0;
    }
    return line;
}

/* The JSON that a run prints, to be released, and a number of an object. */
static inline json_t *run_json(const char *line) {
    json_t *all = json_loads(run(line)->out, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(all);
    return all;
}
static inline double run_member(const json_t *object, const char *key) {
    json_t *found = json_object_get(object, key);
    assert_true(json_is_number(found));
    return json_number_value(found);
}

/* A number of the JSON that a run there prints. */
static inline double run_number(const char *line, const char *key) {
    const run_result *result = run_in_folder(line);
    json_t *all = json_loads(result->out, JSON_REJECT_DUPLICATES, NULL);
    if (all == NULL || !json_is_number(json_object_get(all, key)))
        fail_msg("wattle %s has no number '%s': %s%s", line, key, result->out, result->err);
    double value = json_number_value(json_object_get(all, key));
    json_decref(all);
    return value;
}

/* One line, "wattle: ...", and nothing else. */
static inline bool run_is_sentence(const char *err) {
    const char *end = strchr(err, '\n');
    return strncmp(err, "wattle: ", 8) == 0 && end != NULL && end - err > 12 && end[1] == '\0';
}

/* The run must have ended with the code and a sentence that holds the words. */
#define CHECK_SAYS(result, wanted, words)                                                          \
    do {                                                                                           \
        const run_result *check_run = (result);                                                    \
        if (check_run->code != (wanted) || !run_is_sentence(check_run->err) ||                     \
            strstr(check_run->err, words) == NULL)                                                 \
            fail_msg("exit %d (signal %d), not %d with '%s'; it said: %s", check_run->code,        \
                     check_run->signal, wanted, words, check_run->err);                            \
    } while (0)

/* The run must have ended well, with the words on stdout and nothing on stderr. */
#define CHECK_PRINTS(result, words)                                                                \
    do {                                                                                           \
        const run_result *check_run = (result);                                                    \
        if (check_run->code != 0 || check_run->err[0] != '\0' ||                                   \
            strstr(check_run->out, words) == NULL)                                                 \
            fail_msg("exit %d (signal %d), no '%s' in: %s%s", check_run->code, check_run->signal,  \
                     words, check_run->out, check_run->err);                                       \
    } while (0)

#endif
