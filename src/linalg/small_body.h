/* One small product; included by small.c for each type of element and kind of processor with
 *   REAL      double or float
 *   GEMM      the name of the function
 *   TARGET    its attribute, or nothing
 *   BYTES     of a register of that processor
 * Columns of C are taken LANES at a time, rows ROWS at a time: their sums stay in registers. */
#define LANES (BYTES / sizeof(REAL))

/* C = alpha sums + beta C, `width` columns of one row. */
TARGET static inline void JOIN(GEMM, _put)(size_t width, const REAL *sums, REAL alpha, REAL beta,
                                           REAL *c) {
    for (size_t j = 0; j < width; j++) {
        REAL rest = beta == 0 ? 0 : beta * c[j], sum = sums[j];
        c[j] = alpha * sum + rest;
    }
}

/* `count` rows, a constant, of a panel of LANES columns of op(B): terms are panel_stride apart. */
TARGET static inline __attribute__((always_inline)) void
JOIN(GEMM, _rows)(size_t count, size_t terms, const REAL *a, size_t a_row, size_t a_term,
                  const REAL *panel, size_t panel_stride, REAL sums[ROWS][LANES]) {
    typedef REAL lanes __attribute__((vector_size(LANES * sizeof(REAL))));
    lanes sum[ROWS] = {0}, x;
    for (size_t p = 0; p < terms; p++) {
        memcpy(&x, panel + p * panel_stride, sizeof x);
        for (size_t r = 0; r < count; r++) {
            REAL left = a[r * a_row + p * a_term];
            lanes before = sum[r];
            sum[r] = before + x * left; /* nothing in between: fused for every count alike */
        }
    }
    memcpy(sums, sum, count * sizeof *sum);
}

TARGET static void GEMM(wt_trans trans_a, wt_trans trans_b, size_t m, size_t n, size_t k,
                        double alpha, const void *a, size_t a_stride, const void *b,
                        size_t b_stride, double beta, void *c, size_t c_stride) {
    const REAL *left = a, *right = b;
    REAL *out = c, packed[MOST_TERMS * LANES], sums[ROWS][LANES];
    bool turned_a = trans_a == WT_TRANSPOSED, turned_b = trans_b == WT_TRANSPOSED;
    size_t a_row = turned_a ? 1 : a_stride, a_term = turned_a ? a_stride : 1;
    size_t b_term = turned_b ? 1 : b_stride, b_column = turned_b ? b_stride : 1;
    for (size_t j = 0; j < n; j += LANES) {
        size_t width = n - j < LANES ? n - j : LANES, panel_stride = b_term;
        const REAL *panel = right + j * b_column;
        if (turned_b || width < LANES) {
            for (size_t p = 0; p < k; p++)
                for (size_t l = 0; l < LANES; l++)
                    packed[p * LANES + l] = l < width ? panel[p * b_term + l * b_column] : (REAL)0;
            panel = packed;
            panel_stride = LANES;
        }
        size_t i = 0;
        for (; i + ROWS <= m; i += ROWS) {
            JOIN(GEMM, _rows)
            (ROWS, k, left + i * a_row, a_row, a_term, panel, panel_stride, sums);
            for (size_t r = 0; r < ROWS; r++)
                JOIN(GEMM, _put)
            (width, sums[r], (REAL)alpha, (REAL)beta, out + (i + r) * c_stride + j);
        }
        for (; i < m; i++) {
            JOIN(GEMM, _rows)(1, k, left + i * a_row, a_row, a_term, panel, panel_stride, sums);
            JOIN(GEMM, _put)(width, sums[0], (REAL)alpha, (REAL)beta, out + i * c_stride + j);
        }
    }
}
#undef LANES
