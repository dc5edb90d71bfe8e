/* The products of jacobian.h for one element type; included by the file of that type, which defines
 *   REAL      double or float
 *   GEMM      wt_gemm or wt_gemm_float
 *   ROUTINES  real64 or real32 of the backend
 *   JACOBIAN  the struct, NAME(x) the name of a function of it
 *
 * Both products move every row by its covariance, C_ri u = X^T (A .* (X u - <A, X u>)):
 *   apply:      U = queries D (R, m d),   moved, then dY = U W and P dY
 *   transposed: U = E W^T (R, m d),       moved, then g = queries^T U
 * With shared values W is never formed: U W is [U_i V_g] O, and E W^T is [(E O^T)_i V_g^T]. */

typedef struct {
    const wt_routines *blas;
    JACOBIAN *jacobian;
} moving;

static void move_rows(const moving *work, size_t s, size_t head, REAL *scratch) {
    const JACOBIAN *jacobian = work->jacobian;
    const wt_projection *at = jacobian->at;
    const wt_attention *in = &at->rows->in;
    size_t d = in->dim, columns = at->width;
    size_t row = wt_attention_row(in, s), rows = wt_attention_row(in, s + 1) - row;
    size_t key = wt_attention_key(in, s), keys = wt_attention_key(in, s + 1) - key;
    const REAL *x = jacobian->key + key * d;
    const REAL *a = jacobian->weights + at->heads * at->starts[s] + head * rows * keys;
    REAL *u = jacobian->moved + row * columns + head * d;
    if (rows == 0)
        return;
    work->blas->gemm(WT_PLAIN, WT_TRANSPOSED, rows, keys, d, 1, u, columns, x, d, 0, scratch, keys);
    for (size_t r = 0; r < rows; r++) {
        REAL mean = 0, *logits = scratch + r * keys;
        const REAL *weights = a + r * keys;
        for (size_t b = 0; b < keys; b++)
            mean += weights[b] * logits[b];
        for (size_t b = 0; b < keys; b++)
            logits[b] = weights[b] * (logits[b] - mean);
    }
    work->blas->gemm(WT_PLAIN, WT_PLAIN, rows, d, keys, 1, scratch, keys, x, d, 0, u, columns);
}

static wt_status move_some(void *argument, size_t begin, size_t end, int worker) {
    const moving *work = argument;
    REAL *scratch = work->jacobian->scratch + (size_t)worker * work->jacobian->scratch_each;
    for (size_t s = begin; s < end; s++)
        for (size_t head = 0; head < work->jacobian->at->heads; head++)
            move_rows(work, s, head, scratch);
    return WT_OK;
}

static wt_status move_all(wt_context *context, JACOBIAN *jacobian) {
    const wt_attention *in = &jacobian->at->rows->in;
    const wt_backend *backend;
    moving work = {.jacobian = jacobian};
    wt_status status;
    WT_TRY(wt_backend_open(context, &backend));
    work.blas = &backend->ROUTINES;
    size_t weights = jacobian->at->heads * jacobian->at->starts[in->sequences];
    wt_work_add(context, 2 * wt_work_product(weights, in->dim, 1) + 4 * (double)weights);
    WT_TRY(wt_parallel_for(context, in->sequences, wt_attention_grain(in), move_some, &work));
done:
    return status;
}

/* Room for the buffers; what is borrowed or copied is the caller's. */
static wt_status make_room(wt_context *context, const wt_projection *at, JACOBIAN *out) {
    const wt_rows *rows = at->rows;
    size_t R = rows->rows, p = rows->outputs, workers = (size_t)wt_context_threads(context);
    out->at = at;
    for (size_t s = 0; s < rows->in.sequences; s++) {
        size_t one = at->starts[s + 1] - at->starts[s];
        out->scratch_each = one > out->scratch_each ? one : out->scratch_each;
    }
    out->moved = WT_TAKE(&out->arena, REAL, R, at->width);
    out->span = WT_TAKE(&out->arena, REAL, at->spanned, p);
    if (at->groups > 0)
        out->inner = WT_TAKE(&out->arena, REAL, R, at->heads, at->values);
    out->out = WT_TAKE(&out->arena, REAL, R, p);
    out->scratch = WT_TAKE(&out->arena, REAL, workers, out->scratch_each);
    return out->arena.status;
}

