/* Draws of every kind, properties of every state: the same lines in the sandbox and natively, for the same seed. Its fault: with 90 draws
 * in a sequence, `small` fails. */
#include "fozzy.h"

#include <stdio.h>

static int drawn;

static void draw(void) {
  static const uint32_t weights[] = {1, 0, 5, 1000000};
  uint8_t bytes[11];
  printf("%llu ", (unsigned long long)fozzy_choose("c", 1000003));
  printf("%lld ", (long long)fozzy_int("i", -5, 1234567890123));
  printf("%lld ", (long long)fozzy_int("all", INT64_MIN, INT64_MAX));
  printf("%d ", fozzy_bool("b", 0.3));
  printf("%zu ", fozzy_weighted("w", weights, 4));
  size_t length = (size_t)fozzy_choose("length", 12);
  fozzy_bytes("bytes", bytes, length);
  for (size_t at = 0; at < length; at++) printf("%02x", bytes[at]);
  printf(" %llu ", (unsigned long long)fozzy_reseed());
  printf("%d\n", ++drawn);
  fflush(stdout);
  fozzy_sometimes("three were drawn", drawn == 3, NULL);
  if (drawn < 0) {
    fozzy_reachable("never come by");
    fozzy_always("never checked", true, NULL);
  }
}

static void skip(void) { fozzy_skip("nothing"); }

static void check(void) {
  fozzy_state("drawn", (uint64_t)drawn);
  fozzy_always_number("few", drawn, FOZZY_AT_MOST, 95);
  fozzy_always("small", drawn < 90, "it is not");
}

static const struct fozzy_flow flows[] = {
    {.name = "draw", .weight = 10, .run = draw},
    {.name = "skip", .weight = 3, .run = skip, .max_times = 3},
};

static const struct fozzy_invariant invariants[] = {{.name = "i", .period = 2, .check = check}};

static void end(void) {
  printf("end %llu\n", (unsigned long long)fozzy_choose("end", 99));
  fflush(stdout);
}

static void begin(void) {
  fozzy_at_end = end;
  printf("begin %llu\n", (unsigned long long)fozzy_choose("begin", 99));
  fflush(stdout);
}

FOZZY_SCENARIO("draws", begin, flows, invariants)
