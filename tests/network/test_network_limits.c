/* The float paths of the networks at their limits: numbers that are none, and memory. */
#include "network/model/transformer_fast.h"
#include "network_trial.h"

static const wt_network_tensor *tensor_of(const trial *at, const char *name) {
    const wt_network_tensor *tensors = at->network->tensors;
    while (strcmp(tensors->name, name) != 0)
        tensors++;
    return tensors;
}

/* One NaN among the parameters: no loss, gradient or attention weight hides it, on any kind of
 * processor, by tables or absorbed. */
static void not_a_number_stays(void **state) {
    wt_context *context = *state;
    const wt_network_spec shape = {
        .kind = "transformer", .length = 9, .dim = 8, .heads = 2, .hidden = 8};
    static const char *const names[] = {"wq", "wk", "wv", "pos_emb", "w1", "head"};
    size_t versions;
    const wt_loops_version *able = wt_loops_able(&versions);
    wt_dropout none = wt_dropout_none();
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t v = 0; v < versions; v++) {
            trial at;
            wt_transformer_work *work;
            wt_network_result result = WT_SIZED(wt_network_result);
            float weights[13 * 2 * 10];
            open_trial(context, &shape, 13, 0.3, &at);
            CHECK_OK(context, wt_transformer_work_open(context, at.network, &work));
            work->loops = able[v].transformer;
            work->common = able[v].network;
            at.given[tensor_of(&at, names[n])->offset + 1] = NAN;
            for (int absorbed = 0; absorbed < 2; absorbed++) {
                double length = 0;
                CHECK_OK(context,
                         wt_transformer_gradient_by(context, at.network, absorbed == 1, &none,
                                                    at.given, at.batch, at.gradient, &result));
                for (size_t i = 0; i < at.size; i++)
                    length += fabsf(at.gradient[i]);
                assert_true(isnan(result.loss) && isnan(length));
            }
            CHECK_OK(context, wt_network_evaluate(context, at.network, at.given, at.batch, SIZE_MAX,
                                                  &result));
            assert_true(isnan(result.loss));
            CHECK_OK(context,
                     wt_network_attention(context, at.network, at.given, at.batch, weights));
            double sum = 0;
            for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
                sum += weights[i];
            assert_int_equal(isnan(sum), n < 2 || n == 3);
            /* and none is left behind */
            at.given[tensor_of(&at, names[n])->offset + 1] =
                (float)at.parameters[tensor_of(&at, names[n])->offset + 1];
            for (int absorbed = 0; absorbed < 2; absorbed++) {
                CHECK_OK(context,
                         wt_transformer_gradient_by(context, at.network, absorbed == 1, &none,
                                                    at.given, at.batch, at.gradient, &result));
                check_gradient(&at, &result);
            }
            close_trial(&at);
        }
}

/* The same of the other networks, whatever comes after the sum that the NaN is in. */
static void not_a_number_stays_elsewhere(void **state) {
    wt_context *context = *state;
    const wt_network_spec cases[] = {
        {.kind = "head", .length = 9, .dim = 8, .activation = "relu"},
        {.kind = "head", .length = 9, .dim = 8},
        {.kind = "mlp", .length = 9, .hidden = 8, .activation = "relu"},
        {.kind = "mlp", .length = 9, .hidden = 8, .activation = "gelu"}};
    const char *const names[] = {"w_qk", "w_v", "w1", "w2"};
    for (size_t c = 0; c < 4; c++) {
        trial at;
        wt_network_result result = WT_SIZED(wt_network_result);
        open_trial(context, &cases[c], 13, 0.3, &at);
        size_t place = tensor_of(&at, names[c])->offset + 1;
        at.given[place] = NAN;
        at.parameters[place] = NAN;
        CHECK_OK(context,
                 wt_network_evaluate(context, at.network, at.given, at.batch, SIZE_MAX, &result));
        assert_true(isnan(result.loss));
        CHECK_OK(context, wt_network_gradient(context, at.network, at.given, at.batch, 1, 2,
                                              at.gradient, &result));
        assert_true(isnan(result.loss));
        CHECK_OK(context, wt_network_plain(context, at.network, at.parameters, at.batch, at.logits,
                                           &at.loss, at.wanted, NULL));
        assert_true(isnan(at.loss));
        close_trial(&at);
    }
}

/* What a network holds after a step and a judgement at T = 1100, m = 200. */
static size_t memory_of(wt_context *context, size_t heads, bool absorbed) {
    wt_network_spec spec;
    WT_INIT(wt_network_spec, &spec);
    wt_network_result result = WT_SIZED(wt_network_result);
    wt_bits *batch;
    float *parameters, *gradient;
    spec.length = 1100;
    spec.heads = heads;
    spec.embedding_drop = absorbed ? 0.1 : 0;
    size_t before = wt_context_memory_used(context);
    wt_network *network = open_network(context, &spec);
    size_t size = wt_network_size(network);
    draw_bits(context, 200, 1100, 1, &batch);
    CHECK_OK(context, WT_NEW(context, &parameters, size, "parameters"));
    CHECK_OK(context, WT_NEW(context, &gradient, size, "gradient"));
    wt_network_draw(network, 1, parameters);
    CHECK_OK(context,
             wt_network_gradient(context, network, parameters, batch, 1, 1, gradient, &result));
    CHECK_OK(context, wt_network_evaluate(context, network, parameters, batch, SIZE_MAX, &result));
    size_t held = wt_context_memory_used(context) - before;
    wt_release(parameters);
    wt_release(gradient);
    wt_bits_free(batch);
    wt_network_free(network);
    return held;
}

/* At the recipe's largest published size a trial holds less than 100 MB, by either way, also with
 * heads that fill few lanes. */
static void memory_is_small(void **state) {
    static const size_t heads[] = {16, 8, 4, 2, 1};
    int before = wt_context_threads(*state);
    CHECK_OK(*state, wt_context_set_threads(*state, 2)); /* each holds some 5 MB */
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        for (int absorbed = 0; absorbed < 2; absorbed++)
            assert_true(memory_of(*state, heads[i], absorbed == 1) <
                        (heads[i] == 16 ? 60000000 : 100000000));
    CHECK_OK(*state, wt_context_set_threads(*state, before));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_a_number_stays),
        cmocka_unit_test(not_a_number_stays_elsewhere),
        cmocka_unit_test(memory_is_small),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
