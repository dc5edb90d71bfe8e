/* Text from outside, made fit for a sentence: wattle/text.h. */
#ifndef WT_IO_QUOTE_H
#define WT_IO_QUOTE_H

#include "base/text.h"

#endif
