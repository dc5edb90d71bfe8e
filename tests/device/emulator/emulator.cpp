/* Blocks of threads on processors. Every thread of a block is a fiber with a stack of its own; one
 * runs until it waits, and the next one goes on. Warps and lanes take turns in an order that
 * changes with every round: results that depend on it show in tests that ask for the same bits
 * twice. Memory begins as not-a-number. What a GPU would not start, or would hang in, is refused.
 */
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

#include "cuda_runtime.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace {

enum { WARP = 32, MOST_THREADS = 1024, MOST_SHARED = 227 << 10 };
constexpr size_t STACK = (size_t)1 << 18, UNASKED = 48 << 10; /* shared memory of any kernel */

/* libc's own: the sanitizers put one before it that asks the system about stacks they do not know.
 */
typedef void jumper(jmp_buf, int);
jumper *const jump = (jumper *)dlsym(RTLD_NEXT, "_longjmp");

enum state { READY, AT_WARP, AT_BLOCK, ENDED };

struct pending {
    void *to;
    const void *from;
    size_t bytes;
};

struct fiber {
    enum state state = ENDED;
    uint3 index;
    jmp_buf at;
    ucontext_t first;
    void *stack = NULL;
    std::vector<pending> copies;
    char shown[2][emulator::SHOWN];
    int round = 0;
};

[[noreturn]] void give_up(const char *words) {
    fprintf(stderr, "emulator: %s\n", words);
    abort();
}

/* What runs blocks, one launch at a time. */
struct processor {
    std::mutex busy;
    std::vector<std::unique_ptr<fiber>> fibers;
    std::vector<char> shared;
    const std::function<void()> *body;
    jmp_buf scheduler;
    int now = 0;
    unsigned turn = 0;
    ~processor() {
        for (auto &one : fibers)
            munmap(one->stack, STACK);
    }
};
processor here;

/* Back to the scheduler until the fiber is resumed. */
void leave(enum state why) {
    fiber &self = *here.fibers[here.now];
    self.state = why;
    if (_setjmp(self.at) == 0)
        jump(here.scheduler, 1);
}

/* A fiber never returns: it takes the next block's body when it is resumed. */
void live() {
    for (;;) {
        (*here.body)();
        if (!here.fibers[here.now]->copies.empty())
            give_up("a thread ended before its copies came");
        leave(ENDED);
    }
}

/* To where it first waits for a body. */
void start(fiber *one) {
    const std::function<void()> nothing = [] {};
    here.body = &nothing;
    if (_setjmp(here.scheduler) == 0)
        setcontext(&one->first);
}

void add_fiber() {
    std::unique_ptr<fiber> one(new fiber);
    one->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (one->stack == MAP_FAILED)
        give_up("no memory for a stack");
    getcontext(&one->first);
    one->first.uc_stack.ss_sp = one->stack;
    one->first.uc_stack.ss_size = STACK;
    one->first.uc_link = NULL;
    makecontext(&one->first, live, 0);
    here.now = (int)here.fibers.size();
    here.fibers.push_back(std::move(one));
    start(here.fibers.back().get());
}

void resume(int i) {
    fiber &one = *here.fibers[i];
    here.now = i;
    threadIdx = one.index;
    if (_setjmp(here.scheduler) == 0)
        jump(one.at, 1);
}

/* One warp until all its lanes wait for the block, or have ended. */
void run_warp(int first, int count) {
    for (;;) {
        int waiting = 0, at_block = 0, mask = (int)(here.turn++ * 7 % WARP);
        for (int k = 0; k < WARP; k++) {
            int i = first + (k ^ mask);
            if (i >= first + count)
                continue;
            if (here.fibers[i]->state == READY)
                resume(i);
            waiting += here.fibers[i]->state == AT_WARP;
            at_block += here.fibers[i]->state == AT_BLOCK;
        }
        if (waiting == 0)
            return;
        if (at_block > 0)
            give_up("lanes of a warp wait for each other in different places");
        for (int k = 0; k < count; k++)
            if (here.fibers[first + k]->state == AT_WARP)
                here.fibers[first + k]->state = READY;
    }
}

void run_block(int threads) {
    int warps = (threads + WARP - 1) / WARP, live = threads;
    std::fill(here.shared.begin(), here.shared.end(), (char)0xff);
    for (int i = 0; i < threads; i++) {
        here.fibers[i]->state = READY;
        here.fibers[i]->round = 0;
    }
    while (live > 0) {
        int from = (int)(here.turn++ % (unsigned)warps);
        for (int k = 0; k < warps; k++) {
            int first = (from + k) % warps * WARP;
            run_warp(first, threads - first < WARP ? threads - first : WARP);
        }
        live = 0;
        for (int i = 0; i < threads; i++)
            if (here.fibers[i]->state == AT_BLOCK) {
                here.fibers[i]->state = READY;
                live++;
            }
    }
}

std::mutex asking;
std::map<const void *, size_t> shared_of; /* what kernels asked for last, also less than any has */
thread_local cudaError_t last_error;

cudaError_t keep(cudaError_t error) {
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

} // namespace

