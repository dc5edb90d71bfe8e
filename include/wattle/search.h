/* Which bits explain the labels? Every choice of s positions that agrees with the samples, found
 * exactly: what information allows, beside what a trained network finds.
 *
 *     wt_search_result found = WT_SIZED(wt_search_result);
 *     wt_bits_search(context, bits, function, 1, &found);
 *     if (found.found == 1 && found.complete)
 *         the answer is found.position[0] .. found.position[s - 1];
 *     wt_search_result_free(&found); */
#ifndef WATTLE_SEARCH_H
#define WATTLE_SEARCH_H

#include "wattle/boolean.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Choices of positions for the bits of a function. Bits that may change places without changing
 * the function (all of them where it is symmetric) hold increasing positions, so that a set of
 * positions is listed once; else the order counts: position i is bit i of the function. */
typedef struct wt_search_result {
    size_t size;
    size_t bits;      /* s */
    size_t errors;    /* samples that each choice gets wrong; 0 from wt_bits_search */
    size_t found;     /* choices kept */
    bool complete;    /* there are no others; false when there were more than asked for */
    uint64_t looked;  /* positions tried for a bit, over the whole search */
    size_t *position; /* (found, s) */
} wt_search_result;

/* The choices that are right on every sample, max_found >= 1 of them at most: with 2, a result of
 * one says that the samples leave one answer. None found is WT_OK too. */
WT_API wt_status wt_bits_search(wt_context *context, const wt_bits *bits,
                                const wt_boolean *function, size_t max_found,
                                wt_search_result *out);

/* The choices with the fewest errors, for labels with noise. */
WT_API wt_status wt_bits_search_best(wt_context *context, const wt_bits *bits,
                                     const wt_boolean *function, size_t max_found,
                                     wt_search_result *out);

/* Frees what the result holds, not the struct itself. */
WT_API void wt_search_result_free(wt_search_result *result);

/* Parities of any number of bits, by elimination over GF(2): the labels are the sum of the columns
 * of a set of positions for 2^dimension sets, or for none. */
typedef struct wt_parity_result {
    size_t size;
    bool consistent;  /* some parity is right on every sample */
    size_t rank;      /* of the samples' bits */
    size_t dimension; /* T - rank: of the space of sets that make no difference */
    /* Of the sets that are right, the fewest positions and how many sets have so few; found only
     * where the dimension is at most WT_PARITY_MAX_DIMENSION. */
    bool least_known;
    size_t least;
    size_t least_count;
    uint8_t *member; /* (T) 1 where a position is in the first of those sets; where least is not
                      * known, in one that is right. All 0 where there is none */
} wt_parity_result;

#define WT_PARITY_MAX_DIMENSION 20

WT_API wt_status wt_bits_solve_parity(wt_context *context, const wt_bits *bits,
                                      wt_parity_result *out);
WT_API void wt_parity_result_free(wt_parity_result *result);

#ifdef __cplusplus
}
#endif
#endif
