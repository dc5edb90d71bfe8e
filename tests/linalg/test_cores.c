/* Which kernels which processor gets, for processors that are not here. */
#include "linalg/cores.h"

#include "check.h"

#define BASE    (WT_CPU_SSE3 | WT_CPU_SSE42)
#define AVX     (BASE | WT_CPU_AVX)
#define AVX2    (AVX | WT_CPU_AVX2)
#define AVX512  (AVX2 | WT_CPU_AVX512)
#define SERVERS (AVX512 | WT_CPU_BF16)

static const struct {
    const char *processor;
    unsigned features;
    const char *wanted; /* NULL = left to the library */
} processors[] = {
    {"one that is no x86-64", 0, NULL},
    {"Prescott", WT_CPU_SSE3, NULL},
    {"Westmere", BASE, NULL},
    {"Ivy Bridge", AVX, NULL},
    {"Haswell, Skylake, Alder Lake", AVX2, "Haswell"},
    {"Piledriver (no AVX2)", AVX | WT_CPU_FMA4 | WT_CPU_AMD, NULL},
    {"Excavator", AVX2 | WT_CPU_FMA4 | WT_CPU_AMD, NULL},
    {"Zen 1 to 3", AVX2 | WT_CPU_AMD, "Zen"},
    {"Zen 4 and 5", SERVERS | WT_CPU_AMD, "SkylakeX"},
    {"Skylake and Cascade Lake servers", AVX512, "SkylakeX"},
    {"Sapphire and Emerald Rapids", SERVERS, "SkylakeX"},
    {"a server with AVX-512 switched off", AVX2, "Haswell"},
    /* a Knights Landing has AVX-512 in part only, which wt_cpu_features does not count */
    {"Knights Landing", AVX2, "Haswell"},
};

static void every_processor_gets_its_kernels(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof processors / sizeof *processors; i++) {
        const wt_core *core = wt_core_for(processors[i].features);
        const char *name = core == NULL ? "none" : core->name;
        const char *wanted = processors[i].wanted == NULL ? "none" : processors[i].wanted;
        if (strcmp(name, wanted) != 0)
            fail_msg("%s gets %s, not %s", processors[i].processor, name, wanted);
        if (core != NULL)
            assert_true(wt_core_runs(core, processors[i].features));
    }
}

static void a_core_type_needs_what_it_needs(void **state) {
    (void)state;
    assert_true(wt_core_runs(wt_core_named("prescott"), WT_CPU_SSE3));
    assert_false(wt_core_runs(wt_core_named("SkylakeX"), AVX2));
    assert_true(wt_core_runs(wt_core_named("SkylakeX"), AVX512));
    assert_false(wt_core_runs(wt_core_named("COOPERLAKE"), AVX512));
    assert_true(wt_core_runs(wt_core_named("Cooperlake"), SERVERS));
    assert_null(wt_core_named("Core"));
    assert_null(wt_core_named(""));
    size_t count = 0;
    while (wt_core_at(count) != NULL)
        assert_ptr_equal(wt_core_named(wt_core_at(count)->name), wt_core_at(count)), count++;
    assert_true(count >= 8);
}

/* The remedy fits who chose; kernels that are as good, or that we do not know, need none. */
static void a_remedy_where_there_is_one(void **state) {
    (void)state;
    const struct {
        unsigned features;
        const char *kernels;
        wt_blas_choice choice;
        const char *best, *remedy;
    } cases[] = {
        {AVX512, "Prescott", WT_BLAS_CHOICE_USER, "SkylakeX",
         "this processor can run the SkylakeX kernels: unset OPENBLAS_CORETYPE"},
        {AVX512, "Haswell", WT_BLAS_CHOICE_LOADED_BEFORE, "SkylakeX",
         "set OPENBLAS_CORETYPE before the program starts"},
        {AVX512, "Haswell", WT_BLAS_CHOICE_PROCESSOR, "SkylakeX", "libopenblas0-pthread"},
        {SERVERS, "SapphireRapids", WT_BLAS_CHOICE_USER, "SkylakeX", NULL},
        {SERVERS, "SkylakeX", WT_BLAS_CHOICE_PROCESSOR, "SkylakeX", NULL},
        {AVX2 | WT_CPU_AMD, "Haswell", WT_BLAS_CHOICE_LOADED_BEFORE, "Zen", NULL},
        {AVX2 | WT_CPU_AMD, "Sandybridge", WT_BLAS_CHOICE_LOADED_BEFORE, "Zen", "the Zen kernels"},
        {AVX2, "Newer", WT_BLAS_CHOICE_LIBRARY, "Haswell", NULL},
        {AVX, "Prescott", WT_BLAS_CHOICE_USER, NULL, NULL},
        {0, "neoversen1", WT_BLAS_CHOICE_LIBRARY, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_blas blas = {.core = cases[i].kernels, .choice = cases[i].choice};
        memset(blas.remedy, 'x', sizeof blas.remedy);
        wt_core_judge(cases[i].features, &blas);
        if (cases[i].best == NULL)
            assert_null(blas.best);
        else
            assert_string_equal(blas.best, cases[i].best);
        if (cases[i].remedy == NULL)
            assert_string_equal(blas.remedy, "");
        else if (strstr(blas.remedy, cases[i].remedy) == NULL)
            fail_msg("'%s' does not say '%s'", blas.remedy, cases[i].remedy);
        assert_true(strlen(blas.remedy) + 1 < sizeof blas.remedy); /* nothing was cut */
    }
}

static void every_choice_has_words(void **state) {
    (void)state;
    for (int choice = 0; choice <= WT_BLAS_CHOICE_LOADED_BEFORE; choice++)
        assert_non_null(wt_blas_choice_name((wt_blas_choice)choice));
    assert_string_equal(wt_blas_choice_name((wt_blas_choice)(WT_BLAS_CHOICE_LOADED_BEFORE + 1)),
                        "?");
    assert_string_equal(wt_blas_choice_name((wt_blas_choice)-1), "?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_processor_gets_its_kernels),
        cmocka_unit_test(a_core_type_needs_what_it_needs),
        cmocka_unit_test(a_remedy_where_there_is_one),
        cmocka_unit_test(every_choice_has_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