/* out = U W, and what the direction dv of V adds. */
static wt_status spread(wt_context *context, JACOBIAN *jacobian, const REAL *dv) {
    const wt_projection *at = jacobian->at;
    size_t R = at->rows->rows, p = at->rows->outputs, d = at->rows->in.dim, v = at->values;
    if (at->groups == 0)
        return GEMM(context, WT_PLAIN, WT_PLAIN, R, p, at->width, 1, jacobian->moved, at->width,
                    jacobian->w, p, 0, jacobian->out, p);
    for (size_t i = 0; i < at->heads; i++) {
        size_t shared = wt_projection_group(at, i) * d * v, n = at->heads * v;
        WT_PASS(GEMM(context, WT_PLAIN, WT_PLAIN, R, v, d, 1, jacobian->moved + i * d, at->width,
                     jacobian->v + shared, v, 0, jacobian->inner + i * v, n));
        WT_PASS(GEMM(context, WT_PLAIN, WT_PLAIN, R, v, d, 1, jacobian->h + i * d, at->columns,
                     dv + shared, v, 1, jacobian->inner + i * v, n));
    }
    return GEMM(context, WT_PLAIN, WT_PLAIN, R, p, at->heads * v, 1, jacobian->inner, at->heads * v,
                jacobian->o, p, 0, jacobian->out, p);
}

/* U = E W^T, and the gradient gv by V. */
static wt_status gather(wt_context *context, JACOBIAN *jacobian, const REAL *residuals, REAL *gv) {
    const wt_projection *at = jacobian->at;
    size_t R = at->rows->rows, p = at->rows->outputs, d = at->rows->in.dim, v = at->values;
    if (at->groups == 0)
        return GEMM(context, WT_PLAIN, WT_TRANSPOSED, R, at->width, p, 1, residuals, p, jacobian->w,
                    p, 0, jacobian->moved, at->width);
    size_t n = at->heads * v, each = at->heads / at->groups;
    WT_PASS(GEMM(context, WT_PLAIN, WT_TRANSPOSED, R, n, p, 1, residuals, p, jacobian->o, p, 0,
                 jacobian->inner, n));
    for (size_t i = 0; i < at->heads; i++) {
        size_t shared = wt_projection_group(at, i) * d * v;
        WT_PASS(GEMM(context, WT_PLAIN, WT_TRANSPOSED, R, d, v, 1, jacobian->inner + i * v, n,
                     jacobian->v + shared, v, 0, jacobian->moved + i * d, at->width));
        WT_PASS(GEMM(context, WT_TRANSPOSED, WT_PLAIN, d, v, R, 1, jacobian->h + i * d, at->columns,
                     jacobian->inner + i * v, n, i % each == 0 ? 0 : 1, gv + shared, v));
    }
    return WT_OK;
}

wt_status NAME(apply)(wt_context *context, JACOBIAN *jacobian, const REAL *direction) {
    const wt_projection *at = jacobian->at;
    size_t R = at->rows->rows, p = at->rows->outputs, e = at->asked, n = at->spanned;
    wt_status status;
    WT_TRY(GEMM(context, WT_PLAIN, WT_PLAIN, R, at->width, e, 1, jacobian->query, e, direction,
                at->width, 0, jacobian->moved, at->width));
    WT_TRY(move_all(context, jacobian));
    WT_TRY(spread(context, jacobian, direction + e * at->width));
    WT_TRY(GEMM(context, WT_PLAIN, WT_PLAIN, n, p, R, 1, jacobian->qt, R, jacobian->out, p, 0,
                jacobian->span, p));
    WT_TRY(GEMM(context, WT_TRANSPOSED, WT_PLAIN, R, p, n, -1, jacobian->qt, R, jacobian->span, p,
                1, jacobian->out, p));
done:
    return status;
}

wt_status NAME(transposed)(wt_context *context, JACOBIAN *jacobian, const REAL *residuals,
                           REAL *g) {
    const wt_projection *at = jacobian->at;
    size_t R = at->rows->rows, e = at->asked, n = at->width;
    wt_status status;
    WT_TRY(gather(context, jacobian, residuals, g + e * n));
    WT_TRY(move_all(context, jacobian));
    WT_TRY(GEMM(context, WT_TRANSPOSED, WT_PLAIN, e, n, R, 1, jacobian->query, e, jacobian->moved,
                n, 0, g, n));
done:
    return status;
}
