/* Laws that tokens are drawn from. */
#ifndef WATTLE_LAW_H
#define WATTLE_LAW_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wt_law {
    WT_LAW_SPHERE,   /* uniform on the unit sphere */
    WT_LAW_GAUSSIAN, /* N(0, I) */
    WT_LAW_BOOLEAN   /* independent signs */
} wt_law;

/* "sphere", "gaussian", "boolean"; WT_USAGE for another word, "?" for no law. */
WT_API wt_status wt_law_parse(wt_context *context, const char *word, wt_law *out);
WT_API const char *wt_law_name(wt_law law);
/* The default factor of the tokens of sets: 1 for the sphere,
 * 1/sqrt(d) for the other laws. */
WT_API double wt_law_set_scale(wt_law law, size_t dim);

#ifdef __cplusplus
}
#endif
#endif
