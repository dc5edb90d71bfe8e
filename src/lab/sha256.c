#include "lab/sha256.h"

#include <string.h>

enum { BLOCK = 64, LENGTH_AT = 56, ROUNDS = 64 };

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn_right(uint32_t word, unsigned bits) {
    return word >> bits | word << (32 - bits);
}

static void schedule(const uint8_t block[BLOCK], uint32_t words[ROUNDS]) {
    for (size_t i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (size_t i = 16; i < ROUNDS; i++) {
        uint32_t a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + (turn_right(a, 7) ^ turn_right(a, 18) ^ a >> 3) + words[i - 7] +
                   (turn_right(b, 17) ^ turn_right(b, 19) ^ b >> 10);
    }
}

/* One block into the state a, b, .., h. */
static void compress(uint32_t state[8], const uint8_t block[BLOCK]) {
    uint32_t words[ROUNDS] = {0}, s[8];
    schedule(block, words);
    memcpy(s, state, sizeof s);
    for (size_t i = 0; i < ROUNDS; i++) {
        uint32_t e = s[4], a = s[0];
        uint32_t first = s[7] + (turn_right(e, 6) ^ turn_right(e, 11) ^ turn_right(e, 25)) +
                         ((e & s[5]) ^ (~e & s[6])) + round_constants[i] + words[i];
        uint32_t second = (turn_right(a, 2) ^ turn_right(a, 13) ^ turn_right(a, 22)) +
                          ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += first;
        s[0] = first + second;
    }
    for (size_t i = 0; i < 8; i++)
        state[i] += s[i];
}

const char *wt_sha256(const void *bytes, size_t count, char out[WT_HASH_TEXT]) {
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint8_t *at = bytes;
    size_t left = count;
    for (; left >= BLOCK; left -= BLOCK, at += BLOCK)
        compress(state, at);
    /* the rest, a bit 1, zeros, and the number of bits in the last eight bytes */
    uint8_t last[BLOCK] = {0};
    if (left > 0)
        memcpy(last, at, left);
    last[left] = 0x80;
    if (left >= LENGTH_AT) {
        compress(state, last);
        memset(last, 0, sizeof last);
    }
    uint64_t bits = (uint64_t)count * 8;
    for (size_t i = 0; i < 8; i++)
        last[LENGTH_AT + i] = (uint8_t)(bits >> (56 - 8 * i));
    compress(state, last);
    for (size_t i = 0; i < WT_HASH_TEXT - 1; i++)
        out[i] = "0123456789abcdef"[state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    out[WT_HASH_TEXT - 1] = '\0';
    return out;
}
