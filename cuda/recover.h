/* Recoveries on a GPU, in double. Sequences are padded to the longest: of S sequences each has Q
 * rows and K keys, and what is padding is 0, so that every product over sequences is one batch of
 * equal shapes. Attention weights and scores lie (S, Q, m, K): the keys of all heads are one side
 * of a product.
 *
 * Matrices are row-major. P = I - N (N^T N)^-1 N^T by the Cholesky factor of N^T N, N the columns
 * that W (or O) is multiplied with; Q of the host's QR is never formed. */
#ifndef WATTLE_CUDA_RECOVER_H
#define WATTLE_CUDA_RECOVER_H

#include "device/recover.h"
#include "lane.h"

/* What is known at one Theta. */
struct recover_place {
    buffer<double> theta;   /* (e, m d), and V (G, d, v) behind it */
    buffer<double> weights; /* (S, Q, m, K) */
    buffer<double> columns; /* N (R, n) */
    buffer<double> factor;  /* (n, n), column-major, lower */
    buffer<double> o;       /* (n, p) */
    buffer<double> w;       /* (c, p), where values are shared; else o is W */
    buffer<double> e;       /* (R, p) */
};

/* Eigenvectors, one a row, and eigenvalues of so many matrices of the preconditioner. */
struct recover_eigen {
    size_t count = 0, n = 0;
    buffer<double> vectors, values; /* (count, n, n), (count, n) */
};

/* Tokens times the columns of a factor, all its blocks side by side, and what moves with it. Block
 * b lies (dim, columns) in a vector of unknowns, at
 * base + b / each * outer + b % each * inner. */
struct recover_side {
    size_t tokens = 0, dim = 0, blocks = 0, columns = 0;
    size_t base = 0, each = 1, outer = 0, inner = 0;
    const double *token = NULL; /* (tokens, dim) */
    buffer<double> factor;      /* (dim, blocks columns) */
    buffer<double> now, move;   /* (tokens, blocks columns) */
    recover_eigen left, right;  /* of tokens, one for all blocks or one each, and of columns */
    size_t width() const {
        return blocks * columns;
    }
};

struct wt_recover_fit {
    cuda_lane *lane = NULL;
    size_t S = 0, Q = 0, K = 0, R = 0, L = 0; /* R = S Q, L = S K */
    size_t d = 0, e = 0, p = 0, m = 0;
    size_t rank = 0, groups = 0, values = 0; /* as in the problem */
    size_t n = 0, c = 0;                     /* columns of N, rows of W */
    size_t live = 0;                         /* rows that are no padding */
    size_t numbers = 0, side = 0;            /* of theta, unknowns of a step */
    double norm = 1;
    size_t products = 0;
    double product_flops = 0, place_flops = 0;
    buffer<double> key, query, y, times; /* (L, d), (R, e), (R, p), (L) */
    buffer<int> seen, own;               /* (R): keys a row attends to, the place of its token */
    recover_place places[2];
    recover_place *now = places, *trial = places;
    buffer<double> spread; /* (R, d), and (L, G v): of an evaluation */
    buffer<double> shared; /* X V */
    buffer<double> span;   /* (n, p) */
    /* Of steps: */
    buffer<double> value;  /* (S, m, K, p): X W_i */
    buffer<double> scores; /* (S, Q, m, K) */
    buffer<double> out;    /* (R, p) */
    buffer<double> inner;  /* (R, m v) */
    recover_side asked, known, valued;
    buffer<double> gradient, residual, direction, step, product; /* (side) */
    /* Of the preconditioner, where a rank is given: */
    buffer<double> signs;  /* (R, p) */
    buffer<double> turned; /* as the largest factor */
    buffer<double> solved; /* (side) */
    double size = 0;       /* of the blocks; 0 = none were given */
};

/* C (m, n) = alpha op(A) op(B) + beta C. */
wt_status rows_gemm(cuda_lane *lane, bool a_turned, bool b_turned, size_t m, size_t n, size_t k,
                    double alpha, const double *a, size_t lda, const double *b, size_t ldb,
                    double beta, double *c, size_t ldc);
/* The same for so many, whose matrices are so far apart. */
wt_status rows_batch(cuda_lane *lane, bool a_turned, bool b_turned, size_t m, size_t n, size_t k,
                     const double *a, size_t lda, size_t a_apart, const double *b, size_t ldb,
                     size_t b_apart, double beta, double *c, size_t ldc, size_t c_apart,
                     size_t count);

/* Everything at the Theta in trial->theta; *error is infinite where nothing can be computed. */
wt_status recover_evaluate(wt_recover_fit *fit, double *error);
/* B (n, p) in `span` to (N^T N)^-1 B. */
wt_status recover_solve_columns(wt_recover_fit *fit, const recover_place *at);
/* The group of a head: whose keys and values it has. */
size_t recover_group(const wt_recover_fit *fit, size_t head);

/* Loads what products at `now` need; factors (side) on the GPU, where there is a rank. */
wt_status recover_load(wt_recover_fit *fit, const double *factors);
/* to = J^T out. */
wt_status recover_back(wt_recover_fit *fit, double *to);
/* to = J^T P J from; vectors on the GPU. */
wt_status recover_multiply(wt_recover_fit *fit, const double *from, double *to);

/* The sums of device/recover.h at `now`, into the host's memory. */
wt_status recover_sum(wt_recover_fit *fit, const wt_recover_sums *out);
/* Linear systems have these blocks from now on. */
wt_status recover_precondition(wt_recover_fit *fit, const wt_recover_blocks *blocks);
/* to = (blocks + shift I)^-1 from; vectors on the GPU. */
wt_status recover_solve_blocks(wt_recover_fit *fit, double shift, const double *from, double *to);

/* scores to weights, in place. */
wt_status recover_softmax(wt_recover_fit *fit, double *scores);
/* scores to A .* (score - mean), the derivative of the softmax along them. */
wt_status recover_turn(wt_recover_fit *fit, const double *weights, double *scores);
/* Column of N for biases: 1 in rows that are no padding. */
wt_status recover_ones(wt_recover_fit *fit, double *columns);
/* Rows of sequences that lie one after the other, padded to `most` a sequence. */
wt_status recover_pad(cuda_lane *lane, size_t sequences, size_t most, size_t width,
                      const size_t *start, const double *from, double *to);
/* Blocks of a vector of unknowns to the factor of a side, or back. */
wt_status recover_put(cuda_lane *lane, recover_side *side, const double *unknowns);
wt_status recover_take(cuda_lane *lane, const recover_side *side, double *unknowns);
/* The factor of a side, each block in terms of its eigenvectors, over size times products of
 * eigenvalues + shift. */
wt_status recover_divide(cuda_lane *lane, recover_side *side, double size, double shift);
/* diagonal += shift of a matrix of order n. */
wt_status recover_shift(cuda_lane *lane, size_t n, double shift, double *a);
/* The least and the largest of the diagonal, and its sum. */
wt_status recover_diagonal(cuda_lane *lane, size_t n, const double *a, double *least, double *most,
                           double *sum);
/* d = r + ratio d. */
wt_status recover_turn_direction(cuda_lane *lane, size_t count, double ratio, const double *r,
                                 double *d);
wt_status recover_sharpness(wt_recover_fit *fit, double *square, double *own);

#endif
