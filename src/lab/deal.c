#include "lab/deal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "io/source.h"
#include "wattle/output.h"

enum { NAME = WT_HASH_TEXT - 1, MOST_TASKS = 1000000000 };

static uint32_t hash_of(const unsigned char *name) {
    return wt_slots_hash(0, name, NAME / 2);
}

static unsigned digit(char letter) {
    return letter >= 'a' ? (unsigned)(letter - 'a') + 10 : (unsigned)(letter - '0');
}

static void pack(const char *name, unsigned char out[NAME / 2]) {
    for (size_t i = 0; i < NAME / 2; i++)
        out[i] = (unsigned char)(digit(name[2 * i]) << 4 | digit(name[2 * i + 1]));
}

static void spell(const unsigned char *name, char out[WT_HASH_TEXT]) {
    for (size_t i = 0; i < NAME; i++)
        out[i] = "0123456789abcdef"[name[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15];
    out[NAME] = '\0';
}

wt_status wt_deal_add(wt_context *context, wt_deal *deal, const char *name, size_t task) {
    WT_PASS(WT_GROW(context, &deal->groups, deal->count, &deal->room, "groups of tasks"));
    wt_dealt *next = &deal->groups[deal->count];
    pack(name, next->name);
    next->task = (uint32_t)task;
    WT_PASS(wt_slots_add(context, &deal->slots, hash_of(next->name), (uint32_t)deal->count));
    deal->count++;
    return WT_OK;
}

/* "000007 1f3a..": returns the end of the line, NULL when it is none. */
static const char *read_line(const char *line, size_t *task, const char **name) {
    char *end;
    unsigned long number = strtoul(line, &end, 10);
    if (*line < '0' || *line > '9' || number == 0 || number > MOST_TASKS || *end != ' ' ||
        strspn(end + 1, "0123456789abcdef") != NAME || end[1 + NAME] != '\n')
        return NULL;
    *task = number;
    *name = end + 1;
    return end + 1 + NAME + 1;
}

wt_status wt_deal_read(wt_context *context, const char *path, wt_deal *deal) {
    wt_source source = {.file = -1};
    char *text = NULL;
    wt_status status;
    WT_TRY(wt_source_open(context, path, &source));
    WT_TRY(WT_NEW(context, &text, (size_t)source.bytes + 1, "groups of tasks"));
    int64_t got = wt_source_read(&source, 0, text, (size_t)source.bytes);
    if (got < 0)
        WT_TRY(wt_fail(context, WT_IO, "%s: cannot be read", source.shown));
    text[got] = '\0';
    for (const char *at = text; *at != '\0';) {
        const char *name = NULL;
        size_t task = 0;
        at = read_line(at, &task, &name);
        if (at == NULL)
            WT_TRY(wt_fail(context, WT_DATA, "%s: is no list of groups by task", source.shown));
        WT_TRY(wt_deal_add(context, deal, name, task));
    }
done:
    wt_release(text);
    wt_source_close(&source);
    return status;
}

/* The next task of the group after *cursor; 0 = no other. */
static size_t next_task(const wt_deal *deal, const unsigned char *name, size_t *cursor) {
    uint32_t number;
    while (wt_slots_next(&deal->slots, hash_of(name), cursor, &number))
        if (memcmp(deal->groups[number].name, name, NAME / 2) == 0)
            return deal->groups[number].task;
    return 0;
}

bool wt_deal_has(const wt_deal *deal, const char *name, size_t task) {
    unsigned char packed[NAME / 2];
    pack(name, packed);
    size_t found, cursor = wt_slots_start(&deal->slots, hash_of(packed));
    while ((found = next_task(deal, packed, &cursor)) != 0)
        if (found == task)
            return true;
    return false;
}

static size_t last_task(const wt_deal *deal, const unsigned char *name) {
    size_t found, last = 0, cursor = wt_slots_start(&deal->slots, hash_of(name));
    while ((found = next_task(deal, name, &cursor)) != 0)
        last = found > last ? found : last;
    return last;
}

size_t wt_deal_task(const wt_deal *deal, const char *name) {
    unsigned char packed[NAME / 2];
    pack(name, packed);
    return last_task(deal, packed);
}

bool wt_deal_is_last(const wt_deal *deal, size_t index) {
    return last_task(deal, deal->groups[index].name) == deal->groups[index].task;
}

wt_status wt_deal_write(wt_context *context, const wt_deal *deal, const char *path) {
    wt_output *output = NULL;
    wt_status status;
    WT_TRY(wt_output_open(context, path, &output));
    for (size_t i = 0; i < deal->count; i++) {
        char name[WT_HASH_TEXT];
        spell(deal->groups[i].name, name);
        WT_TRY(wt_output_print(output, "%06u %s\n", (unsigned)deal->groups[i].task, name));
    }
    WT_TRY(wt_output_commit(output));
done:
    wt_output_free(output);
    return status;
}

void wt_deal_free(wt_deal *deal) {
    wt_release(deal->groups);
    wt_slots_free(&deal->slots);
    *deal = (wt_deal){0};
}

/* ---- balance ------------------------------------------------------------------------------ */

typedef struct {
    double cost;
    uint32_t number;
} weight;

static int largest_first(const void *a, const void *b) {
    const weight *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost > y->cost ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static bool lighter(const weight *a, const weight *b) {
    return a->cost < b->cost || (a->cost == b->cost && a->number < b->number);
}

/* The root of a heap got heavier: it sinks to its place. */
static void sink(weight *heap, size_t count) {
    for (size_t at = 0, below; (below = 2 * at + 1) < count; at = below) {
        if (below + 1 < count && lighter(&heap[below + 1], &heap[below]))
            below++;
        if (!lighter(&heap[below], &heap[at]))
            return;
        weight kept = heap[at];
        heap[at] = heap[below];
        heap[below] = kept;
    }
}

wt_status wt_deal_balance(wt_context *context, const double *costs, size_t units, size_t tasks,
                          uint32_t *task, double *loads) {
    wt_arena arena = wt_arena_start(context, "the work of tasks");
    weight *order = WT_TAKE(&arena, weight, units), *heap = WT_TAKE(&arena, weight, tasks);
    wt_status status;
    bool known = true;
    WT_TRY(arena.status);
    for (size_t i = 0; i < units; i++)
        known &= isfinite(costs[i]) && costs[i] > 0;
    for (size_t i = 0; i < units; i++)
        order[i] = (weight){known ? costs[i] : 1, (uint32_t)i};
    for (size_t i = 0; i < tasks; i++)
        heap[i] = (weight){0, (uint32_t)i};
    qsort(order, units, sizeof *order, largest_first);
    for (size_t i = 0; i < units; i++) {
        task[order[i].number] = heap[0].number;
        heap[0].cost += order[i].cost;
        sink(heap, tasks);
    }
    for (size_t i = 0; i < tasks; i++)
        loads[heap[i].number] = heap[i].cost;
done:
    wt_arena_free(&arena);
    return status;
}
