/* A counter, and the scenario that judges it. `fozzy.h` says what there is. */
#include "fozzy.h"

#include <stdio.h>

/* The program under test. */
static uint64_t counter;

static void add(uint64_t amount) { counter += amount; }

static void reset(void) { counter = 0; }

/* What it must show. */
static uint64_t model;

static void flow_add(void) {
  uint64_t amount = (uint64_t)fozzy_int("amount", 0, 9);
  add(amount);
  model += amount;
}

static bool is_counting(void) { return model > 0; }

static void flow_reset(void) {
  reset();
  model = 0;
}

static void check_sum(void) {
  char details[64];
  snprintf(details, sizeof details, "%llu, not %llu", (unsigned long long)counter, (unsigned long long)model);
  fozzy_always("the counter shows the sum", counter == model, details);
}

static const struct fozzy_flow flows[] = {
    {.name = "add", .weight = 100, .run = flow_add},
    {.name = "reset", .weight = 5, .max_times = 3, .run = flow_reset, .valid = is_counting},
};

static const struct fozzy_invariant invariants[] = {
    {.name = "sum", .period = 1, .check = check_sum},
};

FOZZY_SCENARIO("counter", NULL, flows, invariants)
