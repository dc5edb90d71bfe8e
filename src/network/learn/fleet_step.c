/* Steps and judgements of a crew. All decisions are those of train_state.c. */
#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "network/learn/fleet_parts.h"
#include "network/model/network_dropout.h"

/* ---- opening ---- */

static size_t windows_of(const wt_train_spec *setting) {
    return (setting->validation_samples + WT_FLEET_COUNTED - 1) / WT_FLEET_COUNTED;
}

wt_status wt_fleet_open(wt_context *context, wt_fleet_crew *crew, const wt_train_spec *setting,
                        size_t samples, size_t wanted) {
    WT_PASS(wt_train_network_open(context, setting, &crew->network));
    const wt_network *network = crew->network;
    const wt_fleet_form form = {.spec = &network->spec,
                                .tensors = network->tensors,
                                .tensor_count = network->tensor_count,
                                .size = network->size,
                                .rate = setting->rate,
                                .weight_decay = setting->weight_decay,
                                .clip = setting->clip,
                                .decoupled = setting->decoupled,
                                .online = setting->online > 0,
                                .samples = samples,
                                .networks = wanted};
    crew->context = context;
    crew->arena = wt_arena_start(context, "a fleet");
    wt_arena *arena = &crew->arena;
    WT_PASS(crew->engine->begin(context, crew->device, &form, &crew->slots, &crew->fleet));
    crew->members = WT_TAKE_ZERO(arena, wt_fleet_member, crew->slots);
    crew->list = WT_TAKE(arena, size_t, crew->slots);
    crew->orders = WT_TAKE(arena, wt_fleet_order, crew->slots);
    crew->keys = WT_TAKE(arena, uint64_t, crew->slots, WT_FLEET_BITE);
    crew->outcomes = WT_TAKE(arena, wt_fleet_outcome, crew->slots, WT_FLEET_BITE);
    crew->counts = WT_TAKE(arena, uint32_t, crew->slots, windows_of(setting));
    crew->starts = WT_TAKE(arena, float, WT_FLEET_STARTS, network->size);
    return arena->status;
}

void wt_fleet_member_clear(wt_fleet_member *one) {
    wt_sparse_task_free(one->task);
    wt_bits_free(one->set);
    wt_release(one->state.history);
    *one = (wt_fleet_member){0};
}

void wt_fleet_close(wt_fleet_crew *crew) {
    for (size_t i = 0; crew->members != NULL && i < crew->slots; i++)
        wt_fleet_member_clear(&crew->members[i]);
    if (crew->fleet != NULL)
        crew->engine->end(crew->fleet);
    wt_network_free(crew->network);
    wt_arena_free(&crew->arena);
}

/* What the engine is told of a task and its training set. */
wt_status wt_fleet_give(const wt_fleet_crew *crew, size_t slot, const wt_train_spec *setting,
                        const wt_sparse_task *task, const wt_bits *set) {
    wt_fleet_task about = {.samples = set->samples};
    if (setting->online == 0) {
        about.bit = set->bit;
        about.label = set->label;
    }
    if (task != NULL) {
        about.inputs = wt_stream_for(task->seed, "train", 0);
        about.flips = wt_stream_for(task->seed, "train", 1);
        about.judged = wt_stream_for(task->seed, "validate", 0);
        about.threshold = wt_sparse_task_threshold(task);
        about.noise = task->noise;
        about.bits = task->function->bits;
        about.relevant = task->relevant;
        about.value = task->function->value;
    }
    return crew->engine->draw(crew->context, crew->fleet, slot, &about);
}

/* ---- starts ---- */

typedef struct {
    const wt_fleet_crew *crew;
    const size_t *slots;
} drawing;

static wt_status draw_starts(void *argument, size_t begin, size_t end, int worker) {
    const drawing *of = argument;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const wt_fleet_member *one = &of->crew->members[of->slots[i]];
        wt_train_start(&one->setting, of->crew->network, one->state.run,
                       of->crew->starts + i * of->crew->network->size);
    }
    return WT_OK;
}

/* The networks of these slots at the start of their runs. */
wt_status wt_fleet_put_starts(const wt_fleet_crew *crew, const size_t *slots, size_t count) {
    for (size_t first = 0; first < count; first += WT_FLEET_STARTS) {
        size_t some = count - first < WT_FLEET_STARTS ? count - first : WT_FLEET_STARTS;
        drawing of = {crew, slots + first};
        WT_PASS(wt_parallel_for(crew->context, some, 1, draw_starts, &of));
        for (size_t i = 0; i < some; i++)
            WT_PASS(crew->engine->put(crew->context, crew->fleet, slots[first + i],
                                      crew->starts + i * crew->network->size, NULL, NULL));
    }
    return WT_OK;
}

/* ---- steps ---- */

size_t wt_fleet_list(const wt_fleet_crew *crew) {
    size_t count = 0;
    for (size_t slot = 0; slot < crew->slots; slot++)
        if (crew->members[slot].live)
            crew->list[count++] = slot;
    return count;
}

