/* fozzy.h: choices, properties, events and scenarios for programs in C that Fozzy runs.
 *
 *     clang-19 --target=wasm32-wasi -mexec-model=reactor -O2 -g -o ring.wasm ring.c       a scenario: see FOZZY_SCENARIO
 *     clang-19 --target=wasm32-wasi -O2 -g -o tool.wasm tool.c                            a program with a `main`
 *     fozzy run ring.wasm --seed 7
 *
 * One file, no library, no generator: functions are imported by the names of our WIT (wit/deps/fozzy-*.wit, where each is
 * described) with the flat signatures of the component model. `fozzy` knows these interfaces and makes a component of the
 * core module. What is not called is not imported, and a program that calls nothing of this runs anywhere.
 *
 * Names and texts are C strings. A site or name has 1 to 255 bytes. What has no answer (nothing to choose from, a minimum
 * above the maximum) ends the program with a sentence that says so.
 *
 * Not here: file snapshots, processes, time control and the other interfaces; declare what you need as it is done here.
 */
#ifndef FOZZY_H
#define FOZZY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if !defined(__wasm32__)
#error "fozzy.h is for programs that are compiled for wasm32: clang --target=wasm32-wasi"
#endif

#define FOZZY_IMPORT(interface, name) __attribute__((import_module("fozzy:" interface "@0.1.0"), import_name(name)))
#define FOZZY_EXPORT(name) __attribute__((export_name("fozzy:scenario/stateful@0.1.0#" name), used))

/* ---- choices: questions that the run answers ------------------------------------------------------------------------ */

FOZZY_IMPORT("choices/draws", "choose") uint64_t fozzy_raw_choose(const char *, size_t, uint64_t);
FOZZY_IMPORT("choices/draws", "int") int64_t fozzy_raw_int(const char *, size_t, int64_t, int64_t);
FOZZY_IMPORT("choices/draws", "bool") int32_t fozzy_raw_bool(const char *, size_t, double);
FOZZY_IMPORT("choices/draws", "weighted") uint32_t fozzy_raw_weighted(const char *, size_t, const uint32_t *, size_t);

/* One of `count` things, all equally likely: 0 to `count` - 1. */
static inline uint64_t fozzy_choose(const char *site, uint64_t count) {
  return fozzy_raw_choose(site, strlen(site), count);
}

/* A number from `min` to `max`, both included, all equally likely. */
static inline int64_t fozzy_int(const char *site, int64_t min, int64_t max) {
  return fozzy_raw_int(site, strlen(site), min, max);
}

/* True with this probability, 0 to 1. */
static inline bool fozzy_bool(const char *site, double probability) {
  return fozzy_raw_bool(site, strlen(site), probability) != 0;
}

/* The place of one of `count` weights, each as likely as its share of their sum, which is not 0. */
static inline size_t fozzy_weighted(const char *site, const uint32_t *weights, size_t count) {
  return fozzy_raw_weighted(site, strlen(site), weights, count);
}

/* So many bytes, all equally likely. */
static inline void fozzy_bytes(const char *site, void *out, size_t length) {
  for (size_t at = 0; at < length; at++) ((uint8_t *)out)[at] = (uint8_t)fozzy_choose(site, 256);
}

/* ---- properties: what must hold, and what must be possible ---------------------------------------------------------- */

