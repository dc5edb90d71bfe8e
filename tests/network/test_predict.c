/* Answers of networks, sample by sample, beside those of the plain version in double. */
#include "network_trial.h"

static void answers_are_those_of_the_formulas(void **state) {
    wt_context *context = *state;
    static const wt_network_spec shapes[] = {
        {.kind = "transformer", .length = 9, .dim = 8, .heads = 2, .hidden = 8},
        {.kind = "head", .length = 9, .dim = 8},
        {.kind = "mlp", .length = 9, .hidden = 8}};
    enum { SAMPLES = 700 }; /* several rounds and blocks */
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        trial at;
        float answers[SAMPLES];
        open_trial(context, &shapes[i], SAMPLES, 0.3, &at);
        CHECK_OK(context, wt_network_predict(context, at.network, at.given, at.batch, answers));
        for (size_t s = 0; s < SAMPLES; s++)
            CHECK_NEAR(answers[s], 1 / (1 + exp(at.logits[2 * s] - at.logits[2 * s + 1])),
                       TOLERANCE);
        close_trial(&at);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_those_of_the_formulas)};
    return cmocka_run_group_tests(tests, check_open, check_close);
}
