/* Threads that wait for the loops of one caller. */
#ifndef WT_BASE_TEAM_H
#define WT_BASE_TEAM_H

#include "base/context.h"

/* What a loop does on a thread: takes what nobody has taken yet, until nothing is left. */
typedef void (*wt_team_fn)(void *argument, int worker);

/* Runs the work on the calling thread, as worker 0, and on those of `threads` - 1 others that come
 * before it is done there, each with a number below `threads` of its own; returns when all that
 * came have left. Nobody waits for a thread that the system lets wait, so that a busy machine costs
 * what its processors are short of and no more. Fails where threads cannot be started. */
wt_status wt_team_run(wt_context *context, int threads, wt_team_fn work, void *argument);

#endif
