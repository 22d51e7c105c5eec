/* A ring buffer of numbers, and the scenario that finds what is lost in it.
 *
 *     slots     [ 7 | 8 |   |   |   |   | 5 | 6 ]
 *                       ^ tail          ^ head            between them: what was put and not taken, in order
 *
 * The planted fault: `head == tail` means that it is empty, and a full one looks the same. The check for room lets the last
 * slot be filled, and everything is gone. With -DFIXED one slot stays free.
 */
#include "../../guest-sdk/c/fozzy.h"

#include <stdio.h>
#include <stdlib.h>

#define SLOTS 8

static uint32_t slots[SLOTS];
static size_t head, tail;

static size_t filled(void) { return (tail + SLOTS - head) % SLOTS; }

static bool has_room(void) {
#ifdef FIXED
  return filled() < SLOTS - 1;
#else
  return filled() < SLOTS;
#endif
}

static bool is_empty(void) { return head == tail; }

static void put(uint32_t number) {
  slots[tail] = number;
  tail = (tail + 1) % SLOTS;
}

static uint32_t take(void) {
  uint32_t number = slots[head];
  head = (head + 1) % SLOTS;
  return number;
}

/* The model: numbers are put in the order in which they are counted, so they must come out so. */
static uint32_t number_put, number_taken;

static void flow_put(void) { put(number_put++); }

static void flow_put_several(void) {
  int64_t count = fozzy_int("count", 2, 4);
  for (int64_t at = 0; at < count; at++) {
    if (!has_room()) {
      if (at == 0) fozzy_skip("full");
      fozzy_reachable("the ring is full");
      return;
    }
    put(number_put++);
  }
}

static void flow_take(void) {
  uint32_t taken = take();
  fozzy_always("numbers come out in order", taken == number_taken, NULL);
  number_taken++;
}

static bool something_is_there(void) { return number_taken < number_put; }

static void check_count(void) {
  char details[64];
  snprintf(details, sizeof details, "%u put, %u taken, and the ring is empty", number_put, number_taken);
  fozzy_always("what was put is there", is_empty() == (number_put == number_taken), details);
}

static const struct fozzy_flow flows[] = {
    {.name = "put", .weight = 60, .run = flow_put, .valid = has_room},
    {.name = "put several", .weight = 10, .run = flow_put_several},
    {.name = "take", .weight = 60, .run = flow_take, .valid = something_is_there},
};

static const struct fozzy_invariant invariants[] = {
    {.name = "count", .period = 1, .check = check_count},
};

FOZZY_SCENARIO("ring", NULL, flows, invariants)
