/* Groups of a plan that are computed together. */
#include <string.h>

#include "base/memory.h"
#include "lab/plan.h"
#include "lab/slots.h"

/* Parameters that groups of one call may differ in: the grouped one, which is in no setting, and
 * the one that the experiment takes together. */
static bool is_free(const wt_experiment *experiment, size_t parameter) {
    const char *name = experiment->parameters[parameter].name;
    return strcmp(name, experiment->together) == 0 || strcmp(name, experiment->group) == 0;
}

static uint32_t hash_of(const wt_plan_group *group) {
    const wt_trial *trial = &group->trial;
    uint32_t hash = wt_slots_hash(0, &trial->rep, sizeof trial->rep);
    for (size_t i = 0; i < group->experiment->parameter_count; i++) {
        const char *text = trial->values[i].text;
        if (is_free(group->experiment, i))
            continue;
        hash = text != NULL ? wt_slots_hash(hash, text, strlen(text))
                            : wt_slots_hash(hash, &trial->values[i].number, sizeof(double));
    }
    return hash;
}

static bool may_join(const wt_plan_group *a, const wt_plan_group *b) {
    const wt_trial *x = &a->trial, *y = &b->trial;
    if (a->experiment != b->experiment || x->seed != y->seed || x->rep != y->rep ||
        x->count != y->count)
        return false;
    for (size_t i = 0; i < x->count; i++)
        if (x->sizes[i] != y->sizes[i])
            return false;
    for (size_t i = 0; i < a->experiment->parameter_count; i++) {
        wt_value u = x->values[i], v = y->values[i];
        bool same = u.text != NULL && v.text != NULL ? strcmp(u.text, v.text) == 0
                                                     : u.text == v.text && u.number == v.number;
        if (!same && !is_free(a->experiment, i))
            return false;
    }
    return true;
}

wt_status wt_plan_chain(wt_context *context, wt_plan *plan) {
    wt_slots leaders = {0};
    size_t *last = NULL; /* of the chain that a group leads */
    wt_status status;
    WT_TRY(WT_NEW(context, &last, plan->group_count, "groups"));
    for (size_t g = 0; g < plan->group_count; g++) {
        wt_plan_group *group = &plan->groups[g];
        uint32_t hash, leader = 0;
        if (group->experiment->together == NULL)
            continue;
        WT_TRY(wt_context_check_cancelled(context));
        hash = hash_of(group);
        size_t cursor = wt_slots_start(&leaders, hash);
        while (!group->follows && wt_slots_next(&leaders, hash, &cursor, &leader))
            group->follows = may_join(&plan->groups[leader], group);
        if (group->follows) {
            plan->groups[last[leader]].next = g;
            last[leader] = g;
            continue;
        }
        last[g] = g;
        WT_TRY(wt_slots_add(context, &leaders, hash, (uint32_t)g));
    }
done:
    wt_slots_free(&leaders);
    wt_release(last);
    return status;
}
