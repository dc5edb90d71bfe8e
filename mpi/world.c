#define _GNU_SOURCE /* on_exit */
#include "world.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "scalapack.h"

#define SENTENCE 512
#define SPIN     2000   /* looks for an order before sleeping in between */
#define NAP      200000 /* ns */
#define MESSAGE  ((size_t)1 << 27)

mpi_world mpi_here;

static struct {
    pthread_mutex_t busy;
    bool carrying; /* an order is being carried out */
} orders = {.busy = PTHREAD_MUTEX_INITIALIZER};

/* ---- words ----------------------------------------------------------------------------------- */

wt_status mpi_fail(wt_context *context, wt_status status, const char *format, ...) {
    char sentence[SENTENCE];
    va_list values;
    va_start(values, format);
    vsnprintf(sentence, sizeof sentence, format, values);
    va_end(values);
    return mpi_here.device->services->fail(context, status, sentence);
}

wt_status mpi_agree(wt_context *context, wt_status status) {
    struct {
        int status;
        char host[MPI_MAX_PROCESSOR_NAME];
        char sentence[SENTENCE];
    } told = {.status = (int)status};
    int first, mine = status == WT_OK ? mpi_here.ranks : mpi_here.rank, length;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, mpi_here.all);
    if (first == mpi_here.ranks)
        return WT_OK;
    MPI_Get_processor_name(told.host, &length);
    snprintf(told.sentence, sizeof told.sentence, "%s",
             status == WT_OK ? "" : mpi_here.device->services->message(context));
    MPI_Bcast(&told, sizeof told, MPI_BYTE, first, mpi_here.all);
    return first == 0 ? mpi_fail(context, (wt_status)told.status, "%s", told.sentence)
                      : mpi_fail(context, (wt_status)told.status, "rank %d on %.64s: %s", first,
                                 told.host, told.sentence);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

void mpi_broadcast(void *data, size_t bytes) {
    for (size_t done = 0; done < bytes; done += MESSAGE) {
        size_t part = bytes - done < MESSAGE ? bytes - done : MESSAGE;
        MPI_Bcast((char *)data + done, (int)part, MPI_BYTE, 0, mpi_here.all);
    }
}

void mpi_sum(double *values, size_t count) {
    size_t most = MESSAGE / sizeof *values;
    for (size_t done = 0; done < count; done += most) {
        size_t part = count - done < most ? count - done : most;
        bool root = mpi_here.rank == 0;
        MPI_Reduce(root ? MPI_IN_PLACE : values + done, root ? values + done : NULL, (int)part,
                   MPI_DOUBLE, MPI_SUM, 0, mpi_here.all);
    }
}

void mpi_sum_for_all(double *values, size_t count) {
    mpi_sum(values, count);
    mpi_broadcast(values, count * sizeof *values);
}

mpi_room mpi_room_start(wt_context *context) {
    return (mpi_room){.context = context, .status = WT_OK};
}

void *mpi_take(mpi_room *room, size_t count, size_t size, const char *what) {
    const wt_device_services *services = mpi_here.device->services;
    size_t bytes = count * size;
    if (room->status == WT_OK && (room->count == MPI_BLOCKS || (size > 0 && bytes / size != count)))
        room->status = mpi_fail(room->context, WT_INTERNAL, "no room for %s", what);
    if (room->status == WT_OK)
        room->status = services->hold(room->context, mpi_here.device, bytes, what);
    if (room->status != WT_OK)
        return NULL;
    void *data = calloc(bytes == 0 ? 1 : bytes, 1);
    if (data == NULL) {
        services->release(mpi_here.device, bytes);
        room->status = mpi_fail(room->context, WT_MEMORY, "%s needs %.3g GB, which are not there",
                                what, (double)bytes / 1e9);
        return NULL;
    }
    room->blocks[room->count].data = data;
    room->blocks[room->count++].bytes = bytes;
    return data;
}

void mpi_room_free(mpi_room *room) {
    for (size_t i = 0; i < room->count; i++) {
        free(room->blocks[i].data);
        mpi_here.device->services->release(mpi_here.device, room->blocks[i].bytes);
    }
    room->count = 0;
}

/* ---- orders ---------------------------------------------------------------------------------- */

