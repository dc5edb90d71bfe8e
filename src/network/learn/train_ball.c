/* Hard norm balls: every matrix goes back to the nearest one in its balls after each step. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "network/learn/trainer.h"
#include "network/model/norms.h"

enum { NORMS = 3, CYCLES = 1000 };
/* Of the radius: what rounding to float may add. A matrix that was projected counts as inside, and
 * is not projected once more. */
#define SLACK 1e-6
#define CLOSE 1e-10 /* a cycle that moves the matrix by less of its size is the last */

static const struct {
    const char *name;
    wt_norm_kind kind;
} norms[NORMS] = {{"spectral", WT_SPECTRAL}, {"frobenius", WT_FROBENIUS}, {"two-one", WT_COLUMNS}};

/* The balls of one matrix name. */
struct wt_train_group {
    char name[WT_TRAIN_NAME];
    size_t count;
    wt_norm_kind kind[NORMS];
    double radius[NORMS];
};

static wt_status no_ball(wt_context *context, const char *item, const char *why) {
    return wt_fail(context, WT_USAGE,
                   "no ball: '%s' %s (write matrix.norm=radius, as qk.two-one=8; norms: spectral, "
                   "frobenius, two-one)",
                   item, why);
}

static wt_train_group *group_of(wt_trainer *trainer, const char *name) {
    for (size_t i = 0; i < trainer->group_count; i++)
        if (strcmp(trainer->groups[i].name, name) == 0)
            return &trainer->groups[i];
    wt_train_group *group = &trainer->groups[trainer->group_count++];
    *group = (wt_train_group){0};
    snprintf(group->name, sizeof group->name, "%s", name);
    return group;
}

/* Whether the matrix is one that stays as drawn. */
static bool is_fixed(const wt_trainer *trainer, const wt_train_matrix *matrix) {
    const wt_network_tensor *tensors = trainer->network->tensors;
    for (size_t i = 0; i < trainer->network->tensor_count; i++)
        if (matrix->offset - tensors[i].offset < tensors[i].rows * tensors[i].columns)
            return tensors[i].fixed;
    return false;
}

/* Splits "qk.two-one=8" in place. */
static wt_status read_item(wt_context *context, wt_trainer *trainer, char *item) {
    char whole[WT_TRAIN_NAME * 2];
    size_t n = 0;
    double radius;
    snprintf(whole, sizeof whole, "%s", item);
    wt_utf8_trim(whole);
    char *dot = strchr(item, '.'), *equals = dot == NULL ? NULL : strchr(dot, '=');
    if (equals == NULL || dot == item || dot - item >= WT_TRAIN_NAME)
        return no_ball(context, whole, "is not of that form");
    *dot = *equals = '\0';
    while (n < NORMS && strcmp(norms[n].name, dot + 1) != 0)
        n++;
    if (n == NORMS)
        return no_ball(context, whole, "names no norm");
    if (!wt_real_parse(equals + 1, &radius) || !(radius > 0))
        return no_ball(context, whole, "has no radius above 0");
    if (wt_train_matrix_count(trainer, item) == 0)
        return no_ball(context, whole, "names no matrix of this network");
    /* w_qk and its short name are one matrix: its balls belong together. */
    wt_train_matrix matrix = wt_train_matrix_at(trainer, item, 0);
    if (is_fixed(trainer, &matrix))
        return no_ball(context, whole, "names a matrix that is not trained");
    wt_train_group *group =
        group_of(trainer, strchr(matrix.name, '.') == NULL ? matrix.name : item);
    for (size_t i = 0; i < group->count; i++)
        if (group->kind[i] == norms[n].kind)
            return no_ball(context, whole, "is given twice");
    group->kind[group->count] = norms[n].kind;
    group->radius[group->count++] = radius;
    return WT_OK;
}

wt_status wt_train_balls_open(wt_context *context, wt_trainer *trainer, const char *text) {
    char *copy = NULL;
    size_t most = 1;
    wt_status status = WT_OK;
    if (text == NULL)
        goto done;
    for (const char *at = text; *at != '\0'; at++)
        most += *at == ',';
    WT_TRY(wt_copy_text(context, &copy, text, "balls"));
    trainer->groups = WT_TAKE(&trainer->arena, wt_train_group, most);
    trainer->before = WT_TAKE(&trainer->arena, float, 3, trainer->size);
    WT_TRY(trainer->arena.status);
    for (char *at = copy; at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma++ = '\0';
        WT_TRY(read_item(context, trainer, at));
        at = comma;
    }
done:
    wt_release(copy);
    return status;
}

