/* Layers of files and checkpoints, wherever a command reads one: apply, export, draw, compare,
 * serve-layer, recover --teacher. */
#define _GNU_SOURCE
#include "cli/run.h"

/* A head of any rank fits a checkpoint of one head, which --heads 2 reads as two of half the width.
 */
static void make_checkpoint(void) {
    run_must("teacher --heads 1 --dim 8 --bias --seed 3 -o one.safetensors");
    run_must("export one.safetensors -o model.safetensors");
    run_must("export model.safetensors --heads 2 --as bert -o bert.safetensors");
}

static void exported_layers_are_the_same_function(void **state) {
    (void)state;
    make_checkpoint();
    /* products of factors: rounding */
    assert_true(run_number("compare one.safetensors model.safetensors --json", "theta_error") <
                1e-12);
    assert_true(run_number("compare bert.safetensors model.safetensors --heads 2 --index 0 --json",
                           "theta_error") < 1e-12);
    assert_int_equal((int)run_number("export bert.safetensors -o t.safetensors --json", "rank"), 4);
    run_must("draw --layer bert.safetensors --length 3 --n 30 -o d.npz");
    assert_true(run_number("apply model.safetensors d.npz --heads 2 --json", "error") < 1e-12);
    assert_true(run_number("apply one.safetensors d.npz --json", "error") > 1e-3);
    run_must("teacher --heads 2 --dim 8 --seed 3 -o wide.safetensors");
    run_refuses("export wide.safetensors -o no.safetensors", 65, "rank 8, above the 4");
    run_refuses("export bert.safetensors --rank 3 -o no.safetensors", 65, "rank 4, above the 3");
    run_refuses("export bert.safetensors --rank some -o no.safetensors", 64, "--rank");
    run_refuses("export bert.safetensors", 64, "--output");
    run_must("teacher --heads 2 --dim 8 --out-dim 5 -o p.safetensors");
    run_refuses("export p.safetensors -o no.safetensors", 65, "must be equal");
}

static void one_layer_of_a_file_is_chosen(void **state) {
    (void)state;
    make_checkpoint();
    run_refuses("draw --layer one.safetensors --index 1 -o no.npz", 64, "no layer 1");
    run_refuses("draw --layer bert.safetensors --index 1 -o no.npz", 64, "no layer 1");
    run_refuses("draw --layer bert.safetensors --index 0,0 -o no.npz", 64, "2 numbers for 1 file");
    run_refuses("compare bert.safetensors one.safetensors --index 0,1,2", 64, "3 numbers");
    run_refuses("compare bert.safetensors one.safetensors --index 0,1", 64,
                "one.safetensors is one");
    run_refuses("draw --target corr:1 --index 1 -o no.npz", 64, "--index needs --layer");
    run_must("draw --layer bert.safetensors --tokens gaussian --length 3 --n 9 -o d.npz");
    run_refuses("recover d.npz --fold", 64, "--fold needs --teacher");
    run_refuses("serve-layer bert.safetensors --index 2", 64, "no layer 2");
    run_refuses("apply bert.safetensors d.npz --map q=none", 64, "no k=NAME");
    run_must(
        "draw --layer model.safetensors --heads 2 --length 3 --n 9 --tokens gaussian -o e.npz");
    assert_true(run_number("apply bert.safetensors e.npz --json", "error") < 1e-12);
}

/* One sentence, with what can be done, wherever a layer is read. */
static void rotary_positions_are_refused(void **state) {
    (void)state;
    make_checkpoint();
    run_must("draw --layer one.safetensors --length 3 --n 30 -o d.npz");
#define LLAMA TEST_DATA "/fixtures/llama.safetensors"
    static const char *const lines[] = {
        "draw --layer " LLAMA " -n 4 --length 3 -o no.npz",
        "recover d.npz --heads 1 --teacher " LLAMA,
        "compare " LLAMA " " LLAMA,
        "apply " LLAMA " d.npz -o no.npy",
        "export " LLAMA " -o no.safetensors",
        "serve-layer " LLAMA,
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        run_refuses(lines[i], 65, "rotary positions, which no layer here has: --rope ignore");
    run_must("draw --layer " LLAMA " -n 40 --length 3 --rope ignore --fold --index 1 -o r.npz");
    run_must("recover r.npz --heads 2 --norm rms --mask causal --rank 2");
    run_refuses("recover " LLAMA, 65, "wattle draw --layer");
    assert_int_equal(run_in_folder("info no.npz")->code, 66);
}

static void outputs_are_written(void **state) {
    (void)state;
    make_checkpoint();
    run_must("draw --layer one.safetensors --length 3 --n 5 -o d.npz");
    run_must("apply one.safetensors d.npz -o y.npy");
    CHECK_PRINTS(run_in_folder("info y.npy"), "(5, 3, 8)");
    run_must("apply one.safetensors d.npz -o xy.npz");
    assert_true(run_number("apply one.safetensors xy.npz --json", "error") == 0);
    run_must("teacher --heads 1 --dim 7 -o other.safetensors");
    run_refuses("apply other.safetensors d.npz", 65, "do not fit");
    run_must("teacher --heads 1 --dim 8 --out-dim 3 -o narrow.safetensors");
    run_refuses("apply narrow.safetensors d.npz", 65, "y has 8 columns");
    run_refuses("apply one.safetensors d.npz -o y.csv", 64, ".npy");
}

static void trained_networks_are_run(void **state) {
    (void)state;
    static const char *const kinds[] = {"transformer --heads 2 --dim 8", "head --dim 8",
                                        "mlp --hidden 8"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char line[256];
        snprintf(line, sizeof line,
                 "train --model %s --task and:1 --length 10 --samples 80 --steps 20 --dropout 0 "
                 "--to-end --validation-samples 20 --test-samples 20 -o net.safetensors --json",
                 kinds[i]);
        run_must(line);
        double accuracy =
            run_number("apply net.safetensors " TEST_DATA "/fixtures/bits.npz --json", "accuracy");
        assert_true(accuracy > 0 && accuracy < 1); /* its task is another */
    }
    run_must("apply net.safetensors " TEST_DATA "/fixtures/bits.npz -o p.npy");
    CHECK_PRINTS(run_in_folder("info p.npy"), "(60,)");
    /* bits without labels */
    run_must("apply net.safetensors " TEST_DATA "/fixtures/bits.npz -o p.npz");
    run_must("apply net.safetensors p.npz -o q.npy");
    CHECK_PRINTS(run_in_folder("apply net.safetensors p.npz -o q.npz"), "accuracy               -");
    run_refuses("apply net.safetensors p.npz", 64, "no labels");
    run_refuses("apply net.safetensors p.npz --index 1 -o no.npy", 64, "is a network");
    run_must("train --model mlp --hidden 3 --length 9 --task and:1 --steps 1 --samples 20 --to-end "
             "--validation-samples 20 --test-samples 20 -o short.safetensors");
    run_refuses("apply short.safetensors p.npz -o no.npy", 65, "do not fit a network of 9");
    run_refuses("apply " TEST_DATA "/fixtures/head.safetensors p.npz -o no.npy", 65, "no network");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exported_layers_are_the_same_function),
        cmocka_unit_test(one_layer_of_a_file_is_chosen),
        cmocka_unit_test(rotary_positions_are_refused),
        cmocka_unit_test(outputs_are_written),
        cmocka_unit_test(trained_networks_are_run),
    };
    return cmocka_run_group_tests(tests, run_open_folder, run_close_folder);
}
