/* The inner loops of networks, compiled once for each kind of processor and picked at run time:
 * plain C over vectors as wide as the registers are. This file and its sisters are built with
 * -ffp-contract=fast: products and sums fuse where the processor can. Here: any processor. */
#define LANES 4
#define TARGET
#define WIDE_PRODUCT(x, m) (((x)&0xffffffffU) * (m)) /* of the low halves of 64-bit numbers */
#define NETWORK_TABLE      wt_network_loops_plain
#define TRANSFORMER_TABLE  wt_transformer_loops_plain

#include "network/model/network_loops_body.h"
#include "network/model/transformer_absorbed_body.h"
#include "network/model/transformer_tables_body.h"
