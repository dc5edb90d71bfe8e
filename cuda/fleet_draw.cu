/* Fresh samples, from the words that the host draws. */
#include "fleet.h"
#include "fleet_random.h"

/* A thread has four words: eight bits of a sample, or what of them is its own. */
static __global__ void draw_bits(const fleet_shape shape, const fleet_work work, bool judged) {
    int b = blockIdx.y, calls = (shape.length + 1) / 2 / 4 + 2;
    const fleet_one one = work.ones[b];
    const fleet_source &source = work.sources[one.slot];
    uint64_t words = (uint64_t)(shape.length + 1) / 2;
    int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int sample = (int)(at / calls);
    if (sample >= one.samples)
        return;
    uint8_t *to = judged ? work.drawn + ((int64_t)b * shape.rows + sample) * shape.drawn
                         : work.bit + ((int64_t)one.slot * shape.samples + sample) * shape.length;
    uint64_t begin = (one.first + (uint64_t)sample) * words, out[4];
    uint64_t block = begin / 4 + (uint64_t)(at % calls);
    if (block * 4 >= begin + words)
        return;
    philox_64(judged ? source.judged : source.inputs, block, out);
    for (int v = 0; v < 4; v++) {
        uint64_t word = block * 4 + v;
        if (word < begin || word >= begin + words)
            continue;
        int64_t t = 2 * (int64_t)(word - begin);
        to[t] = (out[v] & 0xffffffffu) < source.threshold;
        if (t + 1 < shape.length)
            to[t + 1] = out[v] >> 32 < source.threshold;
    }
}

/* Labels, those of a step with noise. */
static __global__ void draw_labels(const fleet_shape shape, const fleet_work work, bool judged) {
    int b = blockIdx.y, sample = blockIdx.x * blockDim.x + threadIdx.x;
    const fleet_one one = work.ones[b];
    const fleet_source &source = work.sources[one.slot];
    if (sample >= one.samples)
        return;
    int64_t place = (int64_t)one.slot * shape.samples + sample;
    const uint8_t *bit = judged ? work.drawn + ((int64_t)b * shape.rows + sample) * shape.drawn
                                : work.bit + place * shape.length;
    int row = 0, flip = 0;
    for (int i = 0; i < source.bits; i++)
        row = 2 * row + bit[source.relevant[i]];
    if (!judged && source.noise > 0) {
        uint64_t index = one.first + (uint64_t)sample, out[4];
        philox_64(source.flips, index / 4, out);
        flip = (double)(out[index % 4] >> 11) * 0x1p-53 < source.noise;
    }
    uint8_t label = (uint8_t)(work.values[source.values + row] ^ flip);
    if (judged)
        work.drawn_label[(int64_t)b * shape.rows + sample] = label;
    else
        work.label[place] = label;
}

void fleet_draw(const fleet_call &call, bool judged) {
    int64_t calls = (call.shape.length + 1) / 2 / 4 + 2;
    unsigned count = (unsigned)call.count;
    draw_bits<<<dim3((unsigned)((call.most * calls + 127) / 128), count), 128, 0, call.stream>>>(
        call.shape, call.work, judged);
    draw_labels<<<dim3((unsigned)((call.most + 127) / 128), count), 128, 0, call.stream>>>(
        call.shape, call.work, judged);
}
