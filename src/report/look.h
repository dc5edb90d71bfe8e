/* How series look: colours, shapes, dashes, as gnuplot and as a page want them. */
#ifndef WT_REPORT_LOOK_H
#define WT_REPORT_LOOK_H

#include "io/script.h"
#include "wattle/report.h"

/* "#0072B2". */
const char *wt_look_colour(size_t look);
/* Of lines alone, and of those that join points: "solid" or "(10,4)". */
const char *wt_look_dash(size_t look);
const char *wt_look_join(size_t look);
/* gnuplot's number of the shape, and of its outline where it is filled. */
int wt_look_point(size_t look);
int wt_look_hollow(size_t look);

/* For a page: the dashes as SVG has them, "" = none; the shape around (0,0) as a path; whether it
 * is filled. */
void wt_look_dashes(wt_script *out, wt_mark mark, size_t look);
const char *wt_look_path(size_t look);
bool wt_look_filled(size_t look);
/* Rules for classes look-0, look-1, ..: colours on light and on dark screens, and on paper. */
void wt_look_rules(wt_script *out);
/* The sample of a legend, an SVG. */
void wt_look_key(wt_script *out, wt_mark mark, size_t look);

#endif
