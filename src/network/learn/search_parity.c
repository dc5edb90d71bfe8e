/* Labels as sums over GF(2) of the bits at a set of positions. */
#include <string.h>

#include "base/sized.h"
#include "network/learn/search_parts.h"

enum { WORD_BITS = 64 };

/* The samples as equations, one row of `words` words each; bit T is the label. */
typedef struct {
    wt_arena arena;
    size_t rows, length, words, rank;
    uint64_t *equation; /* (rows, words) */
    size_t *pivot;      /* (rank) the position that row i alone holds, of those that are pivots */
    bool *is_pivot;     /* (T) */
    uint64_t *basis;    /* (dimension, words) sets that make no difference */
    uint64_t *now, *least;
} system_of;

static bool bit_at(const uint64_t *row, size_t t) {
    return row[t / WORD_BITS] >> t % WORD_BITS & 1;
}

static void set_bit(uint64_t *row, size_t t) {
    row[t / WORD_BITS] |= (uint64_t)1 << t % WORD_BITS;
}

static void add_row(uint64_t *to, const uint64_t *row, size_t words) {
    for (size_t w = 0; w < words; w++)
        to[w] ^= row[w];
}

static size_t size_of_set(const uint64_t *row, size_t words) {
    size_t count = 0;
    for (size_t w = 0; w < words; w++)
        count += wt_count_ones(row[w]);
    return count;
}

static wt_status open_system(wt_context *context, const wt_bits *data, system_of *of) {
    size_t rows = data->samples, length = data->length, words = length / WORD_BITS + 1;
    wt_arena arena = wt_arena_start(context, "equations over GF(2)");
    *of = (system_of){.rows = rows,
                      .length = length,
                      .words = words,
                      .equation = WT_TAKE_ZERO(&arena, uint64_t, rows, words),
                      .pivot = WT_TAKE(&arena, size_t, rows),
                      .is_pivot = WT_TAKE_ZERO(&arena, bool, length),
                      .now = WT_TAKE_ZERO(&arena, uint64_t, words),
                      .least = WT_TAKE_ZERO(&arena, uint64_t, words)};
    of->arena = arena;
    if (arena.status != WT_OK)
        return arena.status;
    for (size_t i = 0; i < of->rows; i++) {
        uint64_t *row = of->equation + i * of->words;
        for (size_t t = 0; t < of->length; t++)
            if (data->bit[i * of->length + t] != 0)
                set_bit(row, t);
        if (data->label[i] != 0)
            set_bit(row, of->length);
    }
    return WT_OK;
}

/* Brings the row with a one at t, if there is one below the rank, to the rank's place. */
static bool bring_pivot(system_of *of, size_t t) {
    uint64_t *place = of->equation + of->rank * of->words;
    for (size_t i = of->rank; i < of->rows; i++) {
        uint64_t *row = of->equation + i * of->words;
        if (!bit_at(row, t))
            continue;
        for (size_t w = 0; w < of->words && row != place; w++) {
            uint64_t kept = row[w];
            row[w] = place[w];
            place[w] = kept;
        }
        return true;
    }
    return false;
}

/* Gauss and Jordan: afterwards each pivot's position stands in its own row alone. */
static wt_status eliminate(wt_context *context, system_of *of) {
    for (size_t t = 0; t < of->length && of->rank < of->rows; t++) {
        WT_PASS(wt_context_check_cancelled(context));
        if (!bring_pivot(of, t))
            continue;
        const uint64_t *place = of->equation + of->rank * of->words;
        for (size_t i = 0; i < of->rows; i++)
            if (i != of->rank && bit_at(of->equation + i * of->words, t))
                add_row(of->equation + i * of->words, place, of->words);
        of->pivot[of->rank++] = t;
        of->is_pivot[t] = true;
    }
    return WT_OK;
}

/* The set without free positions, and for each free position the set that flips it. */
static wt_status make_sets(system_of *of, size_t dimension) {
    of->basis = WT_TAKE_ZERO(&of->arena, uint64_t, dimension, of->words);
    if (of->basis == NULL)
        return of->arena.status;
    for (size_t i = 0; i < of->rank; i++)
        if (bit_at(of->equation + i * of->words, of->length))
            set_bit(of->now, of->pivot[i]);
    for (size_t t = 0, k = 0; t < of->length && k < dimension; t++) {
        if (of->is_pivot[t])
            continue;
        uint64_t *set = of->basis + k++ * of->words;
        set_bit(set, t);
        for (size_t i = 0; i < of->rank; i++)
            if (bit_at(of->equation + i * of->words, t))
                set_bit(set, of->pivot[i]);
    }
    return WT_OK;
}

/* All 2^dimension sets in Gray's order: one addition for each set. */
static wt_status find_least(wt_context *context, system_of *of, wt_parity_result *out) {
    enum { LOOK_UP = 1 << 16 };
    out->least_known = true;
    out->least = SIZE_MAX;
    for (size_t i = 0; i < (size_t)1 << out->dimension; i++) {
        size_t change = 0;
        while (i > 0 && (i >> change & 1) == 0)
            change++;
        if (i > 0)
            add_row(of->now, of->basis + change * of->words, of->words);
        size_t size = size_of_set(of->now, of->words);
        if (size < out->least) {
            out->least = size;
            out->least_count = 0;
            memcpy(of->least, of->now, of->words * sizeof *of->now);
        }
        out->least_count += size == out->least;
        WT_PASS(i % LOOK_UP == 0 ? wt_context_check_cancelled(context) : WT_OK);
    }
    return WT_OK;
}

static wt_status solve(wt_context *context, const wt_bits *data, wt_parity_result *out) {
    system_of of = {0};
    wt_status status;
    if (data->samples == 0 || data->length == 0)
        return wt_fail(context, WT_USAGE, "no parity explains %zu samples of %zu bits",
                       data->samples, data->length);
    WT_TRY(open_system(context, data, &of));
    WT_TRY(WT_NEW_ZERO(context, &out->member, of.length, "a set of positions"));
    WT_TRY(eliminate(context, &of));
    out->rank = of.rank;
    out->dimension = of.length - of.rank;
    for (size_t i = of.rank; i < of.rows; i++)
        if (bit_at(of.equation + i * of.words, of.length))
            out->consistent = false;
    if (!out->consistent)
        goto done;
    bool small = out->dimension <= WT_PARITY_MAX_DIMENSION;
    WT_TRY(make_sets(&of, small ? out->dimension : 0));
    if (small)
        WT_TRY(find_least(context, &of, out));
    for (size_t t = 0; t < of.length; t++)
        out->member[t] = bit_at(small ? of.least : of.now, t);
done:
    wt_arena_free(&of.arena);
    return status;
}

wt_status wt_bits_solve_parity(wt_context *context, const wt_bits *bits, wt_parity_result *out) {
    wt_parity_result full = {.consistent = true};
    wt_status status;
    WT_TRY(wt_sized_check(context, "wt_parity_result", out, sizeof full));
    WT_TRY(solve(context, bits, &full));
    wt_sized_write(out, &full, sizeof full);
done:
    if (status != WT_OK)
        wt_parity_result_free(&full);
    return status;
}

void wt_parity_result_free(wt_parity_result *result) {
    if (result == NULL)
        return;
    wt_release(result->member);
    result->member = NULL;
}
