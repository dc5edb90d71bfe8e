/* Cells of the five experiments keep the names they had when parameters stood in tables of the
 * laboratory alone: stores from then are resumed. Both spellings of a parameter name one cell. */
#include "check.h"
#include "lab/plan.h"

enum { MOST_KEYS = 12 };

static const struct {
    const char *hash;
    const char *keys[MOST_KEYS];
} cells[] = {
    {"d2e6097794cfd50bdf2cac97dc9eb535108005cfcdf93101631bf1176edbbf45",
     {"experiment=train", "task=and:2", "length=8", "m=30", "steps=20", "dim=16", "heads=4"}},
    {"d2e6097794cfd50bdf2cac97dc9eb535108005cfcdf93101631bf1176edbbf45",
     {"experiment=train", "task=and:2", "length=8", "samples=30", "steps=20", "dim=16", "heads=4",
      "success=0.99"}},
    {"7969abd9d6450c538e843f41f5e5317578a680b12225ea1484c00a73704b44e3",
     {"experiment=train", "task=and:2", "length=8", "m=30", "steps=20", "model=head", "dim-ratio=2",
      "settle=0.01", "gap-starts=2", "success-accuracy=0.9", "ball=v.spectral=2"}},
    {"e63a2de9932691a691b7de9dd3f34e818629a87738b19a12d67015541a849ab1",
     {"experiment=train", "task=and:2", "length=8", "online=30", "steps=20", "model=mlp", "dim=8"}},
    {"3365f88bebfb851f7151e89c400d5e782cca278f503e0959e63413bf9713f6e7",
     {"experiment=threshold", "task=and:2", "length=8", "m=30", "steps=20", "model=mlp",
      "keep-ambiguous=yes", "probability=0.25"}},
    {"60ff6fc449c9f5cbae95229a7b306299e89cb8504affc83074bd8dc2fe218c42",
     {"experiment=recover", "dim=3", "heads=2", "samples-ratio=2"}},
    {"b2affe9859b81e53ed8a8004aa5677c321f05a26c170d8ad87f46ae69bc9e5d7",
     {"experiment=recover", "dim=3", "heads=2", "method=query", "degenerate=parallel"}},
    {"275845215956993744f24721fde5e5ffc01b9f4b055ca2081d17814e796ee01b", /* fit-rank stays 0 */
     {"experiment=recover", "rank=1"}},
    {"240eb0a16eaa5c05f43f6c93b77fbd2004149749e954fdf8b9b3945dfd29119e",
     {"experiment=curve", "model=brfa", "target=mean-power:2", "n=16", "dim=4", "keys=4",
      "heads=20", "lambda=loo"}},
    {"d4f3c08bd8439b36503fdeca23bb5d829802de4d61f39ade2d94d9c4ed33429d",
     {"experiment=curve", "model=rfa", "target=mean-power:2", "n=16", "dim=4", "keys=4", "heads=20",
      "ball=4,16"}},
    {"51bb8f11c76b8c3486cb0eb5f2404c0a35b54c6d7f35c5c475f97c84870d51e6",
     {"experiment=construct", "function=and:2", "length=50", "positions=random",
      "fixed-length=20"}},
};

static void read_keys(wt_context *context, const char *const *keys, wt_sweep_spec **out) {
    CHECK_OK(context, wt_sweep_spec_parse(context, "", out));
    for (size_t i = 0; i < MOST_KEYS && keys[i] != NULL; i++)
        CHECK_OK(context, wt_sweep_spec_set(context, *out, keys[i]));
    CHECK_OK(context, wt_sweep_spec_set(context, *out, "reps=1"));
    CHECK_OK(context, wt_sweep_spec_set(context, *out, "seed=1009"));
}

static void names_stay(void **state) {
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        wt_sweep_spec *spec;
        wt_plan *plan;
        wt_cell_form form = {0};
        char hash[WT_HASH_TEXT];
        read_keys(*state, cells[i].keys, &spec);
        CHECK_OK(*state, wt_plan_new(*state, spec, (wt_shard){0, 1}, &plan));
        assert_int_equal(plan->cell_count, 1);
        const wt_plan_group group = wt_plan_at(plan, 0);
        CHECK_OK(*state, wt_plan_name(*state, &group, 0, &form, hash));
        assert_string_equal(hash, cells[i].hash);
        wt_cell_form_free(&form);
        wt_plan_free(plan);
        wt_sweep_spec_free(spec);
    }
}

static void one_spelling_at_a_time(void **state) {
    static const char *const keys[MOST_KEYS] = {"experiment=train", "m=30", "samples=30"};
    wt_sweep_spec *spec;
    wt_plan *plan;
    read_keys(*state, keys, &spec);
    CHECK_FAILS(*state, wt_plan_new(*state, spec, (wt_shard){0, 1}, &plan), WT_USAGE,
                "samples: is 'm', which is given too");
    wt_plan_free(plan);
    wt_sweep_spec_free(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stay),
        cmocka_unit_test(one_spelling_at_a_time),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
