/* What `wattle reproduce` runs for the claims of each line, at each scale. */
#include "lab/reproduce.h"

/* tiny runs everything in seconds, to see that it works. quick is the smallest that measures every
 * claim: five minutes on two cores. paper has larger grids and more repetitions; of the settings
 * only the recipe for AND is published, others are reconstructed or ours (docs/reproduction.md). */

/* Labels are coins: every network misses half of the fresh ones, and the worst gap of a class is
 * where the training set is missed least. Runs end when they have settled. The width grows with the
 * length, so that it does not bound what is fitted. [CLS] is a row of X like any other, within
 * B_X = 1. The rival has no balls of values and read-out. */
#define HEAD                                                                                       \
    "experiment=train model=head activation=tanh noise=0.4999 probability=0.5 "                    \
    "lr=0.1 clip=0 weight-decay=0 init-scale=30 settle=0.02 to-end=yes validate=20 "               \
    "validation-samples=100 test-samples=8000 "
#define BALLS "ball=qk.two-one=16,v.two-one=4,w.frobenius=1,cls.frobenius=1 "
#define RIVAL "ball=qk.two-one=16,cls.frobenius=1 "
/* The paper does not say how it trained on parity: without dropout and decay, matrices from
 * N(0, 0.06^2), the loss falls about when the published one does. */
#define PARITY                                                                                     \
    "experiment=train dropout=0 weight-decay=0 init-scale=3 validation-samples=1000 "              \
    "test-samples=1000 "
/* The theorem's norms for averages of degree 2 are about these. */
#define BALL   "ball=4,16 "
#define SCULPT "experiment=recover method=sculpt length=2 tokens=gaussian restarts=1 "
/* 600 sequences of one head. */
#define LONGER "experiment=recover method=sculpt heads=1 dim=6 tokens=gaussian restarts=1 "

