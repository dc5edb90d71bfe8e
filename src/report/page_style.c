#include "report/page.h"

/* Series keep Okabe and Ito's colours on paper and on light screens; on dark ones they
 * are lightened to be seen, and set apart again: no two are closer there than CIEDE2000 6, also to
 * those who see no red, green or blue. gnuplot writes colours as attributes, which
 * rules here override. */
const char *const wt_page_style[] = {
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1c1f24;--soft:#5b6470;--line:#d9dde3;"
    "--box:#f6f7f9;--link:#0b5cad;--good:#12724a;--bad:#b3400a;--open:#6a5400;--none:#5b6470;"
    "--side:#0072b222;--mark:#0072b2}\n",
    "@media (prefers-color-scheme:dark){:root{--paper:#14171b;--ink:#e6e9ed;--soft:#a3adb8;"
    "--line:#343a42;--box:#1c2026;--link:#7fb8ee;--good:#5fcf9a;--bad:#ff9a66;--open:#e6c34a;"
    "--none:#a3adb8;--side:#56b4e92e;--mark:#56b4e9}}\n",
    "*{box-sizing:border-box}\n",
    "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"
    "'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;overflow-wrap:break-word}\n",
    "main{max-width:76rem;margin:0 auto;padding:1.5rem 1rem 3rem}\n",
    "h1{font-size:1.9rem;line-height:1.2;margin:0 0 .4rem}\n",
    "h2{font-size:1.35rem;line-height:1.25;margin:2.6rem 0 .3rem;padding-top:.8rem;"
    "border-top:2px solid var(--line)}\n",
    "h3{font-size:1.05rem;margin:0}\nh4{font-size:1rem;margin:1.6rem 0 .3rem}\n",
    "p{margin:.4rem 0;max-width:65rem}\na{color:var(--link)}\n",
    "code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.86em}\n",
    "pre{background:var(--box);border:1px solid var(--line);border-radius:4px;padding:.6rem .8rem;"
    "overflow-x:auto;margin:.4rem 0}\n",
    ".soft,small{color:var(--soft)}\nsmall{font-size:.84em;white-space:nowrap}\n",
    ".scroll{overflow-x:auto;margin:.5rem 0}\n",
    "table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}\n",
    "th,td{text-align:left;vertical-align:top;padding:.28rem .9rem .28rem 0;"
    "border-bottom:1px solid var(--line)}\n",
    "th{font-weight:600}\ncaption{text-align:left;color:var(--soft);padding:.3rem 0}\n",
    "td.number,th.number{white-space:nowrap}\n",
    ".verdict{font-weight:600;white-space:nowrap}\n",
    ".reproduced{color:var(--good)}.not-reproduced{color:var(--bad)}.undecided{color:var(--open)}"
    ".not-measured,.explored{color:var(--none)}.no-test{color:var(--bad)}\n",
    ".claims{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,34rem),1fr));"
    "gap:1rem;margin:1rem 0;align-items:start}\n",
    ".claim{background:var(--box);border:1px solid var(--line);border-radius:6px;"
    "padding:.8rem 1rem;break-inside:avoid;min-width:0}\n",
    ".claim header{display:flex;justify-content:space-between;gap:1rem;align-items:baseline}\n",
    ".part{margin-top:.7rem;padding-top:.6rem;border-top:1px solid var(--line)}\n",
    ".measured{font-variant-numeric:tabular-nums}\n",
    "svg.strip{display:block;width:100%;max-width:26rem;height:auto;margin:.3rem 0}\n",
    ".strip .side{fill:var(--side)}.strip .edge{stroke:var(--ink);stroke-width:1.5}\n",
    ".strip .axis{stroke:var(--line)}.strip .bar{stroke:var(--mark);stroke-width:4;"
    "stroke-linecap:round}.strip .dot{fill:var(--mark);stroke:var(--box);stroke-width:1.5}\n",
    ".strip text{font-size:10px;fill:var(--soft);font-family:inherit}\n",
    ".charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr));"
    "gap:1rem 1.2rem;align-items:start}\n",
    "figure{margin:0;break-inside:avoid;min-width:0}.wide{grid-column:1/-1}\n",
    "summary{cursor:pointer;color:var(--soft);font-size:.9rem}\n",
    "figcaption{max-width:65rem}\n.paper{display:none}\n",
    ".panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr));"
    "gap:.6rem 1.2rem;margin:.5rem 0}\n",
    "svg.plot{display:block;width:100%;max-width:30rem;height:auto}\n",
    ".plot [color=black]{color:var(--ink)}.plot [stroke=black]{stroke:var(--ink)}"
    ".plot [fill=black]{fill:var(--ink)}\n",
    "@media screen and (prefers-color-scheme:dark){"
    ".plot [stroke='rgb(  0, 114, 178)']{stroke:#3d8fd6}"
    ".plot [color='rgb(  0, 114, 178)']{color:#3d8fd6}"
    ".plot [fill='rgb(  0, 114, 178)']{fill:#3d8fd6}"
    ".plot [stroke='rgb(213,  94,   0)']{stroke:#e8583a}"
    ".plot [color='rgb(213,  94,   0)']{color:#e8583a}"
    ".plot [fill='rgb(213,  94,   0)']{fill:#e8583a}"
    ".plot [stroke='rgb(  0, 158, 115)']{stroke:#2fc79a}"
    ".plot [color='rgb(  0, 158, 115)']{color:#2fc79a}"
    ".plot [fill='rgb(  0, 158, 115)']{fill:#2fc79a}"
    ".plot [stroke='rgb(230, 159,   0)']{stroke:#f7c948}"
    ".plot [color='rgb(230, 159,   0)']{color:#f7c948}"
    ".plot [fill='rgb(230, 159,   0)']{fill:#f7c948}"
    ".plot [stroke='rgb( 86, 180, 233)']{stroke:#8fd3ff}"
    ".plot [color='rgb( 86, 180, 233)']{color:#8fd3ff}"
    ".plot [fill='rgb( 86, 180, 233)']{fill:#8fd3ff}"
    ".plot [stroke='rgb(221, 221, 221)']{stroke:var(--line)}"
    ".plot [stroke='rgb(  0,   0,   0)']{stroke:var(--ink)}"
    ".plot [color='rgb(  0,   0,   0)']{color:var(--ink)}}\n",
    "@media (max-width:40rem){body{font-size:15px}h1{font-size:1.6rem}main{padding:1rem .8rem 2rem}"
    "th,td{padding-right:.6rem}.summary th:nth-child(n+3),.summary td:nth-child(n+3){display:none}}"
    "\n",
    "@page{margin:16mm 14mm}\n",
    "@media print{:root{color-scheme:light;--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;"
    "--box:#fff;--link:#000;--good:#12724a;--bad:#b3400a;--open:#6a5400;--none:#444;"
    "--side:#0072b222;--mark:#0072b2}body{font-size:9.5pt}main{max-width:none;padding:0 2px}"
    "h2,h2+.soft,h4{break-after:avoid}.scroll,pre{overflow:visible}pre{white-space:pre-wrap;"
    "padding:.3rem .5rem}svg.plot{max-width:76mm}"
    ".claims{grid-template-columns:1fr 1fr}.panels{grid-template-columns:1fr}.wide "
    ".panels{grid-template-columns:1fr 1fr}"
    "tr{break-inside:avoid}a{text-decoration:none}.charts{grid-template-columns:1fr 1fr}"
    "details:not([open]){display:none}.paper{display:block;font-size:8pt}"
    "details[open]+.paper{display:none}}\n",
    NULL,
};
