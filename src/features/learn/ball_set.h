/* The set of the theorem, with blocks v_1 .. v_M of equal length and r = sqrt(K2 / M):
 *
 *     { v : sum_m |v_m| <= K1,  sum_m |v_m|^2 <= r^2 }
 *
 * Both questions about it (the nearest point, the furthest in a direction) depend on the block
 * norms a_m alone, and both are answered exactly, by sorting them. */
#ifndef WT_FEATURES_LEARN_BALL_SET_H
#define WT_FEATURES_LEARN_BALL_SET_H

#include <stddef.h>

typedef struct wt_ball {
    double k1, radius; /* above 0; infinite = no limit */
    size_t heads;      /* M, 1 or more */
} wt_ball;

wt_ball wt_ball_of(double k1, double k2, size_t heads);

/* Moves v (M blocks of `block` numbers) to the nearest point of the set. room: 2 M numbers. */
void wt_ball_project(const wt_ball *ball, size_t block, double *v, double *room);

/* max <g, v> over the set. Rounding apart it is never too small: it is the value of
 * min_t K1 t + r |max(a - t, 0)|, t >= 0, at the minimiser. room: 2 M numbers. */
double wt_ball_support(const wt_ball *ball, size_t block, const double *g, double *room);

/* norms (M): the Euclidean norms of the blocks. */
void wt_block_norms(size_t heads, size_t block, const double *v, double *norms);

#endif