/* Whether the norm is at most the radius, but for the slack. The spectral norm is below that of
 * Frobenius, which costs no singular values. */
static wt_status is_inside(wt_context *context, wt_norm_kind kind, double radius,
                           const wt_train_matrix *matrix, const double *a, bool *out) {
    double norm, most = radius * (1 + SLACK);
    if (kind == WT_SPECTRAL) {
        WT_PASS(wt_norm(context, WT_FROBENIUS, matrix->rows, matrix->columns, a, matrix->columns,
                        &norm));
        *out = norm <= most;
        if (*out)
            return WT_OK;
    }
    WT_PASS(wt_norm(context, kind, matrix->rows, matrix->columns, a, matrix->columns, &norm));
    *out = norm <= most;
    return WT_OK;
}

/* One cycle of Dykstra's method: a = P_i(a + p_i), p_i = what that took away, ball by ball. */
static wt_status cycle(wt_context *context, const wt_train_group *group,
                       const wt_train_matrix *matrix, double *a, double *taken) {
    size_t count = matrix->rows * matrix->columns;
    for (size_t b = 0; b < group->count; b++) {
        double *p = taken + b * count;
        for (size_t i = 0; i < count; i++) {
            a[i] += p[i];
            p[i] = a[i];
        }
        WT_PASS(wt_project(context, group->kind[b], group->radius[b], matrix->rows, matrix->columns,
                           a, matrix->columns));
        for (size_t i = 0; i < count; i++)
            p[i] -= a[i];
    }
    return WT_OK;
}

/* The limit of the cycles is the nearest matrix in all balls; what is left over a radius where they
 * end is scaled away. */
static wt_status project_all(wt_context *context, const wt_train_group *group,
                             const wt_train_matrix *matrix, double *a) {
    size_t count = matrix->rows * matrix->columns;
    wt_arena arena = wt_arena_start(context, "a projection");
    double *taken = WT_TAKE_ZERO(&arena, double, group->count, count);
    double *last = WT_TAKE(&arena, double, count), norm;
    wt_status status;
    WT_TRY(arena.status);
    for (int round = 0; round < CYCLES; round++) {
        memcpy(last, a, count * sizeof *a);
        WT_TRY(cycle(context, group, matrix, a, taken));
        for (size_t i = 0; i < count; i++)
            last[i] -= a[i];
        if (wt_length_of(count, last) <= CLOSE * wt_length_of(count, a))
            break;
    }
    for (size_t b = 0; b < group->count; b++) {
        WT_TRY(wt_norm(context, group->kind[b], matrix->rows, matrix->columns, a, matrix->columns,
                       &norm));
        for (size_t i = 0; norm > group->radius[b] && i < count; i++)
            a[i] *= group->radius[b] / norm;
    }
done:
    wt_arena_free(&arena);
    return status;
}

static wt_status project_matrix(wt_context *context, wt_trainer *trainer,
                                const wt_train_group *group, const wt_train_matrix *matrix) {
    double *a = NULL;
    bool inside = true;
    wt_status status;
    WT_TRY(WT_NEW2(context, &a, matrix->rows, matrix->columns, "a matrix in a ball"));
    WT_TRY(wt_train_matrix_load(context, trainer, matrix, a));
    for (size_t b = 0; inside && b < group->count; b++)
        WT_TRY(is_inside(context, group->kind[b], group->radius[b], matrix, a, &inside));
    if (inside)
        goto done;
    if (group->count == 1)
        WT_TRY(wt_project(context, group->kind[0], group->radius[0], matrix->rows, matrix->columns,
                          a, matrix->columns));
    else
        WT_TRY(project_all(context, group, matrix, a));
    WT_TRY(wt_train_matrix_store(context, trainer, matrix, a));
done:
    wt_release(a);
    return status;
}

wt_status wt_train_project(wt_context *context, wt_trainer *trainer) {
    for (size_t g = 0; g < trainer->group_count; g++) {
        const wt_train_group *group = &trainer->groups[g];
        size_t count = wt_train_matrix_count(trainer, group->name);
        for (size_t i = 0; i < count; i++) {
            wt_train_matrix matrix = wt_train_matrix_at(trainer, group->name, i);
            WT_PASS(project_matrix(context, trainer, group, &matrix));
        }
    }
    return WT_OK;
}
