#define _POSIX_C_SOURCE 200809L /* signals of threads */
/* A team belongs to the thread that calls: two callers never share one, and a loop inside another
 * has a second one. Its threads are started when a loop first asks for so many, and end with the
 * caller.
 *
 * 1. `open` holds the number of the loop and the seats that are free in it. Who takes a seat by one
 *    exchange is in the loop; the caller closes it by taking all that are left.
 * 2. `work` and `argument` change only when nobody is in a loop: the caller waits for as many to
 *    leave as have taken seats.
 * 3. Who waits looks for a while, as the next loop is often near, then sleeps. A sleeper says so
 *    before it looks for the last time, and who changes something looks for sleepers after: one of
 *    the two sees the other. */
#include "base/team.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

/* Seconds to look before sleeping. Waking takes some 10 us, and whoever looks keeps a processor
 * from others. So a thread that is woken soon after it fell asleep looks longer the next time, and
 * one that loses its processor while it looks is back at the least. */
#define LEAST_PATIENCE 1e-5
#define MOST_PATIENCE  1e-4
#define LOSS           5e-5 /* between two looks at the clock: the processor was another's */
#define LOOKS          16   /* between them */

typedef struct team {
    _Atomic uint64_t open; /* the number of the loop << 32 | free seats */
    atomic_int left;       /* threads that were in the loop, and are not any more */
    atomic_int sleepers;   /* threads that want to be woken for the next loop */
    atomic_bool sleeping;  /* the caller wants to be woken when a thread leaves */
    atomic_bool ending;
    double patience; /* of the caller */
    wt_team_fn work;
    void *argument;
    pthread_mutex_t mutex;
    pthread_cond_t begun, done;
    int others; /* threads that were started */
    pthread_t thread[WT_MAX_THREADS];
} team;

#define LEVELS 2 /* a loop, and one inside it */
static _Thread_local team teams[LEVELS];
static _Thread_local int level; /* loops that the thread has called and is in */
static pthread_key_t ends_with_caller;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static int unprepared; /* why */

static void look_again(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool loop_begins(team *of, uint64_t seen) {
    return atomic_load(&of->open) >> 32 != seen || atomic_load(&of->ending);
}

static bool all_left(team *of, uint64_t joined) {
    return (uint64_t)atomic_load(&of->left) == joined;
}

/* Whether it comes about while one looks, with such a patience from that time on. */
static bool look_for(bool (*event)(team *, uint64_t), team *of, uint64_t what, double since,
                     double *patience) {
    double now = wt_clock(), before;
    do {
        for (int i = 0; i < LOOKS; i++) {
            if (event(of, what))
                return true;
            look_again();
        }
        before = now;
        now = wt_clock();
        if (now - before > LOSS)
            *patience = LEAST_PATIENCE;
    } while (now < since + *patience);
    return false;
}

static void sleep_for(bool (*event)(team *, uint64_t), team *of, uint64_t what,
                      pthread_cond_t *told, double *patience) {
    double began = wt_clock();
    while (!event(of, what))
        pthread_cond_wait(told, &of->mutex);
    if (wt_clock() - began < MOST_PATIENCE)
        *patience = 2 * *patience < MOST_PATIENCE ? 2 * *patience : MOST_PATIENCE;
}

static void sleep_until_loop(team *of, uint64_t seen, double *patience) {
    pthread_mutex_lock(&of->mutex);
    atomic_fetch_add(&of->sleepers, 1);
    sleep_for(loop_begins, of, seen, &of->begun, patience);
    atomic_fetch_sub(&of->sleepers, 1);
    pthread_mutex_unlock(&of->mutex);
}

/* The number of a seat in the loop that is open, 0 when there is none. */
static int take_seat(team *of, uint64_t *seen) {
    uint64_t open = atomic_load(&of->open);
    while ((uint32_t)open > 0)
        if (atomic_compare_exchange_weak(&of->open, &open, open - 1))
            break;
    *seen = open >> 32;
    return (int)(uint32_t)open;
}

static void leave(team *of) {
    atomic_fetch_add(&of->left, 1);
    if (atomic_load(&of->sleeping)) {
        pthread_mutex_lock(&of->mutex);
        pthread_cond_signal(&of->done);
        pthread_mutex_unlock(&of->mutex);
    }
}

static void *serve(void *given) {
    team *of = given;
    uint64_t seen = 0;
    double worked = 0, patience = LEAST_PATIENCE;
    while (!atomic_load(&of->ending)) {
        int seat = take_seat(of, &seen);
        if (seat > 0) {
            of->work(of->argument, seat);
            leave(of);
            worked = wt_clock();
        }
        if (!look_for(loop_begins, of, seen, worked, &patience))
            sleep_until_loop(of, seen, &patience);
    }
    return NULL;
}

static void end_team(team *of) {
    pthread_mutex_lock(&of->mutex);
    atomic_store(&of->ending, true);
    pthread_cond_broadcast(&of->begun);
    pthread_mutex_unlock(&of->mutex);
    for (int i = 0; i < of->others; i++)
        pthread_join(of->thread[i], NULL);
    pthread_mutex_destroy(&of->mutex);
    pthread_cond_destroy(&of->begun);
    pthread_cond_destroy(&of->done);
    memset(of, 0, sizeof *of);
}

static void end_teams(void *given) {
    team *of = given;
    for (int i = 0; i < LEVELS; i++)
        if (of[i].others > 0)
            end_team(&of[i]);
}

/* A process that was forked has the forking thread alone. */
static void forget_team(void) {
    memset(teams, 0, sizeof teams);
    pthread_setspecific(ends_with_caller, NULL);
}

static void prepare(void) {
    unprepared = pthread_key_create(&ends_with_caller, end_teams);
    if (unprepared == 0)
        unprepared = pthread_atfork(NULL, NULL, forget_team);
}

/* Signals are for the threads of the program. */
static int start_thread(team *of) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&of->thread[of->others], NULL, serve, of);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    of->others += failed == 0;
    return failed;
}

