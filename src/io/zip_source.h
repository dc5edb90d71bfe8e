/* libzip reads an archive through our source. */
#ifndef WT_IO_ZIP_SOURCE_H
#define WT_IO_ZIP_SOURCE_H

#include "io/source.h"

/* A libzip source over ours, which must outlive it. NULL without memory. Released by libzip with
 * the archive opened from it. */
zip_source_t *wt_zip_source_new(wt_context *context, const wt_source *source);

#endif
