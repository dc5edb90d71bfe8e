/* The engine of recoveries: attention layers from their examples, by damped Gauss-Newton steps in
 * Theta with W eliminated (layer/learn/descent.h). Attended tokens, their basis, derivatives and
 * the vectors of conjugate gradients stay on the device. Starts, damping, which steps are taken and
 * what is concluded is decided by the code over it.
 *
 * Theta crosses the border packed as layer/learn/projection.h has it, (e, m d), with V of shared
 * values behind it; unknowns of a step are those numbers, or, where a rank is given, as
 * layer/learn/factors.h lays factors and V out. All of it is in the host's memory. */
#ifndef WT_DEVICE_RECOVER_H
#define WT_DEVICE_RECOVER_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of sequences, as layer/model/attention.h explains them, and the layer that is to be fitted.
 * Borrowed until the end of the fit. */
typedef struct wt_recover_problem {
    size_t sequences, rows, keys;        /* R and L: of all sequences */
    size_t dim, asked, outputs, heads;   /* d, e = d or d + 1 (biases), p, m */
    size_t length;                       /* of every sequence, where all ask; 0 = as below */
    const size_t *key_start, *row_start; /* (sequences + 1) */
    const size_t *place;                 /* (R); NULL = the last tokens ask */
    const double *times;                 /* (L); NULL = every key once */
    const double *key, *query, *y;       /* (L, d), (R, e), (R, p) */
    double norm;                         /* |y| */
    bool causal;
    size_t rank;           /* of every Theta; 0 = any */
    size_t groups, values; /* heads share keys, and values of so many columns; 0 = none do */
    size_t products;       /* a matrix may be formed where it costs less than so many; 0 = none */
    bool still;            /* it is evaluated alone: no steps will be asked for */
    const double *signs; /* (R, p), random: z_r below; read by begin alone, where there is a rank */
} wt_recover_problem;

typedef struct wt_recover_fit wt_recover_fit; /* the engine's own */

/* What the preconditioner is made of, where the fit stands (layer/learn/blocks.h). */
typedef struct wt_recover_sums {
    double *known;  /* (m, d, d): K_i = mean_r (C_ri W_i z_r)(C_ri W_i z_r)^T */
    double *valued; /* (groups, d, d): sum_i H_i^T H_i over the heads of a group; V alone */
    double *shared; /* (groups, v, v): mean of O_i O_i^T over them; V alone */
} wt_recover_sums;

/* Symmetric matrices: their eigenvectors, one a row, and eigenvalues. */
typedef struct wt_recover_eigen {
    size_t count, n;
    double *vectors, *values; /* (count, n, n), (count, n) */
} wt_recover_eigen;

/* Of factors of one shape: block i is the Kronecker product of matrix i of tokens, or the only one,
 * and matrix i of columns. */
typedef struct wt_recover_block {
    wt_recover_eigen tokens, columns;
} wt_recover_block;

/* The preconditioner: `size` times these, for A of every head, B and V of every group. */
typedef struct wt_recover_blocks {
    wt_recover_block a, b, v;
    double size;
} wt_recover_blocks;

/* One linear system: (J^T P J + damping I) step = J^T E, by conjugate gradients with the
 * preconditioner M = blocks + damping I where there is one. */
typedef struct wt_recover_step {
    double damping, tolerance; /* of |M^-1/2 J^T E| that may be left */
    size_t most;               /* iterations */
    /* is told of every iteration; NULL = nobody */
    void (*tell)(void *user, size_t iteration);
    void *user;
    double *step;             /* out: (unknowns) */
    double *lengths, *ratios; /* out: (most), of the conjugate gradients: their Lanczos matrix */
    size_t iterations;        /* out: 0 where the matrix was formed */
    bool solved;              /* out: false where the matrix is not definite */
} wt_recover_step;

/* Calls on one fit come one at a time. Numbers that are not finite are no failure: the error is
 * infinite, or there is no step. WT_DATA says that they left the range of a product: there is no
 * step from there. */
typedef struct wt_recover_engine {
    wt_status (*begin)(wt_context *context, wt_device *device, const wt_recover_problem *problem,
                       wt_recover_fit **out);
    void (*end)(wt_recover_fit *fit); /* accepts NULL */
    /* The relative error |E| / |Y| at a Theta. */
    wt_status (*evaluate)(wt_context *context, wt_recover_fit *fit, const double *theta,
                          double *error);
    /* The Theta evaluated last is where the fit stands from now on. */
    void (*accept)(wt_recover_fit *fit);
    /* Gradient and derivatives where the fit stands; factors are those of that Theta, NULL where
     * any rank will do. *scale: the mean of the diagonal of J^T P J, or what the vector of signs
     * says of it. */
    wt_status (*linearise)(wt_context *context, wt_recover_fit *fit, const double *factors,
                           const double *signs, double *scale);
    /* Where a rank is given: sums at the factors of the last linearise, and the preconditioner of
     * the systems from now on, which is borrowed until the next. */
    wt_status (*sum)(wt_context *context, wt_recover_fit *fit, const wt_recover_sums *out);
    wt_status (*precondition)(wt_context *context, wt_recover_fit *fit,
                              const wt_recover_blocks *blocks);
    wt_status (*solve)(wt_context *context, wt_recover_fit *fit, wt_recover_step *step);
    /* product = J^T P J direction, for tests; J^T E of the last linear system. */
    wt_status (*multiply)(wt_context *context, wt_recover_fit *fit, const double *direction,
                          double *product);
    wt_status (*gradient)(wt_context *context, wt_recover_fit *fit, double *out);
    /* Products with J^T P J so far. */
    size_t (*products)(const wt_recover_fit *fit);
    /* Where the fit stands: W (m d and a row of biases, p). */
    wt_status (*read)(wt_context *context, wt_recover_fit *fit, double *w);
    /* Means over rows of sum_b A_b^2 and of A at the token itself, (m) each. */
    wt_status (*sharpness)(wt_context *context, wt_recover_fit *fit, double *square, double *own);
} wt_recover_engine;

#ifdef __cplusplus
}
#endif
#endif
