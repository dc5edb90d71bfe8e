/* An open file, and what each format has to offer: one row and one source file a format. */
#ifndef WT_IO_FILE_H
#define WT_IO_FILE_H

#include "io/source.h"
#include "wattle/io.h"

typedef struct wt_format {
    const char *name;
    /* Whether the file starts like one; head has the first `bytes` of it, at most 16. */
    bool (*recognise)(const uint8_t *head, size_t bytes);
    /* Fills arrays, names and metadata; all structure is checked. */
    wt_status (*open)(wt_context *context, wt_file *file);
    /* An input at the first value of the array; to be closed in any case. */
    wt_status (*begin)(wt_context *context, const wt_file *file, const wt_array *array,
                       wt_input *out);
} wt_format;

extern const wt_format wt_format_npy, wt_format_npz, wt_format_safetensors;

/* An element of a sorted list of arrays. */
typedef struct wt_reference {
    const wt_array *array;
} wt_reference;

struct wt_file {
    const wt_format *format;
    wt_source source;
    size_t count;
    wt_array *arrays;      /* in the order of the file; names are blocks of their own */
    wt_reference *by_name; /* the same, sorted */
    size_t metadata_count;
    wt_metadata *metadata; /* keys and values are blocks of their own */
    zip_t *archive;        /* of an npz */
};

/* Room for so many arrays, cleared. Called once by a format's open. */
wt_status wt_file_reserve(wt_context *context, wt_file *file, size_t count);
/* The input of formats that keep the values in the file itself. */
wt_status wt_file_begin_plain(wt_context *context, const wt_file *file, const wt_array *array,
                              wt_input *out);

#endif
