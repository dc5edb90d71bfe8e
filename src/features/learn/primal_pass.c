#include "features/learn/primal_pass.h"

#include <math.h>

wt_status wt_primal_open(wt_primal_solver *run, const wt_primal *primal, bool leave_one_out) {
    wt_context *context = run->context;
    wt_ridge_model view = wt_ridge_model_of(&primal->features->spec, primal->features);
    run->arena = wt_arena_start(context, "a slab of features");
    run->primal = primal;
    run->source = primal->source;
    run->f = run->system.n = wt_features_count(primal->features);
    run->q = primal->outputs + primal->centred;
    WT_PASS(wt_ridge_engine_of(context, &run->system.engine));
    WT_PASS(WT_NEW(context, &run->system.diagonal, run->f, "the normal matrix"));
    WT_PASS(run->system.engine->open_normal(context, wt_context_get_device(context), &view,
                                            WT_PRIMAL_SLAB, run->q, leave_one_out,
                                            &run->system.state));
    run->moment = WT_TAKE(&run->arena, double, run->f, run->q);
    run->y = WT_TAKE(&run->arena, double, WT_PRIMAL_SLAB, run->q);
    run->fitted = WT_TAKE(&run->arena, double, WT_PRIMAL_SLAB, run->q);
    run->leverages = WT_TAKE(&run->arena, double, WT_PRIMAL_SLAB);
    run->weights = WT_TAKE(&run->arena, double, run->q);
    run->train = WT_TAKE(&run->arena, double, run->q);
    run->loo = WT_TAKE(&run->arena, double, run->q);
    return run->arena.status;
}

void wt_primal_close(wt_primal_solver *run) {
    wt_system_free(&run->system);
    wt_arena_free(&run->arena);
}

/* Samples begin .. end-1, with their labels in y. */
static wt_status read_slab(wt_primal_solver *run, size_t begin, size_t end, wt_set_rows *out) {
    const wt_primal *primal = run->primal;
    wt_sets part;
    WT_PASS(wt_samples_read(run->context, run->source, begin, end, &part));
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

wt_status wt_primal_pass(wt_primal_solver *run, size_t begin, wt_slab_fn body, void *argument) {
    size_t n = run->source->samples;
    for (; begin < n; begin += WT_PRIMAL_SLAB) {
        size_t end = n - begin < WT_PRIMAL_SLAB ? n : begin + WT_PRIMAL_SLAB;
        wt_set_rows part;
        WT_PASS(wt_context_check_cancelled(run->context));
        WT_PASS(read_slab(run, begin, end, &part));
        WT_PASS(body(run, &part.rows, argument)); /* features need no side: nothing to free */
    }
    return WT_OK;
}

static wt_status add_moments(wt_primal_solver *run, const wt_ridge_rows *rows, void *argument) {
    (void)argument;
    return run->system.engine->add_rows(run->context, run->system.state, rows, run->y);
}

wt_status wt_primal_collect(wt_primal_solver *run, size_t begin) {
    wt_meter_enter(&run->meter, "features");
    run->system.order = 0; /* no factor at hand */
    WT_PASS(wt_primal_pass(run, begin, add_moments, NULL));
    return run->system.engine->end_rows(run->context, run->system.state, run->moment,
                                        run->system.diagonal);
}

wt_status wt_primal_freedom(wt_primal_solver *run, double lambda, double *out) {
    double *inverse = NULL, trace = 0;
    wt_status status;
    WT_TRY(WT_NEW(run->context, &inverse, run->f, "degrees of freedom"));
    WT_TRY(wt_system_inverse_diagonals(run->context, &run->system, &run->f, 1, inverse));
    for (size_t i = 0; i < run->f; i++)
        trace += inverse[i];
    *out = (double)run->f - lambda * trace;
done:
    wt_release(inverse);
    return status;
}

/* A candidate v that is judged. */
typedef struct {
    const double *v;
    bool leave_one_out;
} judging;

double wt_primal_moved(const wt_primal_solver *run, const double *y, const double *errors,
                       size_t o) {
    size_t outputs = run->primal->outputs;
    return errors[o] +
           (run->q > outputs ? errors[outputs] * wt_centre_moved(y[o], run->source->samples) : 0);
}

static wt_status judge_slab(wt_primal_solver *run, const wt_ridge_rows *rows, void *argument) {
    const judging *judge = argument;
    size_t q = run->q;
    WT_PASS(run->system.engine->judge_rows(run->context, run->system.state, rows, judge->v,
                                           run->fitted,
                                           judge->leave_one_out ? run->leverages : NULL, NULL));
    for (size_t i = 0; i < rows->samples; i++) {
        const double *y = run->y + i * q;
        double *error = run->fitted + i * q;
        for (size_t o = 0; o < q; o++)
            error[o] = y[o] - error[o];
        for (size_t o = 0; o < run->primal->outputs; o++) {
            run->train[o] += error[o] * error[o];
            if (judge->leave_one_out)
                run->loo[o] += pow(wt_primal_moved(run, y, error, o) / (1 - run->leverages[i]), 2);
        }
    }
    return WT_OK;
}

wt_status wt_primal_judge_by(wt_primal_solver *run, bool leave_one_out, wt_slab_fn body,
                             void *argument) {
    for (size_t o = 0; o < run->primal->outputs; o++) {
        run->train[o] = 0;
        run->loo[o] = leave_one_out ? 0 : NAN;
    }
    WT_PASS(wt_primal_pass(run, 0, body, argument));
    for (size_t o = 0; o < run->primal->outputs; o++) {
        run->train[o] /= (double)run->source->samples;
        run->loo[o] /= (double)run->source->samples;
    }
    return WT_OK;
}

wt_status wt_primal_judge(wt_primal_solver *run, const double *v, bool leave_one_out) {
    return wt_primal_judge_by(run, leave_one_out, judge_slab, &(judging){v, leave_one_out});
}