/* As many steps as all may take before one of them is judged. */
wt_status wt_fleet_steps(const wt_fleet_crew *crew, size_t count, size_t most, size_t *taken) {
    size_t steps = most < WT_FLEET_BITE ? most : WT_FLEET_BITE;
    for (size_t i = 0; i < count; i++) {
        const wt_fleet_member *one = &crew->members[crew->list[i]];
        size_t may = wt_train_state_free_steps(&one->setting, &one->state);
        steps = may < steps ? may : steps;
    }
    for (size_t i = 0; i < count; i++) {
        const wt_fleet_member *one = &crew->members[crew->list[i]];
        const wt_train_spec *setting = &one->setting;
        uint64_t seed = wt_seed_for(setting->seed, "dropout", one->state.run);
        uint64_t batch = (uint64_t)one->state.run * setting->steps + one->state.step;
        uint64_t *keys = crew->keys + i * WT_FLEET_BITE;
        for (size_t k = 0; k < steps; k++)
            keys[k] = wt_dropout_key(seed, one->state.step + k);
        crew->orders[i] = (wt_fleet_order){.slot = crew->list[i],
                                           .step = one->state.step,
                                           .first = batch * setting->online,
                                           .keys = keys};
    }
    *taken = steps;
    WT_PASS(
        crew->engine->step(crew->context, crew->fleet, count, crew->orders, steps, crew->outcomes));
    for (size_t i = 0; i < count; i++) {
        wt_fleet_member *one = &crew->members[crew->list[i]];
        double samples =
            (double)(one->setting.online > 0 ? one->setting.online : one->setting.samples);
        for (size_t k = 0; k < steps; k++) {
            const wt_fleet_outcome *found = &crew->outcomes[i * steps + k];
            one->broken |= isnan(found->loss);
            if (one->broken)
                break;
            wt_train_state_step(&one->setting, &one->state, found->loss, found->correct / samples);
        }
    }
    return WT_OK;
}

/* ---- validation ---- */

/* Samples judged before a network looks at the errors: see wt_network_evaluate. */
static size_t round_of(const wt_network *network) {
    return network->kind == &wt_kind_head ? 128 : 256;
}

/* Takes what was counted of samples first .. first + judged - 1 of the validation. Returns whether
 * it wants more. */
static bool feed(const wt_fleet_crew *crew, wt_fleet_member *one, size_t first, size_t judged,
                 const uint32_t *counts) {
    size_t round = round_of(crew->network);
    while (one->piece > 0 && one->at.asked <= first + judged) {
        size_t begin = one->at.asked - one->piece, done = 0, correct = 0;
        while (done < one->piece && done - correct <= one->max_errors) {
            size_t end = one->piece - done < round ? one->piece : done + round;
            for (; done < end; done += WT_FLEET_COUNTED)
                correct += counts[(begin + done - first) / WT_FLEET_COUNTED];
            done = end;
        }
        one->at.judged += done;
        one->at.correct += correct;
        one->piece =
            wt_train_validation_next(&one->setting, &one->state, &one->at, &one->max_errors);
    }
    return one->piece > 0;
}

/* Judges the members of the list: few samples first, and more where these do not tell. */
static wt_status judge(const wt_fleet_crew *crew, size_t count) {
    size_t first = 0, ask = WT_TRAIN_PIECE;
    for (size_t i = 0; i < count; i++) {
        wt_fleet_member *one = &crew->members[crew->list[i]];
        one->at = wt_train_validation_start(&one->setting);
        one->piece =
            wt_train_validation_next(&one->setting, &one->state, &one->at, &one->max_errors);
        if (!one->setting.hasty)
            ask = one->setting.validation_samples;
    }
    while (count > 0) {
        size_t all = crew->members[crew->list[0]].setting.validation_samples, left = 0;
        size_t some = all - first < ask ? all - first : ask;
        size_t windows = (some + WT_FLEET_COUNTED - 1) / WT_FLEET_COUNTED;
        for (size_t i = 0; i < count; i++) {
            const wt_fleet_member *one = &crew->members[crew->list[i]];
            crew->orders[i] = (wt_fleet_order){.slot = crew->list[i],
                                               .first = (uint64_t)one->state.points * all + first};
        }
        WT_PASS(crew->engine->judge(crew->context, crew->fleet, count, crew->orders, some,
                                    crew->counts));
        for (size_t i = 0; i < count; i++)
            if (feed(crew, &crew->members[crew->list[i]], first, some, crew->counts + i * windows))
                crew->list[left++] = crew->list[i];
        count = left;
        first += some;
        ask *= 4;
    }
    return WT_OK;
}

static bool is_due(const wt_fleet_member *one) {
    return one->live && !one->broken && wt_train_state_free_steps(&one->setting, &one->state) == 0;
}

/* Validates those that are due: they begin anew, or have ended, or go on. */
wt_status wt_fleet_validate(const wt_fleet_crew *crew) {
    size_t due = 0, again = 0;
    for (size_t slot = 0; slot < crew->slots; slot++) {
        if (is_due(&crew->members[slot]))
            crew->list[due++] = slot;
    }
    WT_PASS(judge(crew, due));
    for (size_t slot = 0; slot < crew->slots; slot++) {
        wt_fleet_member *one = &crew->members[slot];
        if (!is_due(one))
            continue;
        WT_PASS(wt_train_state_add(crew->context, &one->state,
                                   (double)one->at.correct / (double)one->at.judged));
        if (wt_train_state_conclude(&one->setting, &one->state))
            crew->list[again++] = slot;
    }
    return wt_fleet_put_starts(crew, crew->list, again);
}
