#include "lab/reproduce.h"

#include <string.h>

#include "base/memory.h"

/* tiny runs everything in seconds, to see that it works. quick is the smallest that measures every
 * claim: five minutes on two cores. paper has the published settings and grids, reconstructed where
 * the text was not at hand (docs/reproduction.md). */
static const wt_reproduction table[] = {
    {"rfa", "tiny", "learning curves",
     "experiment=curve model=rfa,brfa,rfmlp target=mean-power:2,corr-power:3 dim=4 keys=3,6 "
     "heads=10 n=16,32,64 lambda=1e-3 test-n=100 reps=3 seed=1"},
    {"recover", "tiny", "random layers",
     "experiment=recover tokens=boolean,gaussian dim=4 length=4 heads=1 samples-ratio=3,5 reps=3 "
     "seed=1"},
    {"recover", "tiny", "hard instances",
     "experiment=recover parity=1,2 dim=3 length=2 goal=1e-6 restarts=3 steps=30 reps=2 seed=1"},
    {"sparse", "tiny", "constructions",
     "experiment=construct function=and:3 length=16,64 positions=basis,random draws=10 reps=3 "
     "seed=1"},

    {"rfa", "quick", "learning curves",
     "experiment=curve model=rfa,brfa,rfmlp target=mean-power:2,mean-power:4,corr-power:3 dim=16 "
     "keys=16 heads=300 n=16:1024:x2 lambda=loo test-n=1000 reps=5 seed=1"},
    {"rfa", "quick", "rate in n",
     "experiment=curve model=rfa target=mean-power:2 dim=8 keys=8 heads=300 n=32:1024:x2 "
     "lambda=loo test-n=1000 reps=5 seed=1"},
    {"rfa", "quick", "error against keys",
     "experiment=curve model=rfa,rfmlp target=mean-power:2 dim=16 keys=4,8,16,32 heads=300 n=512 "
     "lambda=loo test-n=1000 reps=5 seed=1"},
    {"rfa", "quick", "error against dimension",
     "experiment=curve model=rfa target=mean-power:2 dim=8,12,16,24 keys=16 heads=300 n=512 "
     "lambda=loo test-n=1000 reps=5 seed=1"},
    {"recover", "quick", "random layers",
     "experiment=recover tokens=boolean,gaussian dim=8 length=4 heads=1,2,4 samples-ratio=5 "
     "reps=20 seed=1"},
    {"recover", "quick", "fewer examples",
     "experiment=recover tokens=boolean,gaussian dim=8 length=4 heads=2 samples-ratio=1.5,2,3 "
     "restarts=5 reps=10 seed=1"},
    {"recover", "quick", "hard instances",
     "experiment=recover parity=1,2,3,4 dim=6 length=2 goal=1e-6 reps=10 seed=1"},
    {"sparse", "quick", "constructions",
     "experiment=construct function=and:3,majority:5,parity:4 length=64,256,1024,4096 "
     "positions=basis,random,trained reps=5 seed=1"},

    {"rfa", "paper", "learning curves",
     "experiment=curve model=rfa,brfa,rfmlp,rfa-inf,brfa-inf "
     "target=mean-power:2,mean-power:4,corr-power:3 dim=16 keys=16 heads=1000 n=16:4096:x2 "
     "lambda=loo test-n=1000 reps=5 seed=1"},
    {"rfa", "paper", "error against keys",
     "experiment=curve model=rfa,rfmlp target=mean-power:2,mean-power:4 dim=16 keys=4,8,16,32,64 "
     "heads=1000 n=1024 lambda=loo test-n=1000 reps=10 seed=1"},
    {"rfa", "paper", "error against dimension",
     "experiment=curve model=rfa target=mean-power:2 dim=8,12,16,24,32 keys=16 heads=1000 n=1024 "
     "lambda=loo test-n=1000 reps=10 seed=1"},
    {"rfa", "paper", "error against heads",
     "experiment=curve model=rfa,brfa target=mean-power:2,corr-power:3 dim=16 keys=16 "
     "heads=10,30,100,300,1000,3000 n=1024 lambda=loo test-n=1000 reps=5 seed=1"},
    {"recover", "paper", "random layers",
     "experiment=recover tokens=boolean,gaussian dim=8,16 length=4,8 heads=1,2,4,8 "
     "samples-ratio=5 reps=20 seed=1"},
    {"recover", "paper", "fewer examples",
     "experiment=recover tokens=boolean,gaussian dim=8 length=4 heads=2,4 "
     "samples-ratio=1,1.5,2,2.5,3,4,5,10 method=refine,adam reps=20 seed=1"},
    {"recover", "paper", "hard instances",
     "experiment=recover parity=1,2,3,4,5 dim=8 length=2 goal=1e-6 reps=20 seed=1"},
    {"sparse", "paper", "constructions",
     "experiment=construct function=and:1,and:3,and:5,majority:5,parity:4,table:01101000 "
     "length=64:16384:x4 positions=basis,random,trained tokens=sum reps=20 seed=1"},
};

const wt_reproduction *wt_reproduction_at(size_t index) {
    return index < sizeof table / sizeof *table ? &table[index] : NULL;
}

wt_status wt_reproduction_spec(wt_context *context, const wt_reproduction *reproduction,
                               wt_spec *out) {
    char *text = NULL;
    wt_status status;
    *out = (wt_spec){0};
    WT_TRY(wt_copy_text(context, &text, reproduction->sweep, "a sweep"));
    for (char *word = text, *next; word != NULL; word = next) {
        next = strchr(word, ' ');
        if (next != NULL)
            *next++ = '\0';
        WT_TRY(wt_spec_set(context, out, word));
    }
done:
    wt_release(text);
    return status;
}
