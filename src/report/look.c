#include "report/look.h"

#include <string.h>

/* Okabe and Ito's eight first, the ones best seen on white before the others. The rest were chosen
 * one by one to be as far from all before as can be: no two are closer than CIEDE2000 12, and 6 to
 * those who see no red, green or blue, on light paper and on dark screens. */
static const char *const colours[WT_LOOKS] = {
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999",
    "#880055", "#554400", "#2200CC", "#446644", "#8877FF", "#776677", "#BB0033", "#88BB77",
    "#004488", "#997755", "#8800FF", "#CC11BB", "#CC1177", "#999955", "#668888", "#004444"};
static const char *const dark_colours[WT_LOOKS] = {
    "#3D8FD6", "#E8583A", "#2FC79A", "#CC79A7", "#F7C948", "#8FD3FF", "#E6E9ED", "#999999",
    "#227766", "#666699", "#779966", "#BB4466", "#7744FF", "#EE8800", "#CCBBCC", "#99AAFF",
    "#887788", "#AABB66", "#DD0033", "#BBCCBB", "#BB99CC", "#EE00BB", "#FF9999", "#886644"};

enum { SHAPES = 8, ROUNDS = WT_LOOKS / SHAPES };
/* Of lines alone; shifted in every round. */
static const char *const dashes[SHAPES] = {"solid",  "(10,4)", "(3,3)",          "(10,4,2,4)",
                                           "(16,5)", "(6,3)",  "(10,3,2,3,2,3)", "(2,4)"};
/* Shapes of gnuplot by round: filled ones first, then hollow ones, then crosses. */
static const int points[ROUNDS][SHAPES] = {
    {7, 5, 9, 13, 11, 6, 4, 8}, {6, 4, 8, 12, 10, 7, 5, 9}, {1, 2, 3, 14, 1, 2, 3, 14}};
/* Of the lines that join points, by round. */
static const char *const joins[ROUNDS] = {"solid", "(8,3)", "(2,2)"};
/* The same shapes by gnuplot's number. */
#define SQUARE   "M-3.4-3.4h6.8v6.8h-6.8z"
#define CIRCLE   "M-3.8 0a3.8 3.8 0 1 0 7.6 0a3.8 3.8 0 1 0-7.6 0z"
#define TRIANGLE "M0-4.4 4.1 2.9H-4.1z"
#define TOPPLED  "M0 4.4 4.1-2.9H-4.1z"
#define DIAMOND  "M0-4.7 4.1 0 0 4.7-4.1 0z"
#define PENTAGON "M0-4.3 4.1-1.3 2.5 3.5H-2.5L-4.1-1.3z"
static const char *const paths[] = {"",
                                    "M-4 0H4M0-4V4",
                                    "M-3.2-3.2 3.2 3.2M3.2-3.2-3.2 3.2",
                                    "M-4 0H4M0-4V4M-2.8-2.8 2.8 2.8M2.8-2.8-2.8 2.8",
                                    SQUARE,
                                    SQUARE,
                                    CIRCLE,
                                    CIRCLE,
                                    TRIANGLE,
                                    TRIANGLE,
                                    TOPPLED,
                                    TOPPLED,
                                    DIAMOND,
                                    DIAMOND,
                                    PENTAGON};

const char *wt_look_colour(size_t look) {
    return colours[look];
}

const char *wt_look_dash(size_t look) {
    return dashes[(look + 3 * (look / SHAPES)) % SHAPES];
}

const char *wt_look_join(size_t look) {
    return joins[look / SHAPES];
}

int wt_look_point(size_t look) {
    return points[look / SHAPES][look % SHAPES];
}

int wt_look_hollow(size_t look) {
    int point = wt_look_point(look);
    return wt_look_filled(look) ? point - 1 : point;
}

bool wt_look_filled(size_t look) {
    int point = wt_look_point(look);
    return point >= 5 && point % 2 == 1;
}

const char *wt_look_path(size_t look) {
    return paths[wt_look_point(look)];
}

/* "(10,4)" is "10 4". */
void wt_look_dashes(wt_script *out, wt_mark mark, size_t look) {
    const char *words = mark == WT_MARK_LINE ? wt_look_dash(look) : wt_look_join(look);
    if (words[0] != '(')
        return;
    for (words++; *words != ')'; words++)
        wt_script_bytes(out, *words == ',' ? " " : words, 1);
}

void wt_look_rules(wt_script *out) {
    for (size_t i = 0; i < WT_LOOKS; i++)
        wt_script_add(out, ".look-%zu{color:%s}", i, colours[i]);
    wt_script_add(out, "\n@media screen and (prefers-color-scheme:dark){");
    for (size_t i = 0; i < WT_LOOKS; i++)
        wt_script_add(out, ".lively .look-%zu{color:%s}", i, dark_colours[i]);
    wt_script_add(out, "}\n");
}

void wt_look_key(wt_script *out, wt_mark mark, size_t look) {
    wt_script_add(out,
                  "<svg class=\"key look-%zu\" viewBox=\"0 0 30 12\" width=\"30\" height=\"12\" "
                  "aria-hidden=\"true\">",
                  look);
    if (mark != WT_MARK_DOTS) {
        wt_script_add(out, "<path class=\"line\" d=\"M0 6H30\" stroke-dasharray=\"");
        wt_look_dashes(out, mark, look);
        wt_script_add(out, "\"/>");
    }
    if (mark != WT_MARK_LINE)
        wt_script_add(out, "<path class=\"mark%s\" transform=\"translate(15 6)\" d=\"%s\"/>",
                      wt_look_filled(look) ? " full" : "", wt_look_path(look));
    wt_script_add(out, "</svg>");
}
