/* Literals of models and ridges: wt_model_spec spec = {MODEL(RFA), .heads = 5}. */
#ifndef TESTS_FEATURES_SPECS_H
#define TESTS_FEATURES_SPECS_H

#include "wattle/fit.h"

#define MODEL(name) .size = sizeof(wt_model_spec), .kind = WT_MODEL_KIND_##name
#define RIDGE(name) .size = sizeof(wt_ridge_options), .rule = WT_LAMBDA_##name

#endif
