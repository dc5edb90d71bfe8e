#include "features/learn/primal_pass.h"

#include <float.h>
#include <math.h>

/* Samples begin .. end-1, with their labels in y. */
static wt_status read_slab(wt_primal_solver *run, size_t begin, size_t end, wt_set_rows *out) {
    const wt_primal *primal = run->primal;
    wt_sets part;
    WT_PASS(wt_samples_read(run->context, primal->source, begin, end, &part));
    WT_PASS(wt_set_rows_open(run->context, &primal->features->spec, &part, out));
    size_t outputs = primal->outputs;
    for (size_t i = 0; i < part.samples; i++)
        for (size_t o = 0; o < run->q; o++)
            run->y[i * run->q + o] =
                o == outputs ? 1 : (part.y[i * outputs + o] - primal->shift[o]) / primal->scale[o];
    run->done += (double)part.samples;
    wt_meter_set(&run->meter, run->done);
    return WT_OK;
}

wt_status wt_primal_pass(wt_primal_solver *run, wt_slab_fn body, void *argument) {
    size_t n = run->primal->source->samples;
    for (size_t begin = 0; begin < n; begin += WT_PRIMAL_SLAB) {
        size_t end = n - begin < WT_PRIMAL_SLAB ? n : begin + WT_PRIMAL_SLAB;
        wt_set_rows part;
        WT_PASS(wt_context_check_cancelled(run->context));
        WT_PASS(read_slab(run, begin, end, &part));
        WT_PASS(body(run, &part.rows, argument)); /* features need no side: nothing to free */
    }
    return WT_OK;
}

/* Sums of squares of a candidate v: residuals, and leave-one-out errors by the factor in the system
 * or by eigenvalues. */
typedef struct {
    const double *v;
    bool leave_one_out;
    const wt_primal_spectrum *spectrum;
    double train, loo;
} judging;

/* Sum of squares of `errors` (q), linear in the labels y of the sample, over the outputs: where
 * they are centred, as if the mean had been that of the other samples. */
static double moved_square(const wt_primal_solver *run, const double *y, const double *errors) {
    size_t outputs = run->primal->outputs, n = run->primal->source->samples;
    double sum = 0;
    for (size_t o = 0; o < outputs; o++) {
        double moved = run->q > outputs ? errors[outputs] * wt_centre_moved(y[o], n) : 0;
        sum += pow(errors[o] + moved, 2);
    }
    return sum;
}

/* With c_k = <u_k, phi_i> / sqrt(M) the dual has the eigenvectors c_k / sqrt(e_k): the part of
 * sample i outside their span is 1 - sum_k c_k^2 / e_k. Its left-out error is that of a vanishing
 * lambda, as in the dual by eigenvalues: residual over that part, or, when there is none, dual
 * weight over the diagonal of the pseudo-inverse. */
static double left_out_square(const wt_primal_solver *run, const wt_primal_spectrum *spectrum,
                              const double *c, const double *y, const double *residual) {
    double outside = 1, inverse = 0, norm = wt_features_norm(run->primal->features);
    for (size_t k = spectrum->first; k < run->f; k++) {
        double part = c[k] * c[k] / norm / spectrum->e[k];
        outside -= part;
        inverse += part / (spectrum->e[k] + spectrum->lambda);
    }
    /* The subtraction leaves the rounding of features over that of small eigenvalues. */
    if (outside > sqrt(DBL_EPSILON))
        return moved_square(run, y, residual) / (outside * outside);
    double *alpha = run->weights;
    for (size_t o = 0; o < run->q; o++) {
        alpha[o] = 0;
        for (size_t k = spectrum->first; k < run->f; k++)
            alpha[o] += c[k] * spectrum->moment[k * run->q + o] /
                        (spectrum->e[k] * (spectrum->e[k] + spectrum->lambda));
    }
    return moved_square(run, y, alpha) / (inverse * inverse);
}

static wt_status judge_slab(wt_primal_solver *run, const wt_ridge_rows *rows, void *argument) {
    judging *judge = argument;
    const wt_primal_spectrum *spectrum = judge->spectrum;
    size_t q = run->q;
    WT_PASS(run->system.engine->judge_rows(
        run->context, run->system.state, rows, judge->v, run->fitted,
        judge->leave_one_out && spectrum == NULL ? run->leverages : NULL,
        spectrum != NULL ? spectrum->along : NULL));
    for (size_t i = 0; i < rows->samples; i++) {
        const double *y = run->y + i * q;
        double *error = run->fitted + i * q, square = 0;
        for (size_t o = 0; o < q; o++)
            error[o] = y[o] - error[o];
        for (size_t o = 0; o < run->primal->outputs; o++)
            square += error[o] * error[o];
        judge->train += square;
        if (judge->leave_one_out && spectrum != NULL)
            judge->loo += left_out_square(run, spectrum, spectrum->along + i * run->f, y, error);
        else if (judge->leave_one_out)
            judge->loo += moved_square(run, y, error) / pow(1 - run->leverages[i], 2);
    }
    return WT_OK;
}

static wt_status judge_all(wt_primal_solver *run, judging *work, double *train, double *loo) {
    double numbers = (double)run->primal->source->samples * (double)run->primal->outputs;
    WT_PASS(wt_primal_pass(run, judge_slab, work));
    *train = work->train / numbers;
    *loo = work->leave_one_out ? work->loo / numbers : NAN;
    return WT_OK;
}

wt_status wt_primal_judge(wt_primal_solver *run, const double *v, bool leave_one_out, double *train,
                          double *loo) {
    return judge_all(run, &(judging){.v = v, .leave_one_out = leave_one_out}, train, loo);
}

wt_status wt_primal_judge_spectrum(wt_primal_solver *run, const double *v,
                                   const wt_primal_spectrum *spectrum, double *train, double *loo) {
    return judge_all(
        run, &(judging){.v = v, .leave_one_out = spectrum->along != NULL, .spectrum = spectrum},
        train, loo);
}
