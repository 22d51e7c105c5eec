// A reader of archives, and its fuzz target as libFuzzer wants it.
//
//   "ARC2" flags(1) entries(1) { name length(1) name method(1) packed(u16 le) raw(u16 le) data(packed) }*
//
// Methods: 0 as it is; 1 runs, of a count and a byte; 2 copies: below 0x80 so many bytes of its own, else a length and how far
// back (u16 le).
// In a solid archive (flag 1) the bytes of all entries are one window, and copies reach into entries before.
//
// The planted fault: what an entry named `.index` says is believed: the sums of the raw lengths in it are where the entries of a
// solid archive begin. A place beyond the window is written to.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WINDOW 4096
#define ENTRIES 8
#define SOLID 1

static struct {
    uint8_t window[WINDOW];
    // Behind the window: what must never change.
    uint8_t guard[16];
} space;
static size_t starts[ENTRIES + 1];

static uint16_t u16(const uint8_t *bytes) {
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

// Bytes that were written from `to` on, or -1.
static long unpack(uint8_t method, const uint8_t *data, size_t packed, size_t base, size_t to, size_t raw) {
    uint8_t *out = space.window;
    size_t from = to, at = 0, limit = to + raw;
    if (method == 0) {
        if (packed != raw) return -1;
        memcpy(out + to, data, packed);
        return (long)packed;
    }
    while (at < packed) {
        uint8_t code = data[at++];
        if (method == 1) {
            if (at == packed || code > limit - to) return -1;
            memset(out + to, data[at++], code);
            to += code;
        } else if (code < 0x80) {
            if (code > packed - at || code > limit - to) return -1;
            memcpy(out + to, data + at, code);
            to += code, at += code;
        } else {
            size_t length = (size_t)(code & 0x7f) + 3;
            if (packed - at < 2 || length > limit - to) return -1;
            size_t back = u16(data + at);
            at += 2;
            if (back == 0 || back > to - base) return -1;
            for (; length > 0; length--, to++) out[to] = out[to - back];
        }
    }
    return (long)(to - from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 6 || memcmp(data, "ARC2", 4) != 0) return 0;
    uint8_t flags = data[4], entries = data[5];
    if (flags > SOLID || entries > ENTRIES) return 0;
    memset(&space, 0, sizeof space);
    memset(starts, 0, sizeof starts);
    size_t at = 6, used = 0;
    int has_index = 0;
    for (size_t number = 0; number < entries; number++) {
        if (size - at < 1 || data[at] == 0 || size - at < (size_t)data[at] + 6) return 0;
        size_t name_length = data[at];
        const uint8_t *name = data + at + 1, *head = name + name_length;
        uint8_t method = head[0];
        size_t packed = u16(head + 1), raw = u16(head + 3);
        at += name_length + 6;
        if (method > 2 || packed > size - at) return 0;
        size_t to = flags & SOLID ? used : 0;
        if (has_index) {
            // Where the index has it.
            to = starts[number];
        } else if (raw > WINDOW - to) {
            return 0;
        }
        if (raw > WINDOW) return 0;
        if (to > WINDOW + sizeof space.guard - 1) __builtin_trap();
        if (has_index && raw > WINDOW - to) return 0;
        long got = unpack(method, data + at, packed, flags & SOLID ? 0 : to, to, raw);
        if (got != (long)raw) return 0;
        if (flags & SOLID && number == 0 && name_length == 6 && memcmp(name, ".index", 6) == 0 && raw >= 2 * (size_t)entries) {
            // The sums, one for each entry.
            size_t sum = raw;
            for (size_t entry = 1; entry < entries; entry++) {
                starts[entry] = sum;
                sum += u16(space.window + 2 * entry);
            }
            has_index = 1;
        }
        used = to + raw;
        at += packed;
    }
    for (size_t place = 0; place < sizeof space.guard; place++)
        if (space.guard[place] != 0) __builtin_trap();
    return 0;
}
