/* The arrays of a fleet, cut from two blocks: one by slot, one of the chunk in hand. */
#include "fleet.h"

struct cutter {
    char *block; /* NULL: only counted */
    size_t used, networks;

    template <class T> void operator()(T **to, size_t each) {
        *to = block == NULL ? NULL : (T *)(block + used);
        used += (networks * each * sizeof(T) + 255) / 256 * 256;
    }
};

size_t fleet_slot_bytes(const fleet_shape &shape, size_t networks, char *block, fleet_work *work) {
    cutter cut = {block, 0, networks};
    size_t size = (size_t)shape.size, samples = (size_t)shape.samples;
    cut(&work->parameters, size);
    cut(&work->first, size);
    cut(&work->second, size);
    cut(&work->bit, samples * (size_t)shape.length);
    cut(&work->label, samples);
    cut(&work->sources, 1);
    cut(&work->values, (size_t)1 << 16);
    return cut.used;
}

static void cut_transformer(const fleet_shape &shape, cutter &cut, fleet_work *work) {
    size_t S = (size_t)shape.stride, rows = (size_t)shape.rows, d = (size_t)shape.dim;
    size_t samples = (size_t)shape.samples, tiles = (size_t)shape.tiles,
           padded = tiles * FLEET_TILE;
    size_t heads = samples * 16 * S, segments = (size_t)shape.segments, table = (size_t)shape.table;
    float **const lines[] = {&work->x,   &work->h,     &work->hat, &work->q,   &work->y,
                             &work->c,   &work->c_hat, &work->m,   &work->e,   &work->e_hat,
                             &work->w,   &work->d_w,   &work->d_e, &work->d_c, &work->d_m,
                             &work->d_y, &work->d_q,   &work->d_h, &work->d_x};
    float **const wide[] = {&work->f, &work->u, &work->d_u};
    float **const scales[] = {&work->hat_scale, &work->c_scale, &work->e_scale};
    float **const by_head[] = {&work->query, &work->z, &work->d_z, &work->d_query};
    float **const of_head[] = {&work->total, &work->most, &work->sum, &work->more, &work->mean};
    float **const folded[] = {&work->key, &work->value, &work->d_key, &work->d_value};
    for (float **line : lines)
        cut(line, rows * S);
    for (float **line : wide)
        cut(line, rows * (size_t)shape.wide);
    for (float **line : scales)
        cut(line, rows);
    for (float **array : by_head)
        cut(array, heads);
    for (float **array : of_head)
        cut(array, samples * 16);
    for (float **array : folded)
        cut(array, d * S);
    cut(&work->value_bias, d);
    cut(&work->d_value_bias, d);
    if (shape.keep[DROP_TOKENS] < FLEET_KEEP_ALL) {
        cut(&work->rows_of, padded * 2 * S);
        cut(&work->mask, samples * padded / FLEET_SHARE * (S < 64 ? 1 : S / 64) * 32);
        cut(&work->token, samples * padded);
        cut(&work->scores, samples * padded * 16);
    }
    cut(&work->parts, heads * tiles);
    cut(&work->d_places, segments * padded * S);
    cut(&work->d_symbols, segments * tiles * 2 * S);
    cut(&work->table_hat, table * S);
    cut(&work->table_scores, table * 16);
    cut(&work->table_values, table * S);
    if (shape.keep[DROP_TOKENS] == FLEET_KEEP_ALL) {
        cut(&work->d_table_scores, segments * tiles * 2 * FLEET_TILE * 16);
        cut(&work->d_table_values, segments * tiles * 2 * FLEET_TILE * S);
        cut(&work->d_hat, table * S);
        cut(&work->d_hat_more, table * S);
    }
    cut(&work->table_sums, table * (16 + S));
    cut(&work->table_most, 16);
    cut(&work->sums, rows * (16 + S));
}

static void cut_mlp(const fleet_shape &shape, cutter &cut, fleet_work *work) {
    float **const wide[] = {&work->f1, &work->u1, &work->f2, &work->u2, &work->d_u1, &work->d_u2};
    cut(&work->input, (size_t)shape.rows * (size_t)shape.inputs);
    for (float **line : wide)
        cut(line, (size_t)shape.rows * (size_t)shape.wide);
}

static void cut_head(const fleet_shape &shape, cutter &cut, fleet_work *work) {
    float **const lines[] = {&work->y, &work->c, &work->m, &work->d_c, &work->d_y};
    size_t S = (size_t)shape.stride, rows = (size_t)shape.rows, table = (size_t)shape.table;
    for (float **line : lines)
        cut(line, rows * S);
    cut(&work->query, S);
    cut(&work->table_hat, table * S);
    cut(&work->table_scores, table);
    cut(&work->a, rows * (size_t)shape.inputs);
    cut(&work->d_a, rows * (size_t)shape.inputs);
    cut(&work->d_s, (size_t)shape.inputs);
}

size_t fleet_chunk_bytes(const fleet_shape &shape, size_t networks, char *block, fleet_work *work) {
    cutter cut = {block, 0, networks};
    size_t rows = (size_t)shape.rows;
    cut(&work->drawn, rows * (size_t)shape.drawn);
    cut(&work->drawn_label, rows);
    cut(&work->gradient, (size_t)shape.size);
    cut(&work->loss, rows);
    cut(&work->right, rows);
    cut(&work->d_logits, rows * 2);
    if (shape.kind == FLEET_TRANSFORMER)
        cut_transformer(shape, cut, work);
    else if (shape.kind == FLEET_MLP)
        cut_mlp(shape, cut, work);
    else
        cut_head(shape, cut, work);
    return cut.used;
}
