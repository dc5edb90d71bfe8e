/* The float paths of the networks against the plain versions in double, and against themselves. */
#include "base/parallel.h"
#include "network/model/transformer_fast.h"
#include "network_trial.h"

static void floats_follow_doubles(void **state) {
    wt_context *context = *state;
    for (size_t c = 0; c < NETWORK_CASES; c++) {
        trial at;
        wt_network_result result = WT_SIZED(wt_network_result);
        open_trial(context, &network_cases[c], 29, 0.3, &at);
        CHECK_OK(context, wt_network_gradient(context, at.network, at.given, at.batch, 1, 2,
                                              at.gradient, &result));
        check_gradient(&at, &result);
        CHECK_OK(context,
                 wt_network_evaluate(context, at.network, at.given, at.batch, SIZE_MAX, &result));
        CHECK_NEAR(result.loss, at.loss, TOLERANCE);
        CHECK_NEAR(result.miss, plain_miss(&at), TOLERANCE);
        assert_int_equal(result.correct, plain_correct(&at));
        close_trial(&at);
    }
}

/* Both ways through the attention, on every kind of processor this one can stand for. */
static void both_ways_agree(void **state) {
    wt_context *context = *state;
    size_t versions;
    const wt_loops_version *able = wt_loops_able(&versions);
    wt_dropout none = wt_dropout_none();
    for (size_t c = 0; c < NETWORK_CASES; c++) {
        trial at;
        wt_network_result result = WT_SIZED(wt_network_result);
        if (strcmp(network_cases[c].kind, "transformer") != 0)
            continue;
        open_trial(context, &network_cases[c], 13, 0.3, &at);
        for (size_t v = 0; v < versions; v++)
            for (int absorbed = 0; absorbed < 2; absorbed++) {
                wt_transformer_work *work;
                CHECK_OK(context, wt_transformer_work_open(context, at.network, &work));
                work->loops = able[v].transformer;
                work->common = able[v].network;
                CHECK_OK(context,
                         wt_transformer_gradient_by(context, at.network, absorbed == 1, &none,
                                                    at.given, at.batch, at.gradient, &result));
                check_gradient(&at, &result);
                CHECK_OK(context, wt_network_evaluate(context, at.network, at.given, at.batch,
                                                      SIZE_MAX, &result));
                CHECK_NEAR(result.loss, at.loss, TOLERANCE);
            }
        close_trial(&at);
    }
}

/* The same weights and blocks dropped, no token: scores near each other, then far apart, which
 * takes a softmax for every sample. There an error of 1e-7 in a score of some hundreds is one of
 * 1e-4 in its weight, and heads that look at one token have small slopes. */
static void both_ways_drop_the_same(void **state) {
    wt_context *context = *state;
    const wt_network_spec shape = {.kind = "transformer",
                                   .length = 21,
                                   .dim = 16,
                                   .heads = 4,
                                   .hidden = 8,
                                   .attention_drop = 0.3,
                                   .block_drop = 0.2};
    wt_dropout dropout = wt_dropout_for(&shape, wt_dropout_key(3, 4));
    for (int far = 0; far < 2; far++) {
        trial at;
        wt_network_result absorbed = WT_SIZED(wt_network_result),
                          tables = WT_SIZED(wt_network_result);
        double error = 0, norm = 0;
        open_trial(context, &shape, 53, far ? 6 : 0.3, &at);
        float *other;
        CHECK_OK(context, WT_NEW(context, &other, at.size, "gradient"));
        CHECK_OK(context, wt_transformer_gradient_by(context, at.network, true, &dropout, at.given,
                                                     at.batch, other, &absorbed));
        CHECK_OK(context, wt_transformer_gradient_by(context, at.network, false, &dropout, at.given,
                                                     at.batch, at.gradient, &tables));
        assert_int_equal(((wt_transformer_work *)at.network->work)->narrow, !far);
        for (size_t i = 0; i < at.size; i++) {
            error += pow(at.gradient[i] - other[i], 2);
            norm += pow(other[i], 2);
        }
        assert_true(norm > 0 && fabs(absorbed.loss - at.loss) > 1e-3); /* something was dropped */
        CHECK_NEAR(sqrt(error / norm), 0, far ? 1e-2 : TOLERANCE);
        CHECK_NEAR(tables.loss, absorbed.loss, (far ? 2e-3 : TOLERANCE) * absorbed.loss);
        wt_release(other);
        close_trial(&at);
    }
}

