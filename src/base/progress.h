/* Clocks and meters: wattle/program.h. */
#ifndef WT_BASE_PROGRESS_H
#define WT_BASE_PROGRESS_H

#include "base/context.h"

#endif
