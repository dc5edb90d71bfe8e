/* The cells that bear on a claim, and which of them share draws. */
#include <math.h>
#include <string.h>

#include "lab/claims.h"

/* Numbers the (seed, repetition) of the points. */
static wt_status number_draws(wt_sample *sample) {
    const wt_line_point *points = sample->lines.points;
    const size_t count = sample->lines.point_count;
    wt_slots table = {0};
    uint32_t *first = WT_TAKE(&sample->arena, uint32_t, count); /* point of every draw */
    wt_status status;
    sample->draw = WT_TAKE(&sample->arena, uint32_t, count);
    WT_TRY(sample->arena.status);
    for (uint32_t i = 0; i < count; i++) {
        const int64_t draw[] = {points[i].seed, points[i].rep};
        wt_shelf_pass(&sample->lines.shelf, i);
        uint32_t hash = wt_slots_hash(0, draw, sizeof draw), known;
        size_t cursor = wt_slots_start(&table, hash);
        bool found = false;
        while (!found && wt_slots_next(&table, hash, &cursor, &known))
            found = points[first[known]].seed == draw[0] && points[first[known]].rep == draw[1];
        if (!found) {
            known = (uint32_t)sample->draws++;
            first[known] = i;
            WT_TRY(wt_slots_add(sample->context, &table, hash, known));
        }
        sample->draw[i] = known;
    }
done:
    wt_slots_free(&table);
    return status;
}

/* What belongs to a model alone may differ between the two sides of a comparison, and the target
 * where each side has one: a pattern ("mean-power:*") stands for several, which have to be the same
 * on both sides. */
static const char *apart(const wt_claim_part *part) {
    if (part->versus == NULL)
        return part->apart;
    return strchr(part->where, '*') != NULL ? "model bias width activation"
                                            : "model target bias width activation";
}

static wt_lines_query query_of(const wt_claim_part *part, const char *where) {
    return (wt_lines_query){.experiment = part->experiment,
                            .where = where,
                            .x = part->size != NULL ? part->size : part->x,
                            .y = part->y,
                            .demand = part->demand,
                            .apart = apart(part),
                            .every = part->measure->every,
                            .failures = part->measure->failures};
}

wt_status wt_sample_open(wt_context *context, const wt_results *results, const wt_claim_part *part,
                         wt_sample *out) {
    const wt_lines_query query = query_of(part, part->where);
    *out =
        (wt_sample){.context = context, .part = part, .arena = wt_arena_start(context, "a claim")};
    WT_PASS(wt_lines_find(context, results, &query, &out->lines));
    return number_draws(out);
}

void wt_sample_close(wt_sample *sample) {
    wt_lines_free(&sample->lines);
    wt_arena_free(&sample->arena);
}

wt_status wt_sample_versus(const wt_sample *sample, wt_lines *out) {
    const wt_lines_query query = query_of(sample->part, sample->part->versus);
    return wt_lines_find(sample->context, sample->lines.results, &query, out);
}

wt_status wt_part_measure(wt_context *context, const wt_results *results, const wt_claim_part *part,
                          wt_evidence *out) {
    wt_sample sample;
    wt_status status;
    *out = (wt_evidence){.effect = {NAN, NAN, NAN}};
    WT_TRY(wt_sample_open(context, results, part, &sample));
    out->cells = sample.lines.point_count;
    out->settings = sample.lines.line_count;
    out->dropped = sample.lines.left_out;
    out->failed = sample.lines.failed;
    WT_TRY(part->measure->measure(&sample, out));
done:
    wt_sample_close(&sample);
    return status;
}
