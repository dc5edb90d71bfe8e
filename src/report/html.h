/* Text for a page: everything that comes from outside goes through wt_html_text. */
#ifndef WT_REPORT_HTML_H
#define WT_REPORT_HTML_H

#include "io/script.h"
#include "lab/statistics.h"

/* The words with & < > " ' escaped; control characters and bytes that are not UTF-8 become
 * U+FFFD. */
void wt_html_text(wt_script *page, const char *words);
/* "0.31", "4.2e-05", "-1.5" with a true minus; "-" where it is not finite. */
void wt_html_number(wt_script *page, double value);
/* The format as it stands, but for %t: text, %p: words of ours in which `code`
 * stands between backquotes, %c: code, %n: a double as a number, %z: a
 * size_t, %s: a string as it is, %%: a percent sign. */
void wt_html_add(wt_script *page, const char *format, ...);
/* "0.31 (0.28, 0.34)", the interval in smaller letters; without one where there is none. */
void wt_html_interval(wt_script *page, wt_interval value);

/* The drawing of gnuplot with `prefix` before all its names, so that several can stand on a page,
 * `label` for those who do not see it, and its colours left to the page's style. */
void wt_html_drawing(wt_script *page, const char *svg, const char *prefix, const char *label);

/* SHA-256 of a text in base 64, by which a page allows one script; returns out. */
#define WT_HTML_HASH 45
const char *wt_html_hash(const char *text, char out[WT_HTML_HASH]);

#endif
