/* Normal matrices, from slabs of features. */
#include <string.h>

#include "system.h"

/* Column of each feature in blocks of model->block units, for features in blocks of ours. */
static void find_places(const wt_ridge_model *model, size_t *place) {
    size_t step = mpi_units_of(model);
    for (size_t u = 0; u < model->units; u++) {
        size_t ours = u / step * step, left = model->units - ours;
        size_t theirs = u / model->block * model->block, rest = model->units - theirs;
        size_t count = left < step ? left : step, many = rest < model->block ? rest : model->block;
        for (size_t j = 0; j < model->width; j++)
            place[ours * model->width + j * count + (u - ours)] =
                theirs * model->width + j * many + (u - theirs);
    }
}

static wt_status start_normal(wt_context *context, mpi_call *call, wt_ridge_system *system) {
    mpi_room *room = &system->room;
    MPI_PASS(mpi_model_spread(room, call, &system->model));
    size_t step = mpi_units_of(&system->model), block = step * system->model.width;
    size_t f = system->n = system->model.units * system->model.width;
    system->columns = call->order.columns;
    mpi_matrix_take(room, f, f, block, block, "the normal matrix", &system->a);
    mpi_matrix_take(room, f, call->order.number, block, MPI_BLOCK, "a slab of features",
                    &system->slab);
    system->diagonal = MPI_TAKE(room, double, f, "the normal matrix");
    system->moment = MPI_TAKE(room, double, f * system->columns, "the normal matrix");
    system->place = MPI_TAKE(room, size_t, f, "the normal matrix");
    MPI_PASS(mpi_agree(context, room->status));
    find_places(&system->model, system->place);
    return WT_OK;
}

wt_status mpi_open_normal(wt_context *context, mpi_call *call) {
    wt_ridge_system *system;
    wt_status status = mpi_agree(context, mpi_system_open(context, &system));
    if (status == WT_OK)
        status = start_normal(context, call, system);
    return mpi_system_keep_if(context, status, system, call);
}

/* Features of the samples that came, over the grid. */
static wt_status fill_slab(wt_context *context, mpi_call *call, wt_ridge_system *system,
                           mpi_room *room) {
    mpi_rows rows;
    mpi_matrix_narrow(&system->slab, call->order.rows.samples);
    MPI_PASS(mpi_rows_spread(room, &call->order.rows, call->rows, &system->slab.column, 1, &rows));
    return mpi_agree(context, mpi_features_make(context, &system->model, &rows, 0,
                                                system->model.units, &system->slab));
}

wt_status mpi_add_rows(wt_context *context, mpi_call *call) {
    wt_ridge_system *system = mpi_system_at(call->order.slot);
    mpi_room room = mpi_room_start(context);
    mpi_matrix *slab = &system->slab;
    size_t q = system->columns;
    double *y = NULL, *part;
    wt_status status = fill_slab(context, call, system, &room);
    if (status == WT_OK)
        status =
            mpi_numbers_spread(&room, call->order.rows.samples, q, call->in, &slab->column, &y);
    part = MPI_TAKE(&room, double, slab->local_rows *q, "the normal matrix");
    if (status == WT_OK)
        status = mpi_agree(context, room.status);
    if (status == WT_OK && system->ended)
        mpi_system_unfactor(system);
    if (status == WT_OK) {
        system->ended = false;
        const int one = 1, f = (int)system->n, samples = (int)slab->columns;
        const double scale = 1 / system->model.norm, beta = 1;
        pdsyrk_("U", "N", &f, &samples, &scale, slab->data, &one, &one, slab->about, &beta,
                system->a.data, &one, &one, system->a.about);
        mpi_multiply("NT", q, slab->local_rows, slab->local_columns, scale, y, q, slab->data,
                     slab->local_rows, 0, part, q);
        for (size_t i = 0; i < slab->local_rows; i++)
            for (size_t c = 0; c < q; c++)
                system->moment[system->place[mpi_deal_index(&slab->row, i)] * q + c] +=
                    part[i * q + c];
    }
    mpi_room_free(&room);
    return status;
}

wt_status mpi_end_rows(wt_context *context, mpi_call *call) {
    wt_ridge_system *system = mpi_system_at(call->order.slot);
    (void)context;
    mpi_sum(system->moment, system->n * system->columns);
    mpi_system_keep(system);
    system->ended = true;
    if (call->out == NULL) { /* rank 0 has the sum: what comes is added to it */
        memset(system->moment, 0, system->n * system->columns * sizeof *system->moment);
        return WT_OK;
    }
    memcpy(call->out, system->moment, system->n * system->columns * sizeof *call->out);
    for (size_t i = 0; i < system->n; i++)
        call->second[system->place[i]] = system->diagonal[i];
    return WT_OK;
}