/* Texts that may be NULL go as two words after a tag. */
#define FOZZY_RAW_PROPERTY(name) \
  FOZZY_IMPORT("properties/assertions", #name) void fozzy_raw_##name(const char *, size_t, int32_t, int32_t, const char *, size_t)
FOZZY_RAW_PROPERTY(always);
FOZZY_RAW_PROPERTY(sometimes);
FOZZY_IMPORT("properties/assertions", "reachable") void fozzy_raw_reachable(const char *, size_t);
FOZZY_IMPORT("properties/assertions", "unreachable")
void fozzy_raw_unreachable(const char *, size_t, int32_t, const char *, size_t);
FOZZY_IMPORT("properties/assertions", "fail")
void fozzy_raw_fail(int32_t, const char *, size_t, const char *, size_t);

static inline size_t fozzy_length(const char *text) { return text ? strlen(text) : 0; }

/* Must hold each time. When it does not, the run ends here and has failed; `details`, or NULL, are shown then. */
static inline void fozzy_always(const char *name, bool holds, const char *details) {
  fozzy_raw_always(name, strlen(name), holds, details != NULL, details, fozzy_length(details));
}

/* Must hold at some time, over all runs. */
static inline void fozzy_sometimes(const char *name, bool holds, const char *details) {
  fozzy_raw_sometimes(name, strlen(name), holds, details != NULL, details, fozzy_length(details));
}

/* Must be called at some time, over all runs. */
static inline void fozzy_reachable(const char *name) { fozzy_raw_reachable(name, strlen(name)); }

/* Must never be called: the run ends here and has failed. */
static inline void fozzy_unreachable(const char *name, const char *details) {
  fozzy_raw_unreachable(name, strlen(name), details != NULL, details, fozzy_length(details));
}

/* ---- events: what stands in the history of the run besides calls ---------------------------------------------------- */

FOZZY_IMPORT("events/journal", "event") void fozzy_raw_event(const char *, size_t, const char *, size_t);
FOZZY_IMPORT("events/journal", "enter") uint64_t fozzy_raw_enter(const char *, size_t);
FOZZY_IMPORT("events/journal", "leave") void fozzy_raw_leave(uint64_t);
FOZZY_IMPORT("faults/points", "buggify") int32_t fozzy_raw_buggify(const char *, size_t);

/* Something happened now. */
static inline void fozzy_event(const char *name, const char *details) {
  fozzy_raw_event(name, strlen(name), details, fozzy_length(details));
}

/* A stretch of time begins; `fozzy_leave` ends it. */
static inline uint64_t fozzy_enter(const char *name) { return fozzy_raw_enter(name, strlen(name)); }

static inline void fozzy_leave(uint64_t span) { fozzy_raw_leave(span); }

/* Whether a planned fault strikes this point now. */
static inline bool fozzy_buggify(const char *point) { return fozzy_raw_buggify(point, strlen(point)) != 0; }

/* ---- scenarios: flows that are drawn, and invariants between them --------------------------------------------------- */

/* One kind of step. */
struct fozzy_flow {
  const char *name;
  /* How likely it is, beside the weights of the other flows that are valid. */
  uint32_t weight;
  /* How often it may be run in one sequence; 0 is any number of times. */
  uint32_t max_times;
  void (*run)(void);
  /* Whether it is valid now; NULL is always. */
  bool (*valid)(void);
};

/* One check between steps. */
struct fozzy_invariant {
  const char *name;
  /* It is checked after every so many steps. Not 0. */
  uint32_t period;
  void (*check)(void);
};

/* What the flow that runs says when it has found nothing to do: see `fozzy_skip`. */
static const char *fozzy_skipped_as;

/* The flow that runs has found nothing to do, for a reason of a word or two. Return after it. */
static inline void fozzy_skip(const char *label) { fozzy_skipped_as = label; }

/* The scenario of this file, once at its end. `begin_sequence` puts everything to its start and may be NULL: each sequence
 * runs in a new instance anyway.
 *
 *     static const struct fozzy_flow flows[] = {{.name = "push", .weight = 10, .run = push, .valid = has_room}};
 *     static const struct fozzy_invariant invariants[] = {{.name = "ordered", .period = 1, .check = check_order}};
 *     FOZZY_SCENARIO("ring", begin, flows, invariants)
 */
#define FOZZY_SCENARIO(scenario_name, begin_sequence, flows, invariants)                                                  \
  enum { fozzy_flows = sizeof(flows) / sizeof(flows[0]), fozzy_invariants = sizeof(invariants) / sizeof(invariants[0]) }; \
  static uint32_t fozzy_times[fozzy_flows];                                                                               \
                                                                                                                          \
  FOZZY_EXPORT("describe") const void *fozzy_describe(void) {                                                             \
    static struct fozzy_raw_flow raw_flows[fozzy_flows];                                                                  \
    static struct fozzy_raw_invariant raw_invariants[fozzy_invariants];                                                   \
    for (size_t at = 0; at < fozzy_flows; at++) raw_flows[at] = fozzy_raw_flow(&flows[at]);                               \
    for (size_t at = 0; at < fozzy_invariants; at++) raw_invariants[at] = fozzy_raw_invariant(&invariants[at]);           \
    static struct fozzy_raw_info info;                                                                                    \
    info = (struct fozzy_raw_info){fozzy_text(scenario_name), raw_flows, fozzy_flows, raw_invariants, fozzy_invariants};  \
    return &info;                                                                                                         \
  }                                                                                                                       \
                                                                                                                          \
  FOZZY_EXPORT("begin-sequence") void fozzy_begin_sequence(uint32_t sequence) {                                           \
    (void)sequence;                                                                                                       \
    void (*begin)(void) = begin_sequence;                                                                                 \
    if (begin) begin();                                                                                                   \
  }                                                                                                                       \
                                                                                                                          \
  FOZZY_EXPORT("step") const void *fozzy_step(uint32_t step) {                                                            \
    return fozzy_one_step(step, flows, fozzy_times, fozzy_flows, invariants, fozzy_invariants);                           \
  }                                                                                                                       \
                                                                                                                          \
  FOZZY_EXPORT("end-sequence") void fozzy_end_sequence(uint32_t sequence) { (void)sequence; }                             \
                                                                                                                          \
  /* A caller's values that are longer than a register; nothing here is given any. */                                     \
  __attribute__((export_name("cabi_realloc"), weak)) void *cabi_realloc(void *old, size_t had, size_t align, size_t size) { \
    (void)had, (void)align;                                                                                               \
    return realloc(old, size);                                                                                            \
  }

/* What the component model's ABI wants to see in memory. */
struct fozzy_raw_text {
  const char *bytes;
  size_t length;
};

struct fozzy_raw_flow {
  struct fozzy_raw_text name;
  uint32_t weight;
  uint8_t has_max_times;
  uint32_t max_times;
};

struct fozzy_raw_invariant {
  struct fozzy_raw_text name;
  uint32_t period;
};

struct fozzy_raw_info {
  struct fozzy_raw_text name;
  const struct fozzy_raw_flow *flows;
  size_t flow_count;
  const struct fozzy_raw_invariant *invariants;
  size_t invariant_count;
};

enum fozzy_raw_result { FOZZY_RAN = 0, FOZZY_SKIPPED = 1, FOZZY_STUCK = 2 };

struct fozzy_raw_step {
  uint8_t result;
  union {
    uint32_t ran;
    struct {
      uint32_t flow;
      struct fozzy_raw_text label;
    } skipped;
    struct fozzy_raw_text stuck;
  };
};

static inline struct fozzy_raw_text fozzy_text(const char *text) {
  return (struct fozzy_raw_text){text, strlen(text)};
}

static inline struct fozzy_raw_flow fozzy_raw_flow(const struct fozzy_flow *flow) {
  return (struct fozzy_raw_flow){fozzy_text(flow->name), flow->weight, flow->max_times != 0, flow->max_times};
}

static inline struct fozzy_raw_invariant fozzy_raw_invariant(const struct fozzy_invariant *invariant) {
  return (struct fozzy_raw_invariant){fozzy_text(invariant->name), invariant->period};
}

/* Draws one of the valid flows, runs it, and checks the invariants that are due. */
static inline const void *fozzy_one_step(uint32_t step, const struct fozzy_flow *flows, uint32_t *times, size_t flow_count,
                                         const struct fozzy_invariant *invariants, size_t invariant_count) {
  static struct fozzy_raw_step result;
  uint32_t weights[flow_count];
  uint64_t sum = 0;
  for (size_t at = 0; at < flow_count; at++) {
    const struct fozzy_flow *flow = &flows[at];
    bool spent = flow->max_times != 0 && times[at] >= flow->max_times;
    weights[at] = !spent && (!flow->valid || flow->valid()) ? flow->weight : 0;
    sum += weights[at];
  }
  if (sum == 0) {
    result = (struct fozzy_raw_step){.result = FOZZY_STUCK, .stuck = fozzy_text("each has the weight 0, is not valid now, or was run as often as it may be")};
    return &result;
  }
  size_t drawn = fozzy_weighted("flow", weights, flow_count);
  fozzy_skipped_as = NULL;
  flows[drawn].run();
  if (fozzy_skipped_as) {
    result = (struct fozzy_raw_step){.result = FOZZY_SKIPPED};
    result.skipped.flow = (uint32_t)drawn;
    result.skipped.label = fozzy_text(fozzy_skipped_as);
  } else {
    times[drawn]++;
    result = (struct fozzy_raw_step){.result = FOZZY_RAN, .ran = (uint32_t)drawn};
  }
  for (size_t at = 0; at < invariant_count; at++) {
    if ((step + 1) % invariants[at].period == 0) invariants[at].check();
  }
  return &result;
}

#endif
