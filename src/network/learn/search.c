/* Depth first over positions, one bit of the function at a time.
 *
 * Invariants, cited by the tests:
 *  1. after j choices cells[j] holds, for each live state, the samples that are in it, and
 * errors[j] the samples that are in the wrong constant: a lower bound for every choice below;
 *  2. a choice is left as soon as that bound passes `allowed`: 0 where all must be right, the best
 *     so far where the fewest errors are looked for;
 *  3. of bits that may change places, each takes a later place of their shared list than the one
 *     before it, so that every set is met once. */
#include "network/learn/search_parts.h"

#include <string.h>

#include "base/sized.h"

enum { LOOK_UP = 1 << 14 }; /* positions tried between two looks at the cancel flag */

typedef struct {
    wt_context *context;
    wt_arena arena; /* of all arrays but those found */
    wt_search_columns data;
    wt_states states;
    wt_search_list list[WT_BOOLEAN_MAX_BITS]; /* of the first bit of each kind; else empty */
    size_t kind[WT_BOOLEAN_MAX_BITS];         /* that first bit */
    wt_search_table table;                    /* slots = 0 where it is of no use */
    uint64_t *cells[WT_BOOLEAN_MAX_BITS];     /* [j]: (live states of depth j, words) */
    uint64_t *mask, *need;                    /* (words) of the last bit */
    size_t errors[WT_BOOLEAN_MAX_BITS];
    size_t chosen[WT_BOOLEAN_MAX_BITS], place[WT_BOOLEAN_MAX_BITS];
    bool best; /* fewest errors, not none */
    size_t allowed;
    bool ended;
    size_t max_found, room;
    wt_search_result *out;
} search;

/* ---- what was found ---- */

/* Lists are in the order of costs: back to that of positions. */
static void put_in_order(const search *of, size_t *position) {
    for (size_t i = 0; i < of->states.bits; i++)
        for (size_t j = i + 1; j < of->states.bits; j++)
            if (of->kind[i] == of->kind[j] && position[i] > position[j]) {
                size_t kept = position[i];
                position[i] = position[j];
                position[j] = kept;
            }
}

static wt_status record(search *of, size_t errors) {
    wt_search_result *out = of->out;
    if (of->best && errors < out->errors) {
        out->errors = of->allowed = errors;
        out->found = 0;
        out->complete = true;
    }
    if (out->found == of->max_found) {
        out->complete = false;
        of->ended = errors == 0;
        of->allowed = errors == 0 ? 0 : errors - 1;
        return WT_OK;
    }
    WT_PASS(wt_grow(of->context, &out->position, out->found, &of->room,
                    of->states.bits * sizeof *out->position, "choices of positions"));
    size_t *position = out->position + out->found * of->states.bits;
    memcpy(position, of->chosen, of->states.bits * sizeof *position);
    put_in_order(of, position);
    out->found++;
    return WT_OK;
}

/* ---- one bit ---- */

static bool taken(const search *of, size_t depth, size_t position) {
    for (size_t j = 0; j < depth; j++)
        if (of->chosen[j] == position)
            return true;
    return false;
}

static size_t first_place(const search *of, size_t depth) {
    size_t twin = of->states.twin[depth];
    return twin == depth ? 0 : of->place[twin] + 1;
}

static wt_status count_look(search *of) {
    return ++of->out->looked % LOOK_UP == 0 ? wt_context_check_cancelled(of->context) : WT_OK;
}

/* Moves the samples of a live state with the bits `with` to their next state; returns how many of
 * them are wrong now. */
static size_t move(const search *of, const uint64_t *from, const uint64_t *column, uint64_t flip,
                   uint32_t next, uint64_t *cells) {
    const wt_search_columns *data = &of->data;
    size_t wrong = 0;
    if (next >= WT_STATE_LIVE) {
        uint64_t *to = cells + (next - WT_STATE_LIVE) * data->words;
        for (size_t w = 0; w < data->words; w++)
            to[w] |= from[w] & (column[w] ^ flip);
        return 0;
    }
    uint64_t against = next == 1 ? UINT64_MAX : 0;
    for (size_t w = 0; w < data->words; w++)
        wrong += wt_count_ones(from[w] & (column[w] ^ flip) & (data->label[w] ^ against));
    return wrong;
}

/* cells and errors of depth + 1 when the bit is at this position. */
static void step(search *of, size_t depth, size_t position) {
    size_t words = of->data.words;
    const uint64_t *column = of->data.column + position * words;
    uint64_t *cells = of->cells[depth + 1];
    memset(cells, 0, of->states.live[depth + 1] * words * sizeof *cells);
    of->errors[depth + 1] = of->errors[depth];
    for (size_t i = 0; i < of->states.live[depth]; i++) {
        const uint64_t *from = of->cells[depth] + i * words;
        const uint32_t *next = of->states.next[depth] + 2 * i;
        of->errors[depth + 1] += move(of, from, column, UINT64_MAX, next[0], cells);
        of->errors[depth + 1] += move(of, from, column, 0, next[1], cells);
    }
}

/* ---- the last bit ---- */

/* A live state before the last bit needs it to be the label or its opposite. */
static void find_need(search *of, size_t depth) {
    size_t words = of->data.words;
    memset(of->mask, 0, words * sizeof *of->mask);
    memset(of->need, 0, words * sizeof *of->need);
    for (size_t i = 0; i < of->states.live[depth]; i++) {
        const uint64_t *from = of->cells[depth] + i * words;
        uint64_t flip = of->states.next[depth][2 * i + 1] == 1 ? 0 : UINT64_MAX;
        for (size_t w = 0; w < words; w++) {
            of->mask[w] |= from[w];
            of->need[w] |= from[w] & (of->data.label[w] ^ flip);
        }
    }
}