static void send_order(mpi_order *order) {
    MPI_Request request;
    MPI_Ibcast(order, sizeof *order, MPI_BYTE, 0, mpi_here.all, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Sleeps between looks: rank 0 may draw data for minutes, on all processors. */
static void await_order(mpi_order *order) {
    MPI_Request request;
    int there = 0;
    MPI_Ibcast(order, sizeof *order, MPI_BYTE, 0, mpi_here.all, &request);
    for (int looks = 0; !there; looks++) {
        MPI_Request_get_status(request, &there, MPI_STATUS_IGNORE);
        if (!there && looks >= SPIN)
            nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

wt_status mpi_give(wt_context *context, mpi_call *call) {
    pthread_mutex_lock(&orders.busy);
    orders.carrying = true;
    send_order(&call->order);
    wt_status status = mpi_duties[call->order.kind](context, call);
    orders.carrying = false;
    pthread_mutex_unlock(&orders.busy);
    return status;
}

/* What ranks other than 0 do until the program ends. */
static _Noreturn void serve(wt_context *context) {
    mpi_call call = {.order = {.kind = MPI_ORDER_COUNT}};
    signal(SIGINT, SIG_DFL); /* rank 0 decides what an interrupt means */
    signal(SIGTERM, SIG_DFL);
    for (await_order(&call.order); call.order.kind != MPI_ORDER_END; await_order(&call.order)) {
        (void)mpi_duties[call.order.kind](context, &call); /* rank 0 has the same status */
        call = (mpi_call){.order = {.kind = MPI_ORDER_COUNT}};
    }
    MPI_Finalize();
    exit((int)call.order.number);
}

/* Rank 0: the program ends, and all ranks with it. */
static void leave(int code, void *unused) {
    (void)unused;
    mpi_order order = {.kind = MPI_ORDER_END, .number = (size_t)code};
    if (orders.carrying)
        MPI_Abort(MPI_COMM_WORLD, code);
    send_order(&order);
    MPI_Finalize();
}

/* ---- the start ------------------------------------------------------------------------------- */

/* FNV-1a of a file. */
static uint64_t hash_file(const char *path) {
    uint64_t hash = 0xcbf29ce484222325;
    FILE *file = fopen(path, "rb");
    unsigned char bytes[65536];
    for (size_t read = 1; file != NULL && read > 0;) {
        read = fread(bytes, 1, sizeof bytes, file);
        for (size_t i = 0; i < read; i++)
            hash = (hash ^ bytes[i]) * 0x100000001b3;
    }
    if (file != NULL)
        fclose(file);
    return hash;
}

/* All ranks must run the same program with the same words. */
static wt_status compare(wt_context *context) {
    uint64_t mine[2] = {hash_file("/proc/self/exe"), hash_file("/proc/self/cmdline")};
    uint64_t first[2] = {mine[0], mine[1]};
    MPI_Bcast(first, sizeof first, MPI_BYTE, 0, mpi_here.all);
    if (mine[0] != first[0])
        return mpi_fail(context, WT_USAGE, "another program than that of rank 0 runs here");
    if (mine[1] != first[1])
        return mpi_fail(context, WT_USAGE, "the words of the command differ from those of rank 0");
    return WT_OK;
}

/* As square as can be, with no more rows than columns. */
static void open_grid(void) {
    mpi_here.rows = 1;
    for (int rows = 1; rows * rows <= mpi_here.ranks; rows++)
        if (mpi_here.ranks % rows == 0)
            mpi_here.rows = rows;
    mpi_here.columns = mpi_here.ranks / mpi_here.rows;
    mpi_here.grid = Csys2blacs_handle(mpi_here.all);
    Cblacs_gridinit(&mpi_here.grid, "R", mpi_here.rows, mpi_here.columns);
    mpi_here.row = mpi_here.rank / mpi_here.columns;
    mpi_here.column = mpi_here.rank % mpi_here.columns;
}

/* What this rank has of the machine it is on. */
static void divide_machine(wt_context *context) {
    MPI_Comm beside;
    int ranks;
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    MPI_Comm_split_type(mpi_here.all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &beside);
    MPI_Comm_size(beside, &ranks);
    MPI_Comm_free(&beside);
    mpi_here.device->memory = (size_t)pages * (size_t)size / (size_t)ranks;
    mpi_here.device->services->lower_threads(context,
                                             processors > ranks ? (int)(processors / ranks) : 1);
}

wt_status mpi_world_open(wt_context *context, wt_device *device) {
    int provided, begun;
    mpi_here.device = device;
    MPI_Initialized(&begun);
    if (begun)
        return mpi_fail(context, WT_UNAVAILABLE,
                        "MPI cannot be used: this process has started it already");
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi_here.all);
    MPI_Comm_rank(mpi_here.all, &mpi_here.rank);
    MPI_Comm_size(mpi_here.all, &mpi_here.ranks);
    if (mpi_here.rank == 0)
        on_exit(leave, NULL);
    wt_status status = compare(context);
    if (status == WT_OK && provided < MPI_THREAD_SERIALIZED)
        status = mpi_fail(context, WT_UNAVAILABLE, "this MPI does not take calls of threads");
    if (status == WT_OK)
        status = mpi_counts_open(context);
    status = mpi_agree(context, status);
    if (status == WT_OK) {
        open_grid();
        divide_machine(context);
    }
    if (mpi_here.rank != 0)
        serve(context);
    return status;
}
