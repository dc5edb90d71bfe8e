#include "io/types.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* Files are little-endian, and values are moved by memcpy. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a little-endian machine is needed");

static double half_to_double(uint16_t half) {
    uint64_t sign = (uint64_t)(half >> 15) << 63;
    uint64_t exponent = half >> 10 & 31, fraction = half & 1023;
    uint64_t bits;
    if (exponent == 31) /* Inf and NaN */
        bits = sign | UINT64_C(2047) << 52 | fraction << 42;
    else if (exponent > 0)
        bits = sign | (exponent - 15 + 1023) << 52 | fraction << 42;
    else { /* zero or subnormal: fraction * 2^-24, exact in double */
        double value = (double)fraction * 0x1p-24;
        return sign != 0 ? -value : value;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double bfloat_to_double(uint16_t upper) {
    uint32_t bits = (uint32_t)upper << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

#define DECODER(name, stored_type, expression)                                                     \
    static void name(const uint8_t *stored, size_t count, double *out) {                           \
        for (size_t i = 0; i < count; i++) {                                                       \
            stored_type value;                                                                     \
            memcpy(&value, stored + i * sizeof value, sizeof value);                               \
            out[i] = (expression);                                                                 \
        }                                                                                          \
    }
DECODER(decode_f64, double, value)
DECODER(decode_f32, float, (double)value)
DECODER(decode_f16, uint16_t, half_to_double(value))
DECODER(decode_bf16, uint16_t, bfloat_to_double(value))
DECODER(decode_i64, int64_t, (double)value)
DECODER(decode_i32, int32_t, value)
DECODER(decode_u8, uint8_t, value)
DECODER(decode_bool, uint8_t, value != 0)
DECODER(decode_i16, int16_t, value)
DECODER(decode_i8, int8_t, value)
DECODER(decode_u64, uint64_t, (double)value)
DECODER(decode_u32, uint32_t, value)
DECODER(decode_u16, uint16_t, value)

/* npy writes one-byte types with '|' for "no byte order"; it has no bfloat16. */
static const struct {
    const char *name, *npy;
    size_t bytes;
    void (*decode)(const uint8_t *stored, size_t count, double *out);
} types[] = {
    [WT_TYPE_F64] = {"F64", "<f8", 8, decode_f64}, [WT_TYPE_F32] = {"F32", "<f4", 4, decode_f32},
    [WT_TYPE_F16] = {"F16", "<f2", 2, decode_f16}, [WT_TYPE_BF16] = {"BF16", NULL, 2, decode_bf16},
    [WT_TYPE_I64] = {"I64", "<i8", 8, decode_i64}, [WT_TYPE_I32] = {"I32", "<i4", 4, decode_i32},
    [WT_TYPE_U8] = {"U8", "|u1", 1, decode_u8},    [WT_TYPE_BOOL] = {"BOOL", "|b1", 1, decode_bool},
    [WT_TYPE_I16] = {"I16", "<i2", 2, decode_i16}, [WT_TYPE_I8] = {"I8", "|i1", 1, decode_i8},
    [WT_TYPE_U64] = {"U64", "<u8", 8, decode_u64}, [WT_TYPE_U32] = {"U32", "<u4", 4, decode_u32},
    [WT_TYPE_U16] = {"U16", "<u2", 2, decode_u16},
};
enum { TYPE_COUNT = sizeof types / sizeof *types };

const char *wt_type_name(wt_type type) {
    return (size_t)type < TYPE_COUNT ? types[type].name : "?";
}

size_t wt_type_bytes(wt_type type) {
    return (size_t)type < TYPE_COUNT ? types[type].bytes : 0;
}

double wt_type_rounding(wt_type type) {
    static const double roundings[] = {[WT_TYPE_F64] = 0x1p-52,
                                       [WT_TYPE_F32] = 0x1p-23,
                                       [WT_TYPE_F16] = 0x1p-10,
                                       [WT_TYPE_BF16] = 0x1p-7};
    return type <= WT_TYPE_BF16 ? roundings[type] : 0x1p-52;
}

bool wt_type_from_safetensors(const char *name, wt_type *out) {
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (strcmp(types[i].name, name) == 0) {
            *out = (wt_type)i;
            return true;
        }
    return false;
}

bool wt_type_from_npy(const char *descr, wt_type *out) {
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (types[i].npy != NULL && strcmp(types[i].npy, descr) == 0) {
            *out = (wt_type)i;
            return true;
        }
    return false;
}

const char *wt_type_npy(wt_type type) {
    return types[type].npy;
}

void wt_values_decode(wt_type type, const uint8_t *stored, size_t count, double *out) {
    types[type].decode(stored, count, out);
}

void wt_values_encode(wt_type type, const double *values, size_t count, uint8_t *stored) {
    if (type == WT_TYPE_F64) {
        memcpy(stored, values, count * sizeof *values);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        float value = (float)values[i];
        memcpy(stored + i * sizeof value, &value, sizeof value);
    }
}

bool wt_array_measure(wt_array *array) {
    /* A zero in the shape must not hide that the others overflow. */
    size_t size = wt_type_bytes(array->type), others = size;
    bool empty = false;
    for (size_t i = 0; i < array->rank; i++) {
        empty = empty || array->shape[i] == 0;
        if (array->shape[i] != 0 && !wt_multiply(others, array->shape[i], &others))
            return false;
    }
    if (size == 0 || others > PTRDIFF_MAX)
        return false;
    array->bytes = empty ? 0 : others;
    array->count = array->bytes / size;
    return true;
}

const char *wt_index_text(size_t position, size_t rank, const size_t *shape, char *out) {
    size_t index[WT_MAX_RANK] = {0};
    for (size_t i = rank; i-- > 0;) {
        index[i] = position % shape[i];
        position /= shape[i];
    }
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < rank; i++)
        at += (size_t)snprintf(out + at, WT_INDEX_TEXT - at, "%c%zu%s", i == 0 ? '[' : ',',
                               index[i], i + 1 == rank ? "]" : "");
    return out;
}
