/* Arenas: wattle/memory.h. */
#ifndef WT_BASE_ARENA_H
#define WT_BASE_ARENA_H

#include "base/memory.h"

#endif
