/* Everything libwattle offers. */
#ifndef WATTLE_H
#define WATTLE_H

#include "wattle/base.h"
#include "wattle/blas.h"
#include "wattle/boolean.h"
#include "wattle/capacity.h"
#include "wattle/construct.h"
#include "wattle/field.h"
#include "wattle/inspect.h"
#include "wattle/io.h"
#include "wattle/layer.h"
#include "wattle/learn.h"
#include "wattle/memory.h"
#include "wattle/model.h"
#include "wattle/network.h"
#include "wattle/output.h"
#include "wattle/program.h"
#include "wattle/query.h"
#include "wattle/random.h"
#include "wattle/recover.h"
#include "wattle/report.h"
#include "wattle/sculpt.h"
#include "wattle/search.h"
#include "wattle/statistics.h"
#include "wattle/store.h"
#include "wattle/task.h"
#include "wattle/text.h"
#include "wattle/theory.h"
#include "wattle/threshold.h"
#include "wattle/train.h"

#endif
