/* The report on a store. */
#ifndef WT_REPORT_WRITE_H
#define WT_REPORT_WRITE_H

#include "lab/claims.h"

typedef struct wt_report_summary {
    size_t figures;
    bool drawn;                 /* false: gnuplot cannot, the report has tables alone */
    char why[WT_MESSAGE_BYTES]; /* it cannot; "" otherwise */
} wt_report_summary;

/* Writes the page to `output`, "report.html", and its figures into a folder beside it,
 * "report-figures": a .svg, .pdf and .csv each, and a .ini for every sweep that was run. The page
 * comes last, and every file is whole or not there. `store` is the path the results were read from,
 * to be named on the page. */
wt_status wt_report_write(wt_context *context, const wt_results *results,
                          const wt_findings *findings, const char *store, const char *output,
                          wt_report_summary *out);

#endif
