/* Features of each output on its own: what a term of the scores, a factor of the values or a gate
 * would add with W as fitted. */
#include <math.h>

#include "layer/learn/misfit_features.h"

/* Terms that may be missing in the scores of a head: with W as fitted, a term g_b changes the
 * outputs by W_i^T sum_b A_ib (g_b - mean of g) x_b. */
enum { OWN_TERMS = 17, TERMS = WT_FEATURE_TERMS };
static double term(const wt_feature_row *row, size_t t, size_t b, double score) {
    const double *x = wt_feature_key(row, b);
    double apart = fabs((double)b - (double)row->at);
    switch (t) {
    case 0:
        return wt_feature_size(row, x);
    case 1:
        return wt_feature_size(row, x) * score;
    case 2:
        return wt_feature_size(row, row->x) * score;
    case 3:
        return fabs(score) * score;
    case 4:
        return (double)b / (double)row->k;
    case 5:
        return apart / (double)row->k;
    case 6:
        return b > row->at;
    case 7:
        return b == row->at;
    case 8:
        return apart == 1;
    case 9:
        return b == 0;
    case 10:
        return apart / (double)row->k * score;
    case 11:
        return wt_vector_dot(row->d, row->mean, x) / (row->unit * row->unit);
    case 12:
        return score * score;
    case 13:
        return wt_feature_center(row, x) * score;
    case 14:
        return wt_feature_center(row, row->x) * score;
    case 15:
        return pow(wt_feature_center(row, x), 2) * score;
    case 16:
        return pow(wt_feature_center(row, row->x), 2) * score;
    default:
        return wt_vector_dot(row->d, wt_feature_direction(row, t - OWN_TERMS), x);
    }
}
/* z (p, m count) at head i and number t: W_i^T sum_b weight_b x_b, weight in row->spare. */
static void add_term(const wt_feature_row *row, size_t i, size_t t, size_t count, double *z) {
    size_t d = row->d, p = row->p, columns = row->m * count;
    double *moved = row->spare + row->k; /* (d) */
    wt_feature_mix(row, row->spare, moved);
    for (size_t j = 0; j < d; j++)
        for (size_t c = 0; c < p; c++)
            z[c * columns + i * count + t] += moved[j] * row->w[(i * d + j) * p + c];
}
void wt_feature_scores(const wt_feature_row *row, double *z) {
    size_t k = row->k;
    memset(z, 0, row->p * row->m * TERMS * sizeof *z);
    for (size_t i = 0; i < row->m; i++)
        for (size_t t = 0; t < TERMS; t++) {
            const double *a = row->a + i * k;
            double mean = 0;
            for (size_t b = 0; b < k; b++) {
                row->spare[b] = term(row, t, b, row->score[i * k + b]);
                mean += a[b] * row->spare[b];
            }
            for (size_t b = 0; b < k; b++)
                row->spare[b] = a[b] * (row->spare[b] - mean);
            add_term(row, i, t, TERMS, z);
        }
}

/* Factors that may be missing before the values of a head, with W as fitted. */
enum { FACTORS = WT_FEATURE_FACTORS };
static double factor(const wt_feature_row *row, size_t t, size_t b) {
    const double *x = t % 2 == 0 ? wt_feature_key(row, b) : row->x;
    double place = (double)b / (double)row->k, own = (double)row->at / (double)row->k;
    switch (t / 2) {
    case 0:
        return wt_feature_size(row, x);
    case 1:
        return wt_feature_center(row, x);
    case 2:
        return pow(wt_feature_center(row, x), 2);
    default:
        return t % 2 == 0 ? place : own;
    }
}
void wt_feature_factors(const wt_feature_row *row, double *z) {
    memset(z, 0, row->p * row->m * FACTORS * sizeof *z);
    for (size_t i = 0; i < row->m; i++)
        for (size_t t = 0; t < FACTORS; t++) {
            for (size_t b = 0; b < row->k; b++)
                row->spare[b] = row->a[i * row->k + b] * factor(row, t, b);
            add_term(row, i, t, FACTORS, z);
        }
}

/* Each output times the token along some directions, on its own. */
void wt_feature_gates(const wt_feature_row *row, double *z) {
    size_t ways = wt_feature_gated(row->d), gated = wt_feature_gated(row->p);
    memset(z, 0, row->p * ways * gated * sizeof *z);
    for (size_t c = 0; c < gated; c++)
        for (size_t j = 0; j < ways; j++)
            z[c * ways * gated + c * ways + j] =
                row->f[c] * (row->d <= WT_FEATURE_GATES
                                 ? row->x[j] / row->unit
                                 : wt_vector_dot(row->d, wt_feature_direction(row, j), row->x));
}