/* Along the eigenvectors: (samples, f), some samples at a time. */
static wt_status judge_along(wt_ridge_system *system, mpi_room *room, double *out) {
    const int one = 1, f = (int)system->n, samples = (int)system->slab.columns;
    const double unit = 1, zero = 0;
    mpi_matrix along;
    mpi_matrix_take(room, system->n, system->slab.columns, system->a.row.block, MPI_BLOCK,
                    "a slab of features", &along);
    double *lines = MPI_TAKE(room, double, MPI_BLOCK * system->n, "a slab of features");
    MPI_PASS(mpi_agree(room->context, room->status));
    pdgemm_("T", "N", &f, &samples, &f, &unit, system->u.data, &one, &one, system->u.about,
            system->slab.data, &one, &one, system->slab.about, &zero, along.data, &one, &one,
            along.about);
    for (size_t begin = 0; begin < along.columns; begin += MPI_BLOCK) {
        size_t left = along.columns - begin, count = left < MPI_BLOCK ? left : MPI_BLOCK;
        memset(lines, 0, count * system->n * sizeof *lines);
        for (size_t j = 0; j < along.local_columns; j++) {
            size_t s = mpi_deal_index(&along.column, j);
            for (size_t i = 0; s >= begin && s < begin + count && i < along.local_rows; i++)
                lines[(s - begin) * system->n + mpi_deal_index(&along.row, i)] =
                    along.data[j * along.local_rows + i];
        }
        mpi_sum(lines, count * system->n);
        if (out != NULL)
            memcpy(out + begin * system->n, lines, count * system->n * sizeof *out);
    }
    return WT_OK;
}

/* |L^-1 phi_i|^2 / norm; spends the slab. */
static void judge_leverages(wt_ridge_system *system, double *found) {
    mpi_matrix *slab = &system->slab;
    const int one = 1, f = (int)system->n, samples = (int)slab->columns;
    const double unit = 1;
    mpi_system_restore(system);
    pdtrsm_("L", "L", "N", "N", &f, &samples, &unit, system->a.data, &one, &one, system->a.about,
            slab->data, &one, &one, slab->about);
    for (size_t j = 0; j < slab->local_columns; j++) {
        const double *x = slab->data + j * slab->local_rows;
        double sum = 0;
        for (size_t i = 0; i < slab->local_rows; i++)
            sum += x[i] * x[i];
        found[mpi_deal_index(&slab->column, j)] = sum / system->model.norm;
    }
    mpi_sum(found, slab->columns);
}

/* fitted = Phi v: of this rank's features first, then the sum. */
static void judge_fitted(wt_ridge_system *system, const double *v, double *mine, double *some,
                         double *fitted) {
    const mpi_matrix *slab = &system->slab;
    size_t q = system->columns;
    for (size_t i = 0; i < slab->local_rows; i++)
        memcpy(mine + i * q, v + system->place[mpi_deal_index(&slab->row, i)] * q,
               q * sizeof *mine);
    if (slab->local_rows > 0)
        mpi_multiply("NN", q, slab->local_columns, slab->local_rows, 1, mine, q, slab->data,
                     slab->local_rows, 0, some, q);
    for (size_t j = 0; j < slab->local_columns; j++)
        memcpy(fitted + mpi_deal_index(&slab->column, j) * q, some + j * q, q * sizeof *fitted);
    mpi_sum(fitted, slab->columns * q);
}

wt_status mpi_judge(wt_context *context, mpi_call *call) {
    wt_ridge_system *system = mpi_system_at(call->order.slot);
    mpi_room room = mpi_room_start(context);
    size_t f = system->n, q = system->columns, samples = call->order.rows.samples;
    wt_status status = fill_slab(context, call, system, &room);
    double *v = MPI_TAKE(&room, double, f *q, "value vectors");
    double *mine = MPI_TAKE(&room, double, system->slab.local_rows *q, "value vectors");
    double *some = MPI_TAKE(&room, double, system->slab.local_columns *q, "predictions");
    double *fitted = MPI_TAKE(&room, double, samples *q, "predictions");
    double *found = MPI_TAKE(&room, double, samples, "predictions");
    if (status == WT_OK)
        status = mpi_agree(context, room.status);
    if (status != WT_OK)
        goto done;
    if (call->in != NULL)
        memcpy(v, call->in, f * q * sizeof *v);
    mpi_broadcast(v, f * q * sizeof *v);
    judge_fitted(system, v, mine, some, fitted);
    if (call->out != NULL)
        memcpy(call->out, fitted, samples * q * sizeof *fitted);
    if (call->order.last)
        status = judge_along(system, &room, call->third);
    if (status == WT_OK && call->order.more) {
        judge_leverages(system, found);
        if (call->second != NULL)
            memcpy(call->second, found, samples * sizeof *found);
    }
done:
    mpi_room_free(&room);
    return status;
}
