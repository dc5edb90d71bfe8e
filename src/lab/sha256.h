/* SHA-256 (FIPS 180-4): names for cells that no two different cells will ever share. None of the
 * libraries we link offers one. */
#ifndef WT_LAB_SHA256_H
#define WT_LAB_SHA256_H

#include "wattle/store.h"

/* 64 hexadecimal digits of the bytes into out; returns out. */
const char *wt_sha256(const void *bytes, size_t count, char out[WT_HASH_TEXT]);

#endif