static void attention_is_the_plain_one(void **state) {
    wt_context *context = *state;
    for (size_t c = 0; c < NETWORK_CASES; c++) {
        trial at;
        double *wanted;
        float *got;
        if (strcmp(network_cases[c].kind, "mlp") == 0)
            continue;
        open_trial(context, &network_cases[c], 9, 0.3, &at);
        size_t count = 9 * wt_network_get_spec(at.network)->heads * (network_cases[c].length + 1);
        CHECK_OK(context, WT_NEW(context, &wanted, count, "weights"));
        CHECK_OK(context, WT_NEW(context, &got, count, "weights"));
        CHECK_OK(context, wt_network_plain(context, at.network, at.parameters, at.batch, NULL, NULL,
                                           NULL, wanted));
        CHECK_OK(context, wt_network_attention(context, at.network, at.given, at.batch, got));
        for (size_t i = 0; i < count; i++)
            CHECK_NEAR(got[i], wanted[i], TOLERANCE);
        wt_release(wanted);
        wt_release(got);
        close_trial(&at);
    }
}

/* Scores further apart than exp can tell in float: most heads look at a single token. An error of
 * 1e-7 in a score of some hundreds is one of 1e-4 in its weight. */
static void sharp_attention(void **state) {
    wt_context *context = *state;
    const wt_network_spec cases[] = {
        {.kind = "transformer", .length = 21, .dim = 16, .heads = 4, .hidden = 8},
        {.kind = "head", .length = 21, .dim = 8}};
    for (size_t c = 0; c < 2; c++) {
        trial at;
        wt_network_result result = WT_SIZED(wt_network_result);
        open_trial(context, &cases[c], 40, c == 0 ? 6 : 12, &at);
        CHECK_OK(context,
                 wt_network_evaluate(context, at.network, at.given, at.batch, SIZE_MAX, &result));
        CHECK_NEAR(result.loss, at.loss, 2e-3 * at.loss);
        if (c == 0)
            assert_false(((wt_transformer_work *)at.network->work)->narrow);
        CHECK_OK(context, wt_network_gradient(context, at.network, at.given, at.batch, 1, 2,
                                              at.gradient, &result));
        CHECK_NEAR(result.loss, at.loss, 2e-3 * at.loss);
        close_trial(&at);
    }
}

/* Judging stops after the round that has more errors than asked for. */
static void judging_stops_early(void **state) {
    wt_context *context = *state;
    const char *const kinds[] = {"transformer", "head", "mlp"};
    for (size_t k = 0; k < 3; k++) {
        wt_network_spec spec = {.kind = kinds[k], .length = 9, .dim = 8, .heads = 2, .hidden = 8};
        trial at;
        wt_network_result all = WT_SIZED(wt_network_result), some = WT_SIZED(wt_network_result);
        open_trial(context, &spec, 3000, 0.3, &at);
        CHECK_OK(context,
                 wt_network_evaluate(context, at.network, at.given, at.batch, SIZE_MAX, &all));
        CHECK_OK(context, wt_network_evaluate(context, at.network, at.given, at.batch, 10, &some));
        assert_int_equal(all.samples, 3000);
        assert_true(some.samples < 600); /* labels are coins: half of a first round is wrong */
        assert_true(some.samples - some.correct > 10);
        size_t errors = all.samples - all.correct;
        CHECK_OK(context,
                 wt_network_evaluate(context, at.network, at.given, at.batch, errors, &some));
        assert_int_equal(some.samples, 3000);
        assert_int_equal(some.correct, all.correct);
        close_trial(&at);
    }
}

static const wt_network_spec dropped[] = {
    {.kind = "transformer",
     .length = 50,
     .dim = 64,
     .heads = 16,
     .embedding_drop = 0.1,
     .attention_drop = 0.1,
     .block_drop = 0.1},
    {.kind = "transformer",
     .length = 33,
     .dim = 24,
     .heads = 2,
     .attention_drop = 0.2,
     .block_drop = 0.3},
    {.kind = "mlp", .length = 20, .hidden = 12, .embedding_drop = 0.2, .block_drop = 0.1},
    {.kind = "head", .length = 30, .dim = 7},
};
enum { DROPPED = sizeof dropped / sizeof *dropped };

