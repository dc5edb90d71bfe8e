/* What a trial depends on, as one number, and what two such numbers differ in. */
#include <stdio.h>

#include "lab/threshold.h"

enum { GUESSES = 1000 }; /* tried of each number: some hundredths of a second for all */

/* FNV-1a over the words. */
uint64_t wt_threshold_key(const wt_threshold_setting *setting) {
    const wt_train_setting *train = &setting->train;
    const wt_network_spec *net = &train->network;
    char text[1024];
    uint64_t hash = 0xcbf29ce484222325u;
    snprintf(text, sizeof text,
             "1|%.17g|%.17g|%d|%s|%zu|%zu|%zu|%.17g|%.17g|%.17g|%d|%s|%.17g|%.17g|%d|%.17g|%.17g|"
             "%zu|%zu|%zu|%.17g|%zu|%llu|",
             train->task.probability, train->task.noise, train->keep_ambiguous, net->kind, net->dim,
             net->heads, net->hidden, net->embedding_drop, net->attention_drop, net->block_drop,
             net->fixed_positions, net->activation == NULL ? "" : net->activation, train->rate,
             train->weight_decay, train->decoupled, train->clip, train->init_scale, train->steps,
             train->validate, train->validation_samples, train->success, train->restarts,
             (unsigned long long)setting->seed);
    const char *parts[] = {text, train->task.function, train->balls == NULL ? "" : train->balls};
    for (size_t i = 0; i < 3; i++)
        for (const char *at = parts[i]; *at != '\0'; at++)
            hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
    return hash;
}

/* Whole numbers of a setting, which are often small or round. */
static const struct {
    const char *name;
    size_t offset;
    size_t unit; /* multiples of it are tried */
} numbers[] = {
    {"restarts", offsetof(wt_threshold_setting, train.restarts), 1},
    {"steps", offsetof(wt_threshold_setting, train.steps), 10},
    {"steps from one validation to the next", offsetof(wt_threshold_setting, train.validate), 1},
    {"validation samples", offsetof(wt_threshold_setting, train.validation_samples), 100},
    {"dim", offsetof(wt_threshold_setting, train.network.dim), 1},
    {"heads", offsetof(wt_threshold_setting, train.network.heads), 1},
    {"hidden width", offsetof(wt_threshold_setting, train.network.hidden), 1},
};

bool wt_threshold_guess(const wt_threshold_setting *setting, uint64_t key,
                        char out[WT_THRESHOLD_GUESS]) {
    wt_threshold_setting other = *setting;
    for (other.seed = 0; other.seed < GUESSES; other.seed++)
        if (wt_threshold_key(&other) == key) {
            snprintf(out, WT_THRESHOLD_GUESS, "the seed is %llu there, and %llu here",
                     (unsigned long long)other.seed, (unsigned long long)setting->seed);
            return true;
        }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        other = *setting;
        size_t *tried = (size_t *)((char *)&other + numbers[i].offset), here = *tried;
        for (size_t k = 0; k < GUESSES; k++) {
            *tried = k * numbers[i].unit;
            if (wt_threshold_key(&other) != key)
                continue;
            snprintf(out, WT_THRESHOLD_GUESS, "%s: %zu there, and %zu here", numbers[i].name,
                     *tried, here);
            return true;
        }
    }
    return false;
}
