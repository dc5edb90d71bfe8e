/* Zip archives made by hand, so that they can lie. */
#ifndef TESTS_IO_ARCHIVE_H
#define TESTS_IO_ARCHIVE_H

#include "files.h"

typedef struct {
    uint8_t bytes[1 << 16], directory[1 << 14];
    size_t used, directory_used, members;
} archive_bytes;

/* One member; what a field says is what the archive will claim. */
typedef struct {
    const char *name;
    const uint8_t *content; /* as it stands in the archive */
    size_t content_bytes;
    uint16_t method, flags;
    uint32_t checksum, claimed_compressed, claimed_size;
    uint32_t offset; /* of the local header; set by archive_add */
} archive_member;

static inline void put(uint8_t *bytes, size_t *used, uint64_t value, size_t count) {
    for (size_t i = 0; i < count; i++)
        bytes[(*used)++] = (uint8_t)(value >> 8 * i);
}

static inline uint32_t crc32_of(const uint8_t *bytes, size_t count) {
    uint32_t sum = 0xFFFFFFFF;
    for (size_t i = 0; i < count; i++) {
        sum ^= bytes[i];
        for (int k = 0; k < 8; k++)
            sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320 : 0);
    }
    return ~sum;
}

/* What local header and directory have in common. */
static inline void put_common(uint8_t *bytes, size_t *used, const archive_member *member) {
    put(bytes, used, 20, 2);
    put(bytes, used, member->flags, 2);
    put(bytes, used, member->method, 2);
    put(bytes, used, 0x00210000, 4); /* midnight of 1 January 1980 */
    put(bytes, used, member->checksum, 4);
    put(bytes, used, member->claimed_compressed, 4);
    put(bytes, used, member->claimed_size, 4);
    put(bytes, used, strlen(member->name), 2);
    put(bytes, used, 0, 2);
}

static inline void put_bytes(uint8_t *bytes, size_t *used, const void *from, size_t count) {
    memcpy(bytes + *used, from, count);
    *used += count;
}

/* The directory entry alone: two of them may share a local header. */
static inline void archive_list(archive_bytes *archive, const archive_member *member) {
    uint8_t *bytes = archive->directory;
    size_t *used = &archive->directory_used;
    put(bytes, used, 0x02014B50, 4);
    put(bytes, used, 20, 2);
    put_common(bytes, used, member);
    put(bytes, used, 0, 2 + 2 + 2);
    put(bytes, used, 0, 4);
    put(bytes, used, member->offset, 4);
    put_bytes(bytes, used, member->name, strlen(member->name));
    archive->members++;
}

static inline void archive_add(archive_bytes *archive, archive_member *member) {
    member->offset = (uint32_t)archive->used;
    put(archive->bytes, &archive->used, 0x04034B50, 4);
    put_common(archive->bytes, &archive->used, member);
    put_bytes(archive->bytes, &archive->used, member->name, strlen(member->name));
    put_bytes(archive->bytes, &archive->used, member->content, member->content_bytes);
    archive_list(archive, member);
}

/* Writes the directory and the file. */
static inline const char *archive_make(archive_bytes *archive) {
    size_t start = archive->used;
    put_bytes(archive->bytes, &archive->used, archive->directory, archive->directory_used);
    put(archive->bytes, &archive->used, 0x06054B50, 4);
    put(archive->bytes, &archive->used, 0, 4);
    put(archive->bytes, &archive->used, archive->members, 2);
    put(archive->bytes, &archive->used, archive->members, 2);
    put(archive->bytes, &archive->used, archive->directory_used, 4);
    put(archive->bytes, &archive->used, start, 4);
    put(archive->bytes, &archive->used, 0, 2);
    return file_make("made.npz", archive->bytes, archive->used);
}

/* An npy member of this shape that is stored, honest in every field. */
static inline archive_member honest(const char *name, uint8_t *room, const char *shape,
                                    size_t values) {
    char literal[256];
    size_t length = (size_t)snprintf(
        literal, sizeof literal, "{'descr': '|u1', 'fortran_order': False, 'shape': %s}", shape);
    size_t used = 0;
    put_bytes(room, &used, "\x93NUMPY\1", 8);
    put(room, &used, length, 2);
    put_bytes(room, &used, literal, length);
    memset(room + used, 7, values);
    used += values;
    return (archive_member){.name = name,
                            .content = room,
                            .content_bytes = used,
                            .checksum = crc32_of(room, used),
                            .claimed_compressed = (uint32_t)used,
                            .claimed_size = (uint32_t)used};
}

/* The same member as a deflate stream of one stored block. */
static inline archive_member deflated(archive_member member, uint8_t *room) {
    size_t used = 0;
    put(room, &used, 1, 1);
    put(room, &used, member.content_bytes, 2);
    put(room, &used, ~member.content_bytes, 2);
    put_bytes(room, &used, member.content, member.content_bytes);
    member.content = room;
    member.content_bytes = used;
    member.claimed_compressed = (uint32_t)used;
    member.method = 8;
    return member;
}

#endif
