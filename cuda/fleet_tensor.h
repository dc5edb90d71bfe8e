/* Products of small float matrices on the tensor units, a warp a product.
 *
 * The units multiply numbers of 11 bits and add in float. So a float is split into two such
 * numbers, and three products are added: what is lost is the product of the two lower halves, 2^-20
 * of a term.
 *
 * A warp multiplies a (16, 8) by b (8, 8) and adds to c (16, 8). With lane = 4 g + t, a lane has
 * rows g and g + 8 of a and columns t and t + 4; of b rows t and t + 4 and column g; of c rows g
 * and g + 8 and columns 2 t and 2 t + 1. Which tokens, numbers or heads these rows and columns are
 * is the caller's choice, as long as a and b agree: so what one product gives is what the next one
 * takes, in the same lanes. */
#ifndef WATTLE_CUDA_FLEET_TENSOR_H
#define WATTLE_CUDA_FLEET_TENSOR_H

#include <stdint.h>

struct tensor_split {
    uint32_t high, low;
};

/* The units do not read the bits below the eleventh: so a float is its own upper half. */
static __device__ __forceinline__ tensor_split tensor_halves(float x) {
    uint32_t high = __float_as_uint(x);
    return tensor_split{high, __float_as_uint(x - __uint_as_float(high & 0xffffe000u))};
}

static __device__ __forceinline__ void tensor_add(float c[4], const uint32_t a[4], uint32_t b0,
                                                  uint32_t b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* A matrix a, split: rows g and g + 8, columns t and t + 4, in the order of the unit. */
struct tensor_left {
    uint32_t high[4], low[4];

    __device__ __forceinline__ tensor_left(float upper, float lower, float upper_next,
                                           float lower_next) {
        const float x[4] = {upper, lower, upper_next, lower_next};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            tensor_split halves = tensor_halves(x[i]);
            high[i] = halves.high;
            low[i] = halves.low;
        }
    }
};

/* A matrix b, split: rows t and t + 4. */
struct tensor_right {
    tensor_split first, next;

    __device__ __forceinline__ tensor_right(float upper, float lower)
        : first(tensor_halves(upper)), next(tensor_halves(lower)) {
    }
};

/* c + rest += a b: the products of lower halves go to `rest`, so that fewer additions wait for each
 * other. */
static __device__ __forceinline__ void
tensor_multiply(float c[4], float rest[4], const tensor_left &a, const tensor_right &b) {
    tensor_add(rest, a.low, b.first.high, b.next.high);
    tensor_add(c, a.high, b.first.high, b.next.high);
    tensor_add(rest, a.high, b.first.low, b.next.low);
}

#endif
