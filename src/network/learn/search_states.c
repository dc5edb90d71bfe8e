#include "network/learn/search_states.h"

/* The number of the live state with these two successors, a new one if need be. */
static uint32_t intern(wt_states *states, size_t depth, uint32_t zero, uint32_t one) {
    uint32_t *next = states->next[depth];
    size_t i = 0;
    while (i < states->live[depth] && (next[2 * i] != zero || next[2 * i + 1] != one))
        i++;
    if (i == states->live[depth]) {
        next[2 * i] = zero;
        next[2 * i + 1] = one;
        states->live[depth]++;
    }
    return (uint32_t)(WT_STATE_LIVE + i);
}

/* From the last bit to the first: prefixes 2p and 2p + 1 of depth j + 1 make prefix p of depth j.
 */
static wt_status make_states(wt_arena *arena, const wt_boolean *function, wt_states *states) {
    size_t s = function->bits;
    uint32_t *state = WT_TAKE(arena, uint32_t, (size_t)1 << s);
    for (size_t depth = 0; depth < s; depth++)
        states->next[depth] = WT_TAKE(arena, uint32_t, (size_t)2 << depth);
    if (arena->status != WT_OK)
        return arena->status;
    for (size_t row = 0; row < (size_t)1 << s; row++)
        state[row] = function->value[row];
    for (size_t depth = s; depth-- > 0;)
        for (size_t p = 0; p < (size_t)1 << depth; p++) {
            uint32_t zero = state[2 * p], one = state[2 * p + 1];
            bool constant = zero == one && zero < WT_STATE_LIVE;
            state[p] = constant ? zero : intern(states, depth, zero, one);
            states->decided_early |= constant;
        }
    states->start = state[0];
    return WT_OK;
}

/* Whether the function stays the same when bits i and j change places. */
static bool may_swap(const wt_boolean *function, size_t i, size_t j) {
    size_t a = (size_t)1 << (function->bits - 1 - i), b = (size_t)1 << (function->bits - 1 - j);
    for (size_t row = 0; row < (size_t)1 << function->bits; row++)
        if ((row & a) != 0 && (row & b) == 0 &&
            function->value[row] != function->value[(row ^ a) | b])
            return false;
    return true;
}

/* The value of all rows whose bit j is b, or 2 when both occur. */
static uint8_t decided(const wt_boolean *function, size_t j, size_t b) {
    size_t place = function->bits - 1 - j, seen[2] = {0, 0};
    for (size_t row = 0; row < (size_t)1 << function->bits; row++)
        if ((row >> place & 1) == b)
            seen[function->value[row]]++;
    return seen[0] > 0 && seen[1] > 0 ? 2 : seen[1] > 0;
}

wt_status wt_states_fill(wt_arena *arena, const wt_boolean *function, wt_states *out) {
    *out = (wt_states){.bits = function->bits};
    for (size_t j = 0; j < function->bits; j++) {
        out->twin[j] = j;
        for (size_t i = 0; i < j; i++)
            if (may_swap(function, i, j))
                out->twin[j] = i;
        for (size_t b = 0; b < 2; b++)
            out->decides[j][b] = decided(function, j, b);
    }
    return make_states(arena, function, out);
}
