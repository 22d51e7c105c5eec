/* Ledger: a C guest that is called from outside, one kind of state for each kind of step.
 *
 *     step(kind, value)   a hash table on the heap, files kept open behind stdio's buffers, a buffer that grows,
 *                         sorting, the clock, entropy, output, frames of many pages; beyond them the ways to end
 *
 * Each step answers with a digest of what it saw. Not here: which steps are made (tests/reactors/guests.rs).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 257
#define FILES_MAX 6

struct entry {
  struct entry *next;
  unsigned key;
  char text[];
};

static struct entry *slots[SLOTS];
static FILE *files[FILES_MAX];
static unsigned char *buffer;
static size_t buffer_bytes;
static unsigned numbers[3000];
static unsigned steps;

static uint64_t digest(uint64_t state, const void *bytes, size_t length) {
  const unsigned char *at = bytes;
  for (size_t n = 0; n < length; n++) state = (state ^ at[n]) * 0x100000001b3u;
  return state ^ (state >> 29);
}

static uint64_t insert(unsigned value) {
  char text[64];
  int length = snprintf(text, sizeof text, "entry %u of step %u", value, steps);
  struct entry *entry = malloc(sizeof *entry + (size_t)length + 1 + value % 900);
  if (!entry) abort();
  entry->key = value;
  strcpy(entry->text, text);
  entry->next = slots[value % SLOTS];
  slots[value % SLOTS] = entry;
  return digest(1, entry->text, (size_t)length);
}

static uint64_t drop(unsigned value) {
  uint64_t seen = 2;
  for (unsigned n = 0; n < SLOTS; n++) {
    struct entry **at = &slots[(value + n) % SLOTS];
    if (!*at) continue;
    struct entry *gone = *at;
    seen = digest(seen, gone->text, strlen(gone->text));
    *at = gone->next;
    free(gone);
    break;
  }
  return seen;
}

static uint64_t open_file(unsigned value) {
  FILE **file = &files[value % FILES_MAX];
  if (*file) {
    fclose(*file);
    *file = NULL;
    return 3;
  }
  char name[32];
  snprintf(name, sizeof name, "/ledger-%u", value % 4);
  *file = fopen(name, "a+");
  return *file ? 4 : 5;
}

static uint64_t write_file(unsigned value) {
  FILE *file = files[value % FILES_MAX];
  /* What is written stays in the guest's own buffer for a while. */
  return file ? (uint64_t)fprintf(file, "%u in step %u\n", value, steps) : 6;
}

static uint64_t read_file(unsigned value) {
  FILE *file = files[value % FILES_MAX];
  if (!file) return 7;
  char text[512];
  fflush(file);
  rewind(file);
  size_t length = fread(text, 1, sizeof text, file);
  return digest(8, text, length);
}

static uint64_t grow(unsigned value) {
  size_t more = 1 + value % (200u << 10);
  unsigned char *larger = realloc(buffer, buffer_bytes + more);
  if (!larger) abort();
  buffer = larger;
  memset(buffer + buffer_bytes, (int)value, more);
  buffer_bytes += more;
  return digest(9, &buffer_bytes, sizeof buffer_bytes);
}

static uint64_t shrink(unsigned value) {
  if (buffer_bytes == 0) return 10;
  size_t left = buffer_bytes / (2 + value % 3);
  memmove(buffer, buffer + buffer_bytes - left, left);
  buffer = realloc(buffer, left + 1);
  if (!buffer) abort();
  buffer_bytes = left;
  return digest(11, buffer, left < 4096 ? left : 4096);
}

static int by_value(const void *a, const void *b) {
  unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;
  return left < right ? -1 : left > right;
}

static uint64_t sort(unsigned value) {
  size_t count = sizeof numbers / sizeof *numbers;
  for (size_t n = 0; n < count; n++) numbers[n] = (numbers[n] + value) * 2654435761u + (unsigned)n;
  qsort(numbers, count / (1 + value % 7), sizeof *numbers, by_value);
  return digest(12, numbers, sizeof numbers);
}

static uint64_t clocks(unsigned value) {
  struct timespec now, wait = {0, (long)(value % 4000) * 1000};
  nanosleep(&wait, NULL);
  clock_gettime(CLOCK_MONOTONIC, &now);
  time_t wall = time(NULL);
  return digest(digest(13, &now, sizeof now), &wall, sizeof wall);
}

static uint64_t entropy(unsigned value) {
  unsigned char bytes[64];
  size_t length = 1 + value % sizeof bytes;
  if (getentropy(bytes, length) != 0) abort();
  return digest(14, bytes, length);
}

static uint64_t say(unsigned value) {
  return (uint64_t)printf("step %u was given %u\n", steps, value);
}

/* A frame larger than a page at each level: its stores are seen although nothing else points there. */
static uint64_t deep(unsigned value, unsigned levels) {
  volatile unsigned char frame[6000];
  frame[value % sizeof frame] = (unsigned char)(value + levels);
  uint64_t below = levels ? deep(value * 31 + 7, levels - 1) : 15;
  return below * 3 + frame[value % sizeof frame];
}

static void outside(unsigned value) {
  /* Beyond any memory that is there. */
  *(volatile unsigned *)(uintptr_t)(0xf0000000u + value) = value;
}

/* By this the adapter between WASI preview 1 and 0.2 gets the memory for its own state. Without it, it grows the memory by
 * a page of which Debian's malloc knows nothing, and which it gives away. */
__attribute__((export_name("cabi_realloc"))) void *cabi_realloc(void *old, size_t old_bytes, size_t align, size_t bytes) {
  (void)old_bytes;
  (void)align;
  void *moved = realloc(old, bytes);
  if (!moved) abort();
  return moved;
}

__attribute__((export_name("step"))) uint64_t step(uint32_t kind, uint32_t value) {
  steps++;
  switch (kind) {
    case 0: return insert(value);
    case 1: return drop(value);
    case 2: return open_file(value);
    case 3: return write_file(value);
    case 4: return read_file(value);
    case 5: return grow(value);
    case 6: return shrink(value);
    case 7: return sort(value);
    case 8: return clocks(value);
    case 9: return entropy(value);
    case 10: return say(value);
    case 11: return deep(value, value % 7);
    case 12: abort();
    case 13: outside(value); return 0;
    default: exit((int)(value % 256));
  }
}
