/* The host's random words on the device, bit for bit. */
#ifndef WATTLE_CUDA_FLEET_RANDOM_H
#define WATTLE_CUDA_FLEET_RANDOM_H

#include <stdint.h>

/* Philox4x32-10: the words of dropout. */
static __device__ __forceinline__ uint4 philox_32(uint64_t key, uint32_t index, uint32_t sample,
                                                  uint32_t place) {
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint4 x = make_uint4(index, sample, 0, place); /* samples are fewer than 2^32 */
#pragma unroll
    for (int round = 0; round < 10; round++) {
        uint32_t h0 = __umulhi(x.x, 0xD2511F53u), l0 = x.x * 0xD2511F53u;
        uint32_t h1 = __umulhi(x.z, 0xCD9E8D57u), l1 = x.z * 0xCD9E8D57u;
        x = make_uint4(h1 ^ x.y ^ k0, l1, h0 ^ x.w ^ k1, l0);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return x;
}

/* The draw of 16 bits for number j of a row that begins at word `base` (a multiple of 16). */
static __device__ __forceinline__ uint32_t drop_draw(uint64_t key, uint32_t sample, uint32_t place,
                                                     uint32_t base, uint32_t j) {
    uint32_t word = base + j / 32 * 16 + j % 16;
    uint4 x = philox_32(key, word / 64 * 16 + word % 16, sample, place);
    uint32_t v = word / 16 % 4, w = v == 0 ? x.x : v == 1 ? x.y : v == 2 ? x.z : x.w;
    return j / 16 % 2 == 0 ? w & 0xffffu : w >> 16;
}

/* Philox4x64-10 as the host counts: block number `block` of a stream. */
static __device__ __forceinline__ void philox_64(const uint64_t stream[2], uint64_t block,
                                                 uint64_t out[4]) {
    uint64_t k0 = stream[0], k1 = stream[1], x0 = block + 1, x1 = 0, x2 = 0, x3 = 0;
#pragma unroll
    for (int round = 0; round < 10; round++) {
        uint64_t h0 = __umul64hi(x0, 0xD2E7470EE14C6C93ull), l0 = x0 * 0xD2E7470EE14C6C93ull;
        uint64_t h1 = __umul64hi(x2, 0xCA5A826395121157ull), l1 = x2 * 0xCA5A826395121157ull;
        x0 = h1 ^ x1 ^ k0;
        x1 = l1;
        x2 = h0 ^ x3 ^ k1;
        x3 = l0;
        k0 += 0x9E3779B97F4A7C15ull;
        k1 += 0xBB67AE8584CAA73Bull;
    }
    out[0] = x0;
    out[1] = x1;
    out[2] = x2;
    out[3] = x3;
}

#endif
