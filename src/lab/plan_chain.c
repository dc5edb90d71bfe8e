/* Settings that are equal, and groups of a plan that are computed together. */
#include <string.h>

#include "base/memory.h"
#include "lab/plan.h"

/* The grouped parameter is in no setting. */
static bool is_free(const wt_experiment *experiment, size_t parameter, bool together) {
    const char *name = experiment->parameters[parameter].name;
    return (experiment->group != NULL && strcmp(name, experiment->group) == 0) ||
           (together && strcmp(name, experiment->together) == 0);
}

uint32_t wt_plan_setting_hash(const wt_experiment *experiment, const wt_value *values,
                              bool together) {
    uint32_t hash = 0;
    for (size_t i = 0; i < experiment->parameter_count; i++) {
        const char *text = values[i].text;
        if (is_free(experiment, i, together))
            continue;
        hash = text != NULL ? wt_slots_hash(hash, text, strlen(text))
                            : wt_slots_hash(hash, &values[i].number, sizeof(double));
    }
    return hash;
}

bool wt_plan_setting_equal(const wt_experiment *experiment, const wt_value *a, const wt_value *b,
                           bool together) {
    for (size_t i = 0; i < experiment->parameter_count; i++) {
        bool same = a[i].text != NULL && b[i].text != NULL
                        ? strcmp(a[i].text, b[i].text) == 0
                        : a[i].text == b[i].text && a[i].number == b[i].number;
        if (!same && !is_free(experiment, i, together))
            return false;
    }
    return true;
}

static bool may_join(const wt_plan_group *a, const wt_plan_group *b) {
    const wt_trial *x = &a->trial, *y = &b->trial;
    if (a->experiment != b->experiment || x->seed != y->seed || x->rep != y->rep ||
        x->count != y->count)
        return false;
    for (size_t i = 0; i < x->count; i++)
        if (x->sizes[i] != y->sizes[i])
            return false;
    return wt_plan_setting_equal(a->experiment, x->values, y->values, true);
}

wt_status wt_plan_chain(wt_context *context, wt_plan_group *groups, size_t count) {
    wt_slots leaders = {0};
    size_t *last = NULL; /* of the chain that a group leads */
    wt_status status;
    WT_TRY(WT_NEW(context, &last, count, "groups"));
    for (size_t g = 0; g < count; g++) {
        wt_plan_group *group = &groups[g];
        uint32_t hash, leader = 0;
        if (group->experiment->together == NULL)
            continue;
        WT_TRY(wt_context_check_cancelled(context));
        hash = wt_plan_setting_hash(group->experiment, group->trial.values, true);
        hash = wt_slots_hash(hash, &group->trial.rep, sizeof group->trial.rep);
        size_t cursor = wt_slots_start(&leaders, hash);
        while (!group->follows && wt_slots_next(&leaders, hash, &cursor, &leader))
            group->follows = may_join(&groups[leader], group);
        if (group->follows) {
            groups[last[leader]].next = g;
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
