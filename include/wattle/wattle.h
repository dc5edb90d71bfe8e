/* Everything libwattle offers. */
#ifndef WATTLE_H
#define WATTLE_H

#include "wattle/base.h"
#include "wattle/io.h"
#include "wattle/linalg.h"
#include "wattle/random.h"

#endif
