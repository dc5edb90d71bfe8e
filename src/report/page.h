/* The parts of the report's page, each added to the text. */
#ifndef WT_REPORT_PAGE_H
#define WT_REPORT_PAGE_H

#include "report/rerun.h"

typedef struct wt_page {
    wt_context *context;
    wt_arena arena; /* holds what is pointed to and not const */
    wt_script html;
    const wt_results *results;
    const wt_findings *findings;
    const wt_report_options *options; /* NULL = none */
    const char *store;                /* file name without its folder */
    const char *output;               /* path of the page */
    char *store_word;                 /* the path of the store, as a shell reads it */
    char *output_word;                /* of the page */
    char *folder_word;                /* of the folder */
    char *folder;                     /* of the figures, a path */
    const char *folder_name;          /* the same as the page links to it */
    bool drawing;                     /* gnuplot is there */
    size_t figures;                   /* put on the page so far */
    wt_reruns reruns;                 /* which cells each sweep makes */
    bool *drawn, *own_drawn;          /* (charts), (those of chart_own.c): it is on the page */
    bool *bears;                      /* (claims): cells of the store bear on it */
    unsigned again; /* seconds after which the page reads itself anew; 0 = never */
    bool own;       /* what is shown is the user's own, and no run of `reproduce` */
} wt_page;

/* The page of results and what claims say to them, as wt_report_write; `store` is the path they
 * were read from, to be named on the page. */
wt_status wt_page_write(wt_context *context, const wt_results *results, const wt_findings *findings,
                        const char *store, const char *output, const wt_report_options *options,
                        unsigned again, wt_report_summary *out);
/* wt_report_write, with a page that reads itself anew after so many seconds. */
wt_status wt_report_make(wt_context *context, const char *store, const char *output,
                         const wt_report_options *options, unsigned again, wt_findings **findings,
                         wt_report_summary *out);

/* The page's style, page.css, and its script, page_draw.js and page_explore.js. */
extern const char wt_page_style[], wt_page_script[];

/* Finds the claims that cells bear on. */
wt_status wt_page_find_claims(wt_page *page);
/* Whether there are any, of a paper; of all where it is NULL. */
bool wt_page_has_claims(const wt_page *page, const wt_paper *paper);
/* The table of these claims and their verdicts. */
void wt_page_summary(wt_page *page);
/* The boxes of a paper's claims; of all where it is NULL. */
void wt_page_claims(wt_page *page, const wt_paper *paper);
/* A line that names the others. */
void wt_page_no_claims(wt_page *page);
/* The sweeps that were run, each as sweep-N.ini in the folder, from 1. */
wt_status wt_page_sweeps(wt_page *page);
/* Removes what an earlier report left in the folder and this one did not write: figures of charts
 * that have nothing to show now, pictures where none can be drawn, sweeps of higher numbers. Other
 * files are left alone. */
void wt_page_tidy(wt_page *page);
/* Writes the chart's files into the folder; the figure is of what is shown. */
wt_status wt_page_write_chart(wt_page *page, const wt_chart *chart, const wt_figure *figure);
/* Links to its files and the commands that make it again; the same for paper, where tables are
 * shut. */
void wt_page_links(wt_page *page, const wt_chart *chart);
void wt_page_paper(wt_page *page, const wt_chart *chart);
/* The legend of a chart; its points as a table, and for the script as JSON. */
void wt_page_legend(wt_page *page, const wt_figure *figure);
void wt_page_table(wt_page *page, const wt_chart *chart);
void wt_page_points(wt_page *page, const wt_chart *chart, const wt_figure *figure);
/* The charts of a paper, of all where it is NULL: drawings, numbers, files beside the page. */
wt_status wt_page_charts(wt_page *page, const wt_paper *paper);
/* After those, charts of all other numbers that were varied. */
wt_status wt_page_own_charts(wt_page *page);
/* The diagonals of the models that the options name. */
wt_status wt_page_models(wt_page *page);
/* What was run: experiments, versions, machines, seeds, commands, failures. */
wt_status wt_page_runs(wt_page *page);

#endif