static void bits_do_not_depend_on_threads(void **state) {
    wt_context *context = *state;
    int before = wt_context_threads(context);
    for (size_t c = 0; c < DROPPED; c++) {
        trial at;
        float *first;
        wt_network_result wanted = WT_SIZED(wt_network_result), got = WT_SIZED(wt_network_result),
                          judged_one = WT_SIZED(wt_network_result),
                          judged = WT_SIZED(wt_network_result);
        open_trial(context, &dropped[c], 75, 0.3, &at);
        CHECK_OK(context, WT_NEW(context, &first, at.size, "gradient"));
        for (int threads = 1; threads <= 4; threads *= 2) {
            CHECK_OK(context, wt_context_set_threads(context, threads));
            CHECK_OK(context, wt_network_gradient(context, at.network, at.given, at.batch, 7, 3,
                                                  threads == 1 ? first : at.gradient,
                                                  threads == 1 ? &wanted : &got));
            CHECK_OK(context, wt_network_evaluate(context, at.network, at.given, at.batch, SIZE_MAX,
                                                  threads == 1 ? &judged_one : &judged));
            if (threads == 1)
                continue;
            assert_memory_equal(first, at.gradient, at.size * sizeof *first);
            assert_memory_equal(&wanted.loss, &got.loss, sizeof got.loss);
            assert_memory_equal(&judged_one.loss, &judged.loss, sizeof judged.loss);
        }
        wt_release(first);
        close_trial(&at);
    }
    CHECK_OK(context, wt_context_set_threads(context, before));
}

typedef struct {
    const wt_network_spec *spec;
    const wt_bits *batch;
    const float *parameters;
    float *gradients; /* (items, size) */
    size_t size;
} many;

/* A trial of its own, with a context of one thread, inside somebody's parallel loop. */
static wt_status one_of_many(void *argument, size_t begin, size_t end, int worker) {
    const many *job = argument;
    wt_status status = WT_OK;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        wt_context *context = NULL;
        wt_network *network = NULL;
        wt_network_result result = WT_SIZED(wt_network_result);
        WT_TRY(wt_context_new(&context));
        WT_TRY(wt_context_set_threads(context, 1));
        network = open_network(context, job->spec);
        WT_TRY(wt_network_gradient(context, network, job->parameters, job->batch, 7, 3,
                                   job->gradients + i * job->size, &result));
        wt_network_free(network);
        wt_context_free(context);
    }
done:
    return status;
}

static void trials_run_side_by_side(void **state) {
    wt_context *context = *state;
    int before = wt_context_threads(context);
    trial at;
    wt_network_result result = WT_SIZED(wt_network_result);
    open_trial(context, &dropped[0], 30, 0.3, &at);
    many job = {.spec = &dropped[0], .batch = at.batch, .parameters = at.given, .size = at.size};
    CHECK_OK(context, WT_NEW(context, &job.gradients, 6 * at.size, "gradients"));
    CHECK_OK(context, wt_context_set_threads(context, 4));
    CHECK_OK(context, wt_parallel_for(context, 6, 1, one_of_many, &job));
    CHECK_OK(context, wt_network_gradient(context, at.network, at.given, at.batch, 7, 3,
                                          at.gradient, &result));
    for (size_t i = 0; i < 6; i++)
        assert_memory_equal(job.gradients + i * at.size, at.gradient,
                            at.size * sizeof *at.gradient);
    CHECK_OK(context, wt_context_set_threads(context, before));
    wt_release(job.gradients);
    close_trial(&at);
}

/* Every allocation that a call makes fails once; the next call is as good as any. */
static void failed_calls_leave_a_network_whole(void **state) {
    wt_context *context = *state;
    for (size_t c = 0; c < DROPPED; c++) {
        trial at;
        float *wanted;
        wt_network_result result = WT_SIZED(wt_network_result);
        open_trial(context, &dropped[c], 30, 0.3, &at);
        CHECK_OK(context, WT_NEW(context, &wanted, at.size, "gradient"));
        CHECK_OK(context, wt_network_gradient(context, at.network, at.given, at.batch, 7, 3, wanted,
                                              &result));
        wt_status status = WT_MEMORY;
        for (long k = 1; status == WT_MEMORY; k++) {
            wt_network *fresh = open_network(context, &dropped[c]);
            atomic_store(&context->allocation_to_fail, k);
            status =
                wt_network_gradient(context, fresh, at.given, at.batch, 7, 3, at.gradient, &result);
            if (status == WT_OK)
                status = wt_network_evaluate(context, fresh, at.given, at.batch, SIZE_MAX, &result);
            atomic_store(&context->allocation_to_fail, 0);
            assert_true(k > 1 || status == WT_MEMORY);
            CHECK_OK(context, wt_network_gradient(context, fresh, at.given, at.batch, 7, 3,
                                                  at.gradient, &result));
            assert_memory_equal(wanted, at.gradient, at.size * sizeof *wanted);
            wt_network_free(fresh);
        }
        assert_int_equal(status, WT_OK);
        wt_release(wanted);
        close_trial(&at);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_follow_doubles),
        cmocka_unit_test(both_ways_agree),
        cmocka_unit_test(both_ways_drop_the_same),
        cmocka_unit_test(attention_is_the_plain_one),
        cmocka_unit_test(sharp_attention),
        cmocka_unit_test(judging_stops_early),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(trials_run_side_by_side),
        cmocka_unit_test(failed_calls_leave_a_network_whole),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
