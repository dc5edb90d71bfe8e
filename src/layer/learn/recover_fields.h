/* The fields of a recovery, once for all: the library's table, and rows for the experiment. Offsets
 * are those of wt_recover_options, which stands first in a struct that has more. */
#ifndef WT_LAYER_LEARN_RECOVER_FIELDS_H
#define WT_LAYER_LEARN_RECOVER_FIELDS_H

#include "base/field.h"
#include "layer/task/form_fields.h"
#include "wattle/recover.h"

/* given, auto. */
extern const char *const wt_recover_form_words[];

/* The result version of the experiment `recover` that the forms came in. */
enum { WT_RECOVER_FORMS_SINCE = 3 };

#define WT_RECOVER_AT(member) offsetof(wt_recover_options, member)

/* clang-format off */
#define WT_RECOVER_ROW(row_name, row_kind, row_fallback, member)                                   \
    .name = (row_name), .kind = WT_FIELD_KIND_##row_kind, .fallback = (row_fallback),              \
    .offset = offsetof(wt_recover_options, member)

#define WT_RECOVER_FIELDS(usual_method)                                                            \
    {WT_RECOVER_ROW("method", WORD, usual_method, method),                                         \
     .value = "auto|refine|sculpt|adam|query",                                                     \
     .help = "refine (variable projection and Gauss-Newton), sculpt (rows where all heads attend " \
             "alike, then refine), adam (the baseline), or auto: refine, and a start from sculpt " \
             "where it may work and the first random ones fail. In a sweep also query, which "     \
             "chooses its inputs itself: wattle query."},                                          \
    {WT_RECOVER_ROW("restarts", COUNT, "20", restarts), .value = "R",                              \
     .help = "Random starts at most."},                                                            \
    {WT_RECOVER_ROW("steps", NATURAL, "0", max_steps), .value = "S",                              \
     .help = "Steps of a start at most; 0 = 200, and 20000 for adam."},                            \
    {WT_RECOVER_ROW("holdout", REAL, "0.2", holdout), .value = "PART", .range = "[0,1)",           \
     .help = "Part of the sequences, drawn by the seed, that judges the fit; the layer is then "   \
             "polished on all of them."},                                                          \
    {WT_RECOVER_ROW("goal", REAL, "1e-9", goal), .value = "E", .range = "(0,inf)",                 \
     .help = "Relative error that counts as exact."},                                              \
    WT_FORM_FIELDS(WT_RECOVER_AT, WT_RECOVER_FORMS_SINCE),                                         \
    {WT_RECOVER_ROW("fit-rank", NATURAL, "0", rank), .option = "rank", .value = "R",               \
     .since = WT_RECOVER_FORMS_SINCE,                                                              \
     .help = "Rank of every Theta, as a query and a key matrix of R columns make it; 0 = any."},   \
    {WT_RECOVER_ROW("fit-groups", NATURAL, "0", groups), .option = "groups", .value = "G",         \
     .since = WT_RECOVER_FORMS_SINCE,                                                              \
     .help = "Key-value heads: heads share keys and values in G groups, as grouped queries do, W " \
             "of the rank that --rank gives Theta. G = M: no head shares them, but W has that "    \
             "rank; 0 = W of any rank."},                                                          \
    {WT_RECOVER_ROW("form", WORD, "given", forms), .value = "given|auto",                          \
     .words = wt_recover_form_words, .since = WT_RECOVER_FORMS_SINCE,                              \
     .help = "auto: where the form given (biases, mask, residual connection, norm) is a misfit, "  \
             "others are tried, first those that the residuals suggest."}
/* clang-format on */

#endif