/* Errors with the last bit at this position; past `allowed` it may stop counting. */
static size_t last_errors(const search *of, size_t errors, size_t position) {
    const uint64_t *column = of->data.column + position * of->data.words;
    for (size_t w = 0; w < of->data.words && errors <= of->allowed; w++)
        errors += wt_count_ones((column[w] ^ of->need[w]) & of->mask[w]);
    return errors;
}

/* All of the last column is known: look it up. */
static wt_status finish_by_table(search *of, size_t depth, const wt_search_list *list) {
    size_t slot = wt_search_slot(&of->table, of->need, of->data.words), first;
    wt_status status = count_look(of);
    first = first_place(of, depth);
    for (size_t i = of->table.first[slot]; status == WT_OK && i != SIZE_MAX && !of->ended;
         i = of->table.after[i]) {
        size_t position = list->position[i];
        if (i < first || taken(of, depth, position) || last_errors(of, 0, position) > 0)
            continue;
        of->chosen[depth] = position;
        status = record(of, 0);
    }
    return status;
}

static wt_status finish(search *of, size_t depth) {
    const wt_search_list *list = &of->list[of->kind[depth]];
    find_need(of, depth);
    if (of->table.slots > 0)
        return finish_by_table(of, depth, list);
    for (size_t i = first_place(of, depth);
         i < of->data.length && list->cost[i] <= of->allowed && !of->ended; i++) {
        size_t position = list->position[i];
        if (taken(of, depth, position))
            continue;
        WT_PASS(count_look(of));
        size_t errors = last_errors(of, of->errors[depth], position);
        if (errors > of->allowed)
            continue;
        of->chosen[depth] = position;
        WT_PASS(record(of, errors));
    }
    return WT_OK;
}

/* The function has 16 bits at most, and so has the recursion. */
static wt_status descend(search *of, size_t depth) {
    if (depth + 1 == of->states.bits)
        return finish(of, depth);
    const wt_search_list *list = &of->list[of->kind[depth]];
    for (size_t i = first_place(of, depth);
         i < of->data.length && list->cost[i] <= of->allowed && !of->ended; i++) {
        if (taken(of, depth, list->position[i]))
            continue;
        WT_PASS(count_look(of));
        step(of, depth, list->position[i]);
        if (of->errors[depth + 1] > of->allowed)
            continue;
        of->chosen[depth] = list->position[i];
        of->place[depth] = i;
        WT_PASS(descend(of, depth + 1));
    }
    return WT_OK;
}

/* ---- the whole ---- */

static wt_status prepare(search *of) {
    size_t words = of->data.words, last = of->states.bits - 1;
    for (size_t j = 0; j <= last; j++) {
        size_t twin = of->states.twin[j];
        of->kind[j] = twin == j ? j : of->kind[twin];
        if (twin == j)
            WT_PASS(
                wt_search_list_fill(&of->arena, &of->data, of->states.decides[j], &of->list[j]));
        of->cells[j] = WT_TAKE(&of->arena, uint64_t, of->states.live[j], words);
    }
    of->mask = WT_TAKE(&of->arena, uint64_t, words);
    of->need = WT_TAKE(&of->arena, uint64_t, words);
    WT_PASS(of->arena.status);
    if (!of->best && !of->states.decided_early)
        WT_PASS(wt_search_table_fill(&of->arena, &of->data, &of->list[of->kind[last]], &of->table));
    if (of->states.start >= WT_STATE_LIVE)
        memcpy(of->cells[0], of->data.every, words * sizeof *of->data.every);
    else /* a constant function */
        for (size_t w = 0; w < words; w++)
            of->errors[0] += wt_count_ones(
                of->states.start == 1 ? of->data.label[w] ^ of->data.every[w] : of->data.label[w]);
    return WT_OK;
}

static wt_status search_all(wt_context *context, const wt_bits *data, const wt_boolean *function,
                            size_t max_found, bool best, wt_search_result *out) {
    wt_search_result found = {.bits = function->bits, .complete = true};
    search of = {.context = context,
                 .arena = wt_arena_start(context, "a search over positions"),
                 .best = best,
                 .max_found = max_found,
                 .out = &found};
    wt_status status;
    WT_TRY(wt_sized_check(context, "wt_search_result", out, sizeof found));
    if (data->samples == 0 || data->length < function->bits || max_found == 0) {
        status = wt_fail(context, WT_USAGE,
                         "a search needs one sample or more, as many bits as the function has and "
                         "room for one answer, not %zu samples of %zu bits for %zu and room for "
                         "%zu",
                         data->samples, data->length, function->bits, max_found);
        goto done;
    }
    if (best) {
        of.allowed = data->samples;
        found.errors = data->samples + 1; /* worse than any */
    }
    WT_TRY(wt_search_pack(&of.arena, data, &of.data));
    WT_TRY(wt_states_fill(&of.arena, function, &of.states));
    WT_TRY(prepare(&of));
    if (of.errors[0] <= of.allowed)
        WT_TRY(descend(&of, 0));
    wt_sized_write(out, &found, sizeof found);
done:
    wt_arena_free(&of.arena);
    if (status != WT_OK)
        wt_search_result_free(&found);
    return status;
}

wt_status wt_bits_search(wt_context *context, const wt_bits *data, const wt_boolean *function,
                         size_t max_found, wt_search_result *out) {
    return search_all(context, data, function, max_found, false, out);
}

wt_status wt_bits_search_best(wt_context *context, const wt_bits *data, const wt_boolean *function,
                              size_t max_found, wt_search_result *out) {
    return search_all(context, data, function, max_found, true, out);
}

void wt_search_result_free(wt_search_result *result) {
    if (result == NULL)
        return;
    wt_release(result->position);
    result->position = NULL;
}
