/* Archives that lie; the numbers are the rules at the top of src/io/npz.c. */
#define _XOPEN_SOURCE 700
#include "archive.h"

static uint8_t room[4096], squeezed[4096];

static void check_one(wt_context *context, archive_member member, const char *words) {
    archive_bytes made = {.used = 0};
    archive_add(&made, &member);
    const char *path = archive_make(&made);
    if (words == NULL) {
        CHECK_OK(context, read_all(context, path));
        return;
    }
    CHECK_FAILS(context, read_all(context, path), WT_DATA, words);
    check_sentence(context, path);
}

static void honest_members_are_read(void **state) {
    check_one(*state, honest("x.npy", room, "(4,)", 4), NULL);
    check_one(*state, deflated(honest("x.npy", room, "(4,)", 4), squeezed), NULL);
}

static void rule_1_methods(void **state) {
    archive_member member = honest("x.npy", room, "(4,)", 4);
    member.method = 12;
    check_one(*state, member, "x.npy': ");
    member = honest("x.npy", room, "(4,)", 4);
    member.flags = 1;
    check_one(*state, member, "x.npy': ");
}

static void rule_2_bombs(void **state) {
    archive_member member = deflated(honest("x.npy", room, "(4,)", 4), squeezed);
    member.claimed_size = 0x7FFFFFFF;
    check_one(*state, member, "declares 2147483647 bytes, more than its ");
    member.claimed_size = member.claimed_compressed * 1032 + 1;
    check_one(*state, member, "compressed bytes can hold");
    member = honest("x.npy", room, "(4,)", 4);
    member.claimed_size++;
    check_one(*state, member, "made.npz: ");
}

static void rule_3_shared_bytes(void **state) {
    enum { VALUES = 2000 };
    archive_bytes made = {.used = 0};
    archive_member member = honest("a.npy", room, "(2000,)", VALUES);
    archive_add(&made, &member);
    for (int letter = 'b'; letter <= 'z'; letter++) {
        char name[] = {(char)letter, '.', 'n', 'p', 'y', '\0'};
        member.name = name;
        archive_list(&made, &member);
    }
    CHECK_FAILS(*state, read_all(*state, archive_make(&made)), WT_DATA, "made.npz: ");
}

static void rule_4_names(void **state) {
    check_one(*state, honest("readme.txt", room, "(4,)", 4), "'readme.txt': is no array");
    check_one(*state, honest(".npy", room, "(4,)", 4), "'.npy': is no array");
    check_one(*state, honest("folder/", room, "(4,)", 4), "'folder/': is no array");
    archive_member member = honest("\xff\xfe.npy", room, "(4,)", 4);
    member.flags = 1 << 11; /* claims to be UTF-8 */
    check_one(*state, member, "made.npz: ");
    archive_bytes made = {.used = 0};
    member = honest("x.npy", room, "(4,)", 4);
    archive_add(&made, &member);
    archive_add(&made, &member);
    CHECK_FAILS(*state, read_all(*state, archive_make(&made)), WT_DATA, "two arrays named 'x'");
}

static void rule_5_ends_and_checksums(void **state) {
    check_one(*state, honest("x.npy", room, "(4,)", 5), "asks for 4 bytes of values, but 5 follow");
    check_one(*state, honest("x.npy", room, "(4,)", 3), "asks for 4 bytes of values, but 3 follow");
    check_one(*state, honest("x.npy", room, "(-4,)", 4), "'x.npy': header, byte 61");
    archive_member member = honest("x.npy", room, "(4,)", 4);
    member.checksum ^= 1;
    check_one(*state, member, "'x.npy': is damaged");
    member = deflated(honest("x.npy", room, "(4,)", 4), squeezed);
    member.checksum ^= 1;
    check_one(*state, member, "'x.npy': is damaged");
    /* Inflates to less, and to more, than it declares; the shape believes the declaration. */
    member = deflated(honest("x.npy", room, "(40,)", 4), squeezed);
    member.claimed_size += 36;
    check_one(*state, member, "'x.npy': ");
    member = deflated(honest("x.npy", room, "(4,)", 40), squeezed);
    member.claimed_size -= 36;
    check_one(*state, member, "'x.npy': ");
    member.claimed_size = 4; /* less than the head */
    check_one(*state, member, "'x.npy': ");
    member = honest("x.npy", room, "(4,)", 4);
    member.content = (const uint8_t *)"no array at all, though long enough to have a head";
    member.content_bytes = member.claimed_compressed = member.claimed_size = 50;
    check_one(*state, member, "'x.npy': is no npy array");
}

static void names_cannot_speak_to_the_terminal(void **state) {
    check_one(*state, honest("a\033[2J\n.txt", room, "(4,)", 4), "made.npz: member 'a");
    assert_null(strchr(wt_context_message(*state), '\033'));
    assert_null(strchr(wt_context_message(*state), '\n'));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_members_are_read),
        cmocka_unit_test(rule_1_methods),
        cmocka_unit_test(rule_2_bombs),
        cmocka_unit_test(rule_3_shared_bytes),
        cmocka_unit_test(rule_4_names),
        cmocka_unit_test(rule_5_ends_and_checksums),
        cmocka_unit_test(names_cannot_speak_to_the_terminal),
    };
    return cmocka_run_group_tests(tests, files_open, files_close);
}
