/* The table of stored types, and values to and from double. */
#ifndef WT_IO_TYPES_H
#define WT_IO_TYPES_H

#include "base/context.h"
#include "wattle/io.h"

/* Values are moved in blocks of this many bytes. */
#define WT_BLOCK_BYTES 65536

/* The relative rounding of stored values; that of F64 for whole numbers. */
double wt_type_rounding(wt_type type);
/* The type safetensors ("BF16") or npy ("<f8") spells so; false when we know none. */
bool wt_type_from_safetensors(const char *name, wt_type *out);
bool wt_type_from_npy(const char *descr, wt_type *out);
/* The npy spelling of WT_TYPE_F64 or WT_TYPE_F32. */
const char *wt_type_npy(wt_type type);

/* `count` stored values at any alignment, as doubles. */
void wt_values_decode(wt_type type, const uint8_t *stored, size_t count, double *out);
/* Doubles as WT_TYPE_F64 or WT_TYPE_F32. */
void wt_values_encode(wt_type type, const double *values, size_t count, uint8_t *stored);

/* count and bytes of an array from its shape and type; false when they do not fit. */
bool wt_array_measure(wt_array *array);

/* "[3,0,2]" for a position in C order into out[WT_INDEX_TEXT]; "" for rank 0. Returns out. */
#define WT_INDEX_TEXT (WT_MAX_RANK * 21 + 3)
const char *wt_index_text(size_t position, size_t rank, const size_t *shape, char *out);

#endif
