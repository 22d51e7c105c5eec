// A reader of a file of chunks, and its fuzz target as libFuzzer wants it.
//
//   "CHNK" version(u16 be) { kind(4) length(u32 le) data(length) crc32(u32 le, over kind and data) }*
//
// Planted faults, each behind the checks:
//   SIZE   divides by a width that it does not look at
//   LOCK   aborts on a key of sixteen bytes
//   NEST   recurses once for each opening bracket, without a bound
//   FILL   trusts a count and writes beyond its buffer, and so beyond the end of memory

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint32_t crc32(const uint8_t *bytes, size_t length, uint32_t crc) {
    crc = ~crc;
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (0xEDB88320u & -(crc & 1));
    }
    return ~crc;
}

static uint32_t u32(const uint8_t *bytes) {
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static volatile uint32_t sink;

static void size_chunk(const uint8_t *data, size_t length) {
    if (length != 8) return;
    uint32_t width = u32(data), area = u32(data + 4);
    if (area < 100) return;
    sink = area / width;
}

static void lock_chunk(const uint8_t *data, size_t length) {
    if (length == 16 && memcmp(data, "sesame, open now", 16) == 0) abort();
}

static size_t nest(const uint8_t *data, size_t length, size_t at) {
    while (at < length) {
        if (data[at] == '[') {
            at = nest(data, length, at + 1);
        } else if (data[at] == ']') {
            return at + 1;
        } else {
            at++;
        }
    }
    sink++;
    return at;
}

static uint8_t filled[64];

static void fill_chunk(const uint8_t *data, size_t length) {
    if (length < 5 || data[4] != '#') return;
    uint32_t count = u32(data);
    memset(filled, data[4], count);
    sink = filled[count % sizeof filled];
}

static const struct {
    char kind[5];
    void (*read)(const uint8_t *data, size_t length);
} READERS[] = {{"SIZE", size_chunk}, {"LOCK", lock_chunk}, {"FILL", fill_chunk}};

static void chunk(const uint8_t *kind, const uint8_t *data, size_t length) {
    for (size_t i = 0; i < sizeof READERS / sizeof *READERS; i++)
        if (memcmp(kind, READERS[i].kind, 4) == 0) READERS[i].read(data, length);
    if (memcmp(kind, "NEST", 4) == 0) nest(data, length, 0);
}

static size_t started;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    if (*argc < 1 || (*argv)[0] == NULL) abort();
    started++;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (started != 1) abort();
    // State that must not be seen by the next input.
    static unsigned inputs;
    if (++inputs != 1) abort();
    if (size < 6 || memcmp(data, "CHNK", 4) != 0 || (data[4] << 8 | data[5]) != 0x0203) return 0;
    data += 6, size -= 6;
    // A copy, as long as the input and no longer.
    uint8_t *copy = malloc(size ? size : 1);
    if (copy == NULL) return 0;
    memcpy(copy, data, size);
    size_t at = 0;
    while (size - at >= 12) {
        uint32_t length = u32(copy + at + 4);
        if (length > size - at - 12) break;
        uint32_t crc = crc32(copy + at + 8, length, crc32(copy + at, 4, 0));
        if (crc != u32(copy + at + 8 + length)) break;
        chunk(copy + at, copy + at + 8, length);
        at += 12 + length;
    }
    free(copy);
    return 0;
}
