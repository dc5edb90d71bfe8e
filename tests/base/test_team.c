/* Teams: who takes part in a loop, and what becomes of its threads. */
#define _DEFAULT_SOURCE /* usleep */
#include "base/team.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { MOST = 8, PIECES = 64 };

typedef struct {
    atomic_int next, wrong;
    atomic_int at_work[MOST]; /* under that number */
    atomic_int done[PIECES];
    int threads, pause; /* microseconds a piece */
} pieces;

static void take_pieces(void *argument, int worker) {
    pieces *all = argument;
    int piece;
    bool known = worker >= 0 && worker < all->threads;
    if (!known || atomic_fetch_add(&all->at_work[worker], 1) != 0)
        atomic_fetch_add(&all->wrong, 1);
    while ((piece = atomic_fetch_add(&all->next, 1)) < PIECES) {
        if (all->pause > 0)
            usleep((useconds_t)all->pause);
        atomic_fetch_add(&all->done[piece], 1);
    }
}

static void run_pieces(wt_context *context, int threads, int pause) {
    pieces all = {.threads = threads, .pause = pause};
    CHECK_OK(context, wt_team_run(context, threads, take_pieces, &all));
    assert_int_equal(atomic_load(&all.wrong), 0); /* each number is one thread's, once */
    for (int i = 0; i < PIECES; i++)
        assert_int_equal(atomic_load(&all.done[i]), 1);
}

/* Loops that follow at once find threads that look, others wake them; what is done is seen here by
 * the time that the loop returns, on the stack of a function that ends (invariants 1 to 3). */
static void every_piece_is_done_once(void **state) {
    for (int times = 0; times < 20000; times++)
        run_pieces(*state, 2 + times % (MOST - 1), 0);
    for (int times = 0; times < 200; times++) {
        run_pieces(*state, 2 + times % (MOST - 1), times % 3);
        usleep(times % 2 == 0 ? 15 : 200); /* looking ends after 10 to 100 us */
    }
}

/* Nothing is left to be done here: only the others can. */
typedef struct {
    atomic_int came;
    int wanted;
} meeting;
static void meet(void *argument, int worker) {
    meeting *at = argument;
    (void)worker;
    atomic_fetch_add(&at->came, 1);
    while (atomic_load(&at->came) < at->wanted)
        usleep(10);
}
static void sleeping_threads_come(void **state) {
    for (int times = 0; times < 20; times++) {
        meeting at = {.wanted = 2 + times % (MOST - 1)};
        usleep(1000);
        CHECK_OK(*state, wt_team_run(*state, at.wanted, meet, &at));
        assert_int_equal(atomic_load(&at.came), at.wanted);
    }
}

static int tasks(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    if (folder != NULL)
        closedir(folder);
    return count;
}

static void *call(void *given) {
    meeting at = {.wanted = 4};
    *(wt_status *)given = wt_team_run(NULL, 4, meet, &at);
    return NULL;
}
static void a_team_ends_with_its_caller(void **state) {
    (void)state;
    enum { CALLERS = 5 };
    pthread_t callers[CALLERS];
    wt_status found[CALLERS];
    int before = tasks();
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, call, &found[i]), 0);
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(pthread_join(callers[i], NULL), 0);
        assert_int_equal(found[i], WT_OK);
    }
    while (tasks() > before) /* a thread that was joined may be listed a little longer */
        usleep(100);
}

static void a_child_has_a_team_of_its_own(void **state) {
    run_pieces(*state, 4, 1);
    pid_t child = fork();
    if (child == 0) {
        meeting at = {.wanted = 4};
        bool alone = tasks() == 1;
        wt_status status = wt_team_run(*state, 4, meet, &at);
        _exit(alone && status == WT_OK && tasks() == 4 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    run_pieces(*state, 4, 1);
}

static void signals_are_left_to_the_program(void **state) {
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    run_pieces(*state, 4, 1);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &usr1, NULL), 0);
    assert_int_equal(kill(getpid(), SIGUSR1), 0); /* which would end it in any other thread */
    run_pieces(*state, 4, 1);
    assert_int_equal(sigtimedwait(&usr1, NULL, &(struct timespec){0}), SIGUSR1);
    assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &usr1, NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_piece_is_done_once),
        cmocka_unit_test(sleeping_threads_come),
        cmocka_unit_test(a_team_ends_with_its_caller),
        cmocka_unit_test(a_child_has_a_team_of_its_own),
        cmocka_unit_test(signals_are_left_to_the_program),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
