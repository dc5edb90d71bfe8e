/* Arrays in files: .npy, .npz and .safetensors.
 *
 * The format of a file is detected from its content, never from its name, and everything in it is
 * checked before it is used: a bad file gives WT_DATA and one sentence with the file, the place and
 * the reason, a missing one WT_NO_INPUT. Reading holds two blocks of 64 KiB beside the caller's own
 * memory. docs/formats.md lists the types, the limits and what is refused. */
#ifndef WATTLE_IO_H
#define WATTLE_IO_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The types of stored values. F16 is IEEE half precision, BF16 the upper half of an F32. */
typedef enum wt_type {
    WT_TYPE_F64,
    WT_TYPE_F32,
    WT_TYPE_F16,
    WT_TYPE_BF16,
    WT_TYPE_I64,
    WT_TYPE_I32,
    WT_TYPE_U8,
    WT_TYPE_BOOL,
    WT_TYPE_I16,
    WT_TYPE_I8,
    WT_TYPE_U64,
    WT_TYPE_U32,
    WT_TYPE_U16
} wt_type;

/* "F64", "BF16" and so on, as safetensors spells them; "?" for a number that is no type. */
WT_API const char *wt_type_name(wt_type type);
/* Bytes of one stored value; 0 for a number that is no type. */
WT_API size_t wt_type_bytes(wt_type type);

/* The most dimensions an array may have. */
#define WT_MAX_RANK 8

/* An array in a file: what it is, not its values. Owned by its file; it may grow at its end. */
typedef struct wt_array {
    const char *name; /* UTF-8; "array" for the only array of an npy file */
    wt_type type;
    size_t rank;               /* 0 for a single number */
    size_t shape[WT_MAX_RANK]; /* the first `rank` are set, the others 0 */
    size_t count;              /* values: the product of the shape */
    size_t bytes;              /* of all values as stored (before any compression) */
    bool fortran;              /* stored with the first index running fastest */
    uint64_t offset;           /* of the first value in the file, or in its member of an npz */
    uint64_t member;           /* number of the member of an npz; 0 otherwise */
} wt_array;

/* An open file. It serves one thread at a time. */
typedef struct wt_file wt_file;

/* Opens a file and checks all of its structure; values are not read yet. On failure *out is NULL.
 * Only regular files, and symbolic links to them, are opened. */
WT_API wt_status wt_file_open(wt_context *context, const char *path, wt_file **out);
/* Accepts NULL. The descriptions of its arrays go with it. */
WT_API void wt_file_free(wt_file *file);

/* "npy", "npz" or "safetensors". */
WT_API const char *wt_file_format(const wt_file *file);
/* The path it was opened by. */
WT_API const char *wt_file_path(const wt_file *file);
/* The size of the file in bytes. */
WT_API uint64_t wt_file_bytes(const wt_file *file);

/* Arrays in the order of the file. wt_file_at gives NULL past the end, wt_file_find when there is
 * none of that name. */
WT_API size_t wt_file_count(const wt_file *file);
WT_API const wt_array *wt_file_at(const wt_file *file, size_t index);
WT_API const wt_array *wt_file_find(const wt_file *file, const char *name);
/* The array of "keys (n,N,d)" or "y (n) or (n,q)": a name, and shapes of which it has the number of
 * dimensions of one. WT_DATA with what is expected otherwise. */
WT_API wt_status wt_file_expect(wt_context *context, const wt_file *file, const char *wanted,
                                const wt_array **out);

/* A pair of the __metadata__ of a safetensors file; UTF-8. */
typedef struct wt_metadata {
    const char *key, *value;
} wt_metadata;
/* The value of a key; NULL when there is none. */
WT_API const char *wt_file_metadata(const wt_file *file, const char *key);
/* All pairs in the order of the file; wt_file_metadata_at gives NULL past the end. */
WT_API size_t wt_file_metadata_count(const wt_file *file);
WT_API const wt_metadata *wt_file_metadata_at(const wt_file *file, size_t index);

/* Reads all values of an array of the file, as doubles, the last index running fastest; `out` has
 * room for array->count. NaN and Inf pass. An I64 beyond 2^53 is rounded to the nearest double; a
 * BOOL is 0 or 1. On failure `out` may be partly filled. */
WT_API wt_status wt_file_read(wt_context *context, const wt_file *file, const wt_array *array,
                              double *out);

/* Called with the next values of an array; a status other than WT_OK ends the walk with it. */
typedef wt_status (*wt_file_values_fn)(void *user, const double *values, size_t count);
/* Walks all values block by block in the order they are stored, in bounded memory. */
WT_API wt_status wt_file_walk(wt_context *context, const wt_file *file, const wt_array *array,
                              wt_file_values_fn take, void *user);

/* What the values of an array are like. */
typedef struct wt_summary {
    size_t size;
    size_t finite, nan, inf; /* how many of each */
    double min, max, mean;   /* of the finite values; NaN when there is none */
} wt_summary;
/* Walks an array and sums it up, in bounded memory. */
WT_API wt_status wt_file_summarise(wt_context *context, const wt_file *file, const wt_array *array,
                                   wt_summary *out);

/* WT_DATA with the position of the first NaN or Inf, as in "keys[3,0,2] is nan", when there is
 * one; `what` names the array, values are in C order. */
WT_API wt_status wt_values_check_finite(wt_context *context, const char *what, const double *values,
                                        size_t rank, const size_t *shape);

/* An array to be written, its values in C order. */
typedef struct wt_tensor {
    const char *name;          /* UTF-8; wt_npy_write has no use for it beyond its sentences */
    wt_type type;              /* how it is stored: WT_TYPE_F64 or WT_TYPE_F32 */
    size_t rank;               /* 0 to WT_MAX_RANK */
    size_t shape[WT_MAX_RANK]; /* the first `rank` count */
    const double *values;      /* may be NULL when there are none */
} wt_tensor;

/* The writers make a new file beside the target, flush it to the disk and rename it, so that the
 * target is either the old file or the complete new one. What makes no sense (a name twice, a value
 * too large for WT_TYPE_F32) is WT_USAGE; a file that cannot be made WT_CANNOT_CREATE; a full disk
 * WT_IO. They hold two blocks of 64 KiB, a few hundred bytes an array and, for safetensors, the
 * header. */
WT_API wt_status wt_npy_write(wt_context *context, const char *path, const wt_tensor *tensor);
/* Members are stored, not deflated: the low bits of measured numbers do not compress. */
WT_API wt_status wt_npz_write(wt_context *context, const char *path, const wt_tensor *tensors,
                              size_t count);
/* Values of WT_TYPE_F64 come first, so that every array is aligned to its type. */
WT_API wt_status wt_safetensors_write(wt_context *context, const char *path,
                                      const wt_tensor *tensors, size_t count,
                                      const wt_metadata *metadata, size_t metadata_count);

#ifdef __cplusplus
}
#endif
#endif