static const wt_reproduction_sweep table[] = {
    {"rfa", "tiny", "learning curves",
     "experiment=curve model=rfa,brfa,rfmlp target=mean-power:2,corr-power:3 dim=16 keys=16 "
     "heads=10 n=16,32,64 lambda=1e-3 test-n=100 reps=3"},
    {"rfa", "tiny", "rate in n",
     "experiment=curve model=rfa,rfmlp target=mean-power:2 dim=8 keys=8 heads=10 n=128,256 "
     "lambda=1e-3 test-n=100 reps=3"},
    {"rfa", "tiny", "rate in n, in the ball",
     "experiment=curve model=rfa target=mean-power:2,first-power:2 dim=8 keys=8 heads=10 " BALL
     "n=128,256 test-n=100 reps=3"},
    {"rfa", "tiny", "samples against keys",
     "experiment=curve model=rfa,rfmlp target=mean-power:2 dim=4 keys=2,4 heads=20 n=16:256:x2 "
     "lambda=1e-3 test-n=100 reps=3"},
    {"recover", "tiny", "random layers",
     "experiment=recover tokens=boolean,gaussian dim=4 length=4 heads=2,3,4 samples-ratio=0.8,5 "
     "restarts=3 reps=3"},
    {"recover", "tiny", "hard instances",
     "experiment=recover parity=1,2 dim-ratio=2 length=2 goal=1e-6 restarts=3 steps=30 reps=2"},
    {"recover", "tiny", "sculpt", SCULPT "heads=1,2 dim=4 samples-ratio=10,50 reps=2"},
    {"recover", "tiny", "query",
     "experiment=recover method=query heads=1,2 dim=4 out-dim=1 noise=0,1e-6 restarts=1 reps=3"},
    {"sparse", "tiny", "constructions",
     "experiment=construct function=and:3 length=16,64,256 positions=basis,random draws=10 "
     "fixed-length=0,16 reps=3"},
    {"sparse", "tiny", "heads in norm balls",
     HEAD BALLS "dim-ratio=0.5 length=8,16 m=20,40 steps=20 reps=2"},
    {"sparse", "tiny", "samples for AND",
     "experiment=threshold task=and:3 length=6,9,12 m=12,24,48 dim=16 heads=4 lr=1e-2 "
     "steps=40 restarts=1 validation-samples=200 reps=2"},
    {"sparse", "tiny", "parity",
     PARITY "task=parity:2,and:2 length=5,6 online=128 dim=16 heads=4 lr=1e-2 steps=60 reps=2"},

    {"rfa", "quick", "learning curves",
     "experiment=curve model=rfa,brfa,rfmlp target=mean-power:2,mean-power:4,corr-power:3 dim=16 "
     "keys=16 heads=300 n=16:1024:x2 lambda=loo test-n=1000 reps=5"},
    {"rfa", "quick", "order of the keys",
     "experiment=curve model=rfa,rfmlp target=first-power:1 dim=16 keys=16 heads=300 n=1024 "
     "lambda=loo test-n=1000 reps=5"},
    {"rfa", "quick", "rate in n",
     "experiment=curve model=rfa,rfmlp target=mean-power:2 dim=8 keys=8 heads=300 n=32:1024:x2 "
     "lambda=loo test-n=1000 reps=5"},
    {"rfa", "quick", "rate in n, in the ball",
     "experiment=curve model=rfa target=mean-power:2,first-power:2 dim=8 keys=8 heads=300 " BALL
     "n=128:1024:x2 test-n=1000 reps=5"},
    {"rfa", "quick", "samples against keys",
     "experiment=curve model=rfa target=mean-power:2 dim=4 keys=2,4,8,16 heads=100 n=16:512:x2 "
     "lambda=loo test-n=1000 reps=10"},
    {"rfa", "quick", "samples of an MLP against keys",
     "experiment=curve model=rfmlp target=mean-power:2 dim=4 keys=1,2,4 heads=100 n=16:1024:x2 "
     "lambda=loo test-n=1000 reps=10"},
    {"rfa", "quick", "error against dimension",
     "experiment=curve model=rfa,rfmlp target=mean-power:2 dim=8,12,16,24 keys=16 heads=300 n=512 "
     "lambda=loo test-n=1000 reps=5"},
    {"recover", "quick", "random layers",
     "experiment=recover tokens=boolean,gaussian dim=8 length=4 heads=1,2,3,4 samples-ratio=5 "
     "reps=40"},
    {"recover", "quick", "too few examples",
     "experiment=recover tokens=boolean,gaussian dim=8 length=4 heads=2 samples-ratio=0.8 "
     "restarts=2 reps=20"},
    {"recover", "quick", "fewer examples",
     "experiment=recover tokens=boolean,gaussian dim=8 length=4 heads=2 samples-ratio=1.5,2,3 "
     "restarts=5 reps=10"},
    {"recover", "quick", "hard instances",
     "experiment=recover parity=1,2,3 dim-ratio=2 length=2 samples-ratio=10 goal=1e-6 restarts=100 "
     "reps=15"},
    {"recover", "quick", "sculpt",
     SCULPT "heads=2 dim=6 samples-ratio=100 degenerate=no,zero-sum reps=40"},
    {"recover", "quick", "sculpt against dimension",
     SCULPT "heads=2 dim=8,10,12 samples-ratio=100 reps=10"},
    {"recover", "quick", "sculpt, two tokens", LONGER "length=2 samples-ratio=100 reps=20"},
    {"recover", "quick", "sculpt, three tokens", LONGER "length=3 samples-ratio=100 reps=20"},
    {"recover", "quick", "sculpt, four tokens", LONGER "length=4 samples-ratio=200 reps=20"},
    {"recover", "quick", "sculpt, six tokens", LONGER "length=6 samples-ratio=300 reps=20"},
    {"recover", "quick", "sculpt, one head",
     SCULPT "heads=1 dim=6 samples-ratio=5,7,10,14,20,28 reps=10"},
    {"recover", "quick", "sculpt, two heads",
     SCULPT "heads=2 dim=6 samples-ratio=14,20,28,40,56,80,112 reps=10"},
    {"recover", "quick", "sculpt, three heads",
     SCULPT "heads=3 dim=6 samples-ratio=60,125,250,500,1000,2000 reps=6"},
    {"recover", "quick", "refine, as many heads",
     "experiment=recover length=2 tokens=gaussian heads=1,2,3 dim=6 "
     "samples-ratio=0.8,1,1.25,1.6,2,2.5,3.2,4,5 restarts=5 reps=5"},
    {"recover", "quick", "query",
     "experiment=recover method=query heads=1,2,3 dim=4,8 out-dim=1 restarts=2 reps=40"},
    {"recover", "quick", "query with noise",
     "experiment=recover method=query heads=2 dim=4 out-dim=1 noise=1e-6 restarts=1 reps=10"},
    {"sparse", "quick", "constructions",
     "experiment=construct function=and:3,majority:5,parity:4 length=64,256,1024,4096 "
     "positions=basis,random,trained reps=40"},
    {"sparse", "quick", "constructions, strength held",
     "experiment=construct function=and:3 length=64,256,1024,4096 positions=basis,random,trained "
     "fixed-length=64 reps=40"},
    {"sparse", "quick", "heads in norm balls, m",
     HEAD BALLS "gap-starts=2 dim-ratio=0.5 length=64 m=25:200:x2 steps=6000 reps=6"},
    {"sparse", "quick", "heads in norm balls, T",
     HEAD BALLS "gap-starts=2 dim-ratio=0.5 length=16:128:x2 m=100 steps=6000 reps=10"},
    {"sparse", "quick", "heads without balls, m",
     HEAD RIVAL "gap-starts=2 dim-ratio=0.5 length=64 m=25:200:x2 steps=6000 reps=3"},
    {"sparse", "quick", "heads without balls, T",
     HEAD RIVAL "gap-starts=2 dim-ratio=0.25 length=16:128:x2 m=100 steps=6000 reps=5"},
    {"sparse", "quick", "samples for AND",
     "experiment=threshold task=and:3 length=16,32,64,128 m=12,16,20,25,31,39,49,61,76 "
     "steps=300 restarts=2 validation-samples=2000 reps=5"},
    {"sparse", "quick", "samples for AND of an MLP",
     "experiment=threshold model=mlp task=and:3 length=12,25,50,100 m=25,50,100,200,400,800 "
     "steps=300 restarts=2 validation-samples=2000 reps=5"},
    {"sparse", "quick", "parity",
     PARITY "task=parity:3 length=10,15 online=2048 steps=700 to-end=yes reps=4"},
    {"sparse", "quick", "AND, online",
     PARITY "task=and:3 length=10,15 online=512 steps=700 to-end=yes reps=8"},

    {"rfa", "paper", "learning curves",
     "experiment=curve model=rfa,brfa,rfmlp,rfa-inf,brfa-inf "
     "target=mean-power:2,mean-power:4,corr-power:3 dim=16 keys=16 heads=1000 n=16:4096:x2 "
     "lambda=loo test-n=1000 reps=5"},
    {"rfa", "paper", "order of the keys",
     "experiment=curve model=rfa,rfmlp target=first-power:1 dim=16 keys=16 heads=1000 n=4096 "
     "lambda=loo test-n=1000 reps=5"},
    {"rfa", "paper", "rate in n",
     "experiment=curve model=rfa,rfmlp target=mean-power:2 dim=8 keys=8 heads=1000 n=32:4096:x2 "
     "lambda=loo test-n=1000 reps=10"},
    {"rfa", "paper", "rate in n, in the ball",
     "experiment=curve model=rfa target=mean-power:2,first-power:2 dim=8 keys=8 heads=1000 " BALL
     "n=128:4096:x2 test-n=1000 reps=10"},
    {"rfa", "paper", "samples against keys",
     "experiment=curve model=rfa target=mean-power:2 dim=4 keys=2,4,8,16,32,64 heads=300 "
     "n=16,23,32,45,64,91,128,181,256,362,512 lambda=loo test-n=1000 reps=20"},
    {"rfa", "paper", "samples of an MLP against keys",
     "experiment=curve model=rfmlp target=mean-power:2 dim=4 keys=1,2,4 heads=300 "
     "n=16,32,64,91,128,181,256,362,512,724,1024,2048 lambda=loo test-n=1000 reps=20"},
    {"rfa", "paper", "error against dimension",
     "experiment=curve model=rfa,rfmlp target=mean-power:2 dim=8,12,16,24,32 keys=16 heads=1000 "
     "n=1024 lambda=loo test-n=1000 reps=10"},
    {"rfa", "paper", "error against heads",
     "experiment=curve model=rfa,brfa target=mean-power:2,corr-power:3 dim=16 keys=16 "
     "heads=10,30,100,300,1000,3000 n=1024 lambda=loo test-n=1000 reps=5"},
    {"recover", "paper", "random layers",
     "experiment=recover tokens=boolean,gaussian dim=8,16 length=4,8 heads=1,2,4,8 "
     "samples-ratio=5 reps=40"},
    {"recover", "paper", "too few examples",
     "experiment=recover tokens=boolean,gaussian dim=8 length=4 heads=2,4 samples-ratio=0.8 "
     "restarts=5 reps=40"},
    {"recover", "paper", "fewer examples",
     "experiment=recover tokens=boolean,gaussian dim=8 length=4 heads=2,4 "
     "samples-ratio=1,1.5,2,2.5,3,4,5,10 method=refine,adam reps=20"},
    {"recover", "paper", "hard instances",
     "experiment=recover parity=1,2,3,4,5,6 dim-ratio=2 length=2 samples-ratio=10 goal=1e-6 "
     "restarts=100 reps=20"},
    {"recover", "paper", "sculpt",
     SCULPT "heads=2 dim=6 samples-ratio=100 degenerate=no,zero-sum,equal-w reps=100"},
    {"recover", "paper", "sculpt against dimension",
     SCULPT "heads=2 dim=8,10,12,16,20 samples-ratio=100 reps=20"},
    {"recover", "paper", "sculpt, two tokens", LONGER "length=2 samples-ratio=100 reps=100"},
    {"recover", "paper", "sculpt, three tokens", LONGER "length=3 samples-ratio=100 reps=100"},
    {"recover", "paper", "sculpt, four tokens", LONGER "length=4 samples-ratio=200 reps=100"},
    {"recover", "paper", "sculpt, six tokens", LONGER "length=6 samples-ratio=300 reps=100"},
    {"recover", "paper", "sculpt, one head",
     SCULPT "heads=1 dim=6 samples-ratio=5,6,7,8.5,10,12,14,17,20,24,28 reps=40"},
    {"recover", "paper", "sculpt, two heads",
     SCULPT "heads=2 dim=6 samples-ratio=14,17,20,24,28,34,40,48,56,67,80,95,112 reps=40"},
    {"recover", "paper", "sculpt, three heads",
     SCULPT "heads=3 dim=6 samples-ratio=60,125,250,350,500,700,1000,1400,2000,2800,4000 reps=30"},
    {"recover", "paper", "refine, as many heads",
     "experiment=recover length=2 tokens=gaussian heads=1,2,3 dim=6 "
     "samples-ratio=0.8,1,1.25,1.6,2,2.5,3.2,4,5 reps=20"},
    {"recover", "paper", "query",
     "experiment=recover method=query heads=1,2,3 dim=4,6,8,12 out-dim=1 restarts=2 reps=100"},
    {"recover", "paper", "query with noise",
     "experiment=recover method=query heads=2 dim=4 out-dim=1 noise=1e-6 restarts=1 reps=40"},
    {"sparse", "paper", "constructions",
     "experiment=construct function=and:1,and:3,and:5,majority:5,parity:4,table:01010011 "
     "length=64:16384:x4 positions=basis,random,trained tokens=sum reps=40"},
    {"sparse", "paper", "constructions, strength held",
     "experiment=construct function=and:1,and:3,and:5,majority:5,parity:4,table:01010011 "
     "length=64:16384:x4 positions=basis,random,trained tokens=sum fixed-length=64 reps=40"},
    {"sparse", "paper", "heads in norm balls, m",
     HEAD BALLS "gap-starts=4 dim-ratio=0.5 length=64 m=25:800:x2 steps=6000 reps=20"},
    {"sparse", "paper", "heads in norm balls, T",
     HEAD BALLS "gap-starts=4 dim-ratio=0.5 length=16:256:x2 m=200 steps=6000 reps=20"},
    {"sparse", "paper", "heads without balls, m",
     HEAD RIVAL "gap-starts=4 dim-ratio=0.5 length=64 m=25:400:x2 steps=6000 reps=20"},
    {"sparse", "paper", "heads without balls, T",
     HEAD RIVAL "gap-starts=4 dim-ratio=0.25 length=16:256:x2 m=200 steps=6000 reps=20"},
    {"sparse", "paper", "samples for AND",
     "experiment=threshold task=and:3 length=25,50,100 m=8,10,13,16,20,25,31,39,49,61,76,95 "
     "reps=40"},
    {"sparse", "paper", "samples for AND, long",
     "experiment=threshold task=and:3 length=200:1600:x2 m=25,31,39,49,61,76,95,119,149,186 "
     "reps=40"},
    {"sparse", "paper", "samples for AND of an MLP",
     "experiment=threshold model=mlp task=and:3 length=25:400:x2 m=50:6400:x2 reps=20"},
    {"sparse", "paper", "parity",
     PARITY "task=parity:3 length=10,15,20 online=2048 steps=3000 to-end=yes reps=10"},
    {"sparse", "paper", "AND, online",
     PARITY "task=and:3 length=10,15,20 online=2048 steps=1000 to-end=yes reps=10"},
};
_Static_assert(sizeof table / sizeof *table <= WT_REPRODUCTION_MOST, "there is no room for all");

const wt_reproduction_sweep *wt_reproduction_row(size_t index) {
    return index < sizeof table / sizeof *table ? &table[index] : NULL;
}