static int start_team(team *mine, int others) {
    int failed = pthread_once(&prepared, prepare);
    if (failed == 0)
        failed = unprepared;
    if (failed == 0 && mine->others == 0) {
        pthread_mutex_init(&mine->mutex, NULL);
        pthread_cond_init(&mine->begun, NULL);
        pthread_cond_init(&mine->done, NULL);
        mine->patience = LEAST_PATIENCE;
        failed = pthread_setspecific(ends_with_caller, teams);
    }
    while (failed == 0 && mine->others < others)
        failed = start_thread(mine);
    return failed;
}

static void wake(team *mine, int wanted) {
    int sleepers = atomic_load(&mine->sleepers);
    if (sleepers == 0)
        return;
    pthread_mutex_lock(&mine->mutex);
    if (wanted >= sleepers)
        pthread_cond_broadcast(&mine->begun);
    for (int i = 0; wanted < sleepers && i < wanted; i++)
        pthread_cond_signal(&mine->begun);
    pthread_mutex_unlock(&mine->mutex);
}

static void wait_for(team *mine, int joined) {
    if (look_for(all_left, mine, (uint64_t)joined, wt_clock(), &mine->patience))
        return;
    pthread_mutex_lock(&mine->mutex);
    atomic_store(&mine->sleeping, true);
    sleep_for(all_left, mine, (uint64_t)joined, &mine->done, &mine->patience);
    atomic_store(&mine->sleeping, false);
    pthread_mutex_unlock(&mine->mutex);
}

wt_status wt_team_run(wt_context *context, int threads, wt_team_fn work, void *argument) {
    if (level == LEVELS)
        return wt_fail(context, WT_INTERNAL, "loops inside each other, %d deep", LEVELS + 1);
    team *mine = &teams[level];
    int others = threads - 1, failed = others > mine->others ? start_team(mine, others) : 0;
    if (failed != 0)
        return wt_fail(context, WT_MEMORY, "no more than %d of %d threads can be started: %s",
                       mine->others + 1, threads, strerror(failed));
    mine->work = work;
    mine->argument = argument;
    atomic_store(&mine->left, 0);
    uint64_t loop = ((atomic_load(&mine->open) >> 32) + 1) & UINT32_MAX;
    atomic_store(&mine->open, loop << 32 | (uint64_t)others);
    wake(mine, others);
    level++;
    work(argument, 0);
    level--;
    uint64_t open = atomic_exchange(&mine->open, loop << 32);
    wait_for(mine, others - (int)(uint32_t)open);
    return WT_OK;
}
