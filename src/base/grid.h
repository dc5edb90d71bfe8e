/* Grids: wattle/text.h. */
#ifndef WT_BASE_GRID_H
#define WT_BASE_GRID_H

#include "base/context.h"
#include "wattle/text.h"

#endif
