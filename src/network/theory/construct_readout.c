/* A trapezoid is four ReLU: with a = gamma / 4,
 *     trapezoid(y) = (relu(y-m+3a) - relu(y-m+a) - relu(y-m-a) + relu(y-m-3a)) / 2a
 * is 1 where |y - m| <= a and 0 where |y - m| >= 3a. Centres m lie gamma apart, so that exactly one
 * trapezoid of a head within a of its ideal answer is 1 and the others are 0. A case of the
 * function is met where the trapezoids of all heads are 1: relu(z) - relu(z - 1) with
 * z = their sum - (heads - 1) is then 1, else 0. The answer is the sum of f over the cases met. */
#include "network/theory/construct_readout.h"

enum { RELUS = 4 };

static size_t cases(const wt_construction *of) {
    return of->heads == 1 ? of->function->bits + 1 : (size_t)1 << of->function->bits;
}

void wt_readout_widths(wt_construction *construction) {
    construction->width1 = RELUS * construction->heads * cases(construction);
    construction->width2 = 2 * cases(construction);
}

/* A row of the truth table that the case stands for: with one head, that many ones. */
static size_t row_of(const wt_construction *of, size_t item) {
    return of->heads == 1 ? ((size_t)1 << item) - 1 : item;
}

void wt_readout_fill(wt_construction *construction) {
    static const double corner[RELUS] = {3, 1, -1, -3}, sign[RELUS] = {1, -1, -1, 1};
    double a = construction->gap / 4;
    size_t heads = construction->heads, first = construction->width1, second = construction->width2;
    for (size_t item = 0; item < cases(construction); item++) {
        size_t row = row_of(construction, item);
        for (size_t h = 0; h < heads; h++)
            for (size_t r = 0; r < RELUS; r++) {
                size_t unit = (item * heads + h) * RELUS + r;
                construction->w1[h * first + unit] = 1;
                construction->b1[unit] =
                    corner[r] * a - wt_construction_ideal(construction, h, row);
                construction->w2[unit * second + 2 * item] = sign[r] / (2 * a);
                construction->w2[unit * second + 2 * item + 1] = sign[r] / (2 * a);
            }
        construction->b2[2 * item] = 1 - (double)heads;
        construction->b2[2 * item + 1] = -(double)heads;
        construction->w3[2 * item] = construction->function->value[row];
        construction->w3[2 * item + 1] = -(double)construction->function->value[row];
    }
}