namespace emulator {

void wait_block() {
    leave(AT_BLOCK);
}
void wait_warp() {
    leave(AT_WARP);
}
void *dynamic_shared() {
    return here.shared.data();
}
int lane_now() {
    return here.now % WARP;
}
int next_round() {
    return here.fibers[here.now]->round ^= 1;
}
char *shown_by(int lane, int round) {
    return here.fibers[here.now / WARP * WARP + lane]->shown[round];
}
void copy_later(void *to, const void *from, size_t bytes) {
    if ((bytes != 4 && bytes != 8 && bytes != 16) || (uintptr_t)to % bytes != 0 ||
        (uintptr_t)from % bytes != 0)
        give_up("a copy to shared memory that is not aligned");
    here.fibers[here.now]->copies.push_back(pending{to, from, bytes});
}
void wait_copies() {
    for (const pending &copy : here.fibers[here.now]->copies)
        memcpy(copy.to, copy.from, copy.bytes);
    here.fibers[here.now]->copies.clear();
}

void multiply_tile(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1) {
    int lane = lane_now(), g = lane / 4, t = lane % 4, round = next_round();
    const uint32_t mine[6] = {a[0], a[1], a[2], a[3], b0, b1};
    for (int i = 0; i < 6; i++) { /* the units read no bits below the eleventh */
        uint32_t read = mine[i] & 0xffffe000u;
        memcpy(shown_by(lane, round) + 4 * i, &read, sizeof read);
    }
    wait_warp();
    for (int place = 0; place < 4; place++) {
        int column = 2 * t + place % 2;
        for (int k = 0; k < 8; k++) {
            float left, right;
            memcpy(&left, shown_by(4 * g + k % 4, round) + 4 * (place / 2 + k / 4 * 2), 4);
            memcpy(&right, shown_by(4 * column + k % 4, round) + 4 * (4 + k / 4), 4);
            c[place] += left * right;
        }
    }
}

void run_grid(dim3 grid, dim3 block, size_t shared, const std::function<void()> &body) {
    size_t threads = (size_t)block.x * block.y * block.z;
    std::lock_guard<std::mutex> hold(here.busy);
    while (here.fibers.size() < threads)
        add_fiber();
    for (size_t i = 0; i < threads; i++)
        here.fibers[i]->index = uint3{(unsigned)(i % block.x), (unsigned)(i / block.x % block.y),
                                      (unsigned)(i / block.x / block.y)};
    here.shared = std::vector<char>(shared); /* no larger than asked for, for the sanitizers */
    here.body = &body;
    blockDim = block;
    gridDim = grid;
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                blockIdx = uint3{x, y, z};
                run_block((int)threads);
            }
}

cudaError_t allow_shared(const void *kernel, int bytes) {
    if (bytes > MOST_SHARED)
        return keep(cudaErrorInvalidValue);
    std::lock_guard<std::mutex> hold(asking);
    shared_of[kernel] = (size_t)bytes;
    return cudaSuccess;
}

bool fits(const void *kernel, dim3 grid, dim3 block, size_t shared) {
    std::lock_guard<std::mutex> hold(asking);
    auto asked = shared_of.find(kernel);
    size_t most = asked == shared_of.end() ? UNASKED : asked->second;
    size_t threads = (size_t)block.x * block.y * block.z;
    bool fine = threads > 0 && threads <= MOST_THREADS && block.z <= 64 && grid.x > 0 &&
                grid.x < 1u << 31 && grid.y > 0 && grid.y < 1u << 16 && grid.z > 0 &&
                grid.z < 1u << 16 && shared <= most;
    if (!fine)
        keep(cudaErrorInvalidConfiguration);
    return fine;
}

} // namespace emulator

/* ---- the runtime: one device, all of whose work is done when a call returns --------------------
 */

const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorMemoryAllocation       ? "out of memory"
           : error == cudaErrorInvalidConfiguration ? "invalid configuration argument"
                                                    : "invalid argument";
}
cudaError_t cudaGetLastError() {
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}
cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *about, int) {
    snprintf(about->name, sizeof about->name, "processors in a GPU's place");
    about->totalGlobalMem = (size_t)4 << 30;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) {
    *version = 12000;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int index) {
    return index == 0 ? cudaSuccess : keep(cudaErrorInvalidValue);
}
cudaError_t cudaMalloc(void **out, size_t bytes) {
    if (posix_memalign(out, 256, bytes) != 0)
        return keep(cudaErrorMemoryAllocation);
    memset(*out, 0xff, bytes);
    return cudaSuccess;
}
cudaError_t cudaFree(void *data) {
    free(data);
    return cudaSuccess;
}
cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t) {
    return cudaMalloc(out, bytes);
}
cudaError_t cudaFreeAsync(void *data, cudaStream_t) {
    return cudaFree(data);
}
cudaError_t cudaMemGetInfo(size_t *left, size_t *all) {
    *left = *all = (size_t)4 << 30;
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
    memmove(to, from, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind, cudaStream_t) {
    for (size_t i = 0; i < height; i++)
        memmove((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t) {
    memset(to, value, bytes);
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned) {
    *out = (cudaStream_t)malloc(1);
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int) {
    return cudaStreamCreateWithFlags(out, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    free(stream);
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned) {
    *out = (cudaEvent_t)malloc(1);
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    free(event);
    return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *most) {
    *least = 0;
    *most = -5;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int) {
    *out = NULL;
    return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, int, void *) {
    return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) {
    return cudaSuccess;
}
