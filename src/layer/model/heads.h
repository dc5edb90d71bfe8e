/* Heads of layers: norms, distances, duplicates merged and zero heads dropped. */
#ifndef WT_LAYER_MODEL_HEADS_H
#define WT_LAYER_MODEL_HEADS_H

#include "base/context.h"
#include "layer/model/layer.h"

double wt_heads_norm(size_t count, const double *a);
/* |a - b| over the larger of |a| and |b|; 0 when both are 0. */
double wt_heads_distance(size_t count, const double *a, const double *b);
/* Adds the W of heads whose Theta agree to the tolerance (the first stays), then drops heads whose
 * W is below the tolerance times the largest. A layer of which nothing would be left keeps its
 * first head. */
void wt_heads_tidy(double tolerance, wt_layer *layer);

#endif
