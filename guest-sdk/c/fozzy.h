/* fozzy.h: choices, properties, events, rules and scenarios for programs in C that Fozzy runs.
 *
 *     clang-19 --target=wasm32-wasi -O2 -g -c ring.c
 *     clang-19 --target=wasm32-wasi -mexec-model=reactor -o ring.wasm ring.o      a scenario: see FOZZY_SCENARIO
 *     clang-19 --target=wasm32-wasi -o tool.wasm tool.o                           a program with a `main`
 *     fozzy run ring.wasm --seed 7
 *
 * Compile and link apart, and link without -O: in one step clang runs Binaryen's wasm-opt where the machine has one, and the
 * program loses the names and lines of its functions.
 *
 * One file, no library, no generator: functions are imported by the names of our WIT (wit/deps/fozzy-*.wit, where each is
 * described) with the flat signatures of the component model. `fozzy` knows these interfaces and makes a component of the
 * core module. What is not called is not imported, and a program that calls nothing of this runs anywhere.
 *
 * Names and texts are C strings. A site or name has 1 to 255 bytes. What has no answer (nothing to choose from, a minimum
 * above the maximum) ends the program with a sentence that says so.
 *
 * Not here: starting processes (`fozzy:process/run`, whose streams are handles of WASI 0.2), and what else WASI has: the C
 * library's own functions are answered by the same run.
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
FOZZY_IMPORT("choices/draws", "bytes") void fozzy_raw_bytes(const char *, size_t, uint64_t, void *);
FOZZY_IMPORT("choices/draws", "reseed") uint64_t fozzy_raw_reseed(void);
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
  struct { uint8_t *bytes; size_t length; } drawn;
  fozzy_raw_bytes(site, strlen(site), length, &drawn);
  if (drawn.length == 0) return;
  memcpy(out, drawn.bytes, drawn.length);
  free(drawn.bytes);
}

/* A number for a generator that the program cannot do without: ask at the beginning of each flow, and seed it again. */
static inline uint64_t fozzy_reseed(void) { return fozzy_raw_reseed(); }

/* How the task that runs next is chosen. `fozzy explore --schedule` chooses in its own way. */
enum fozzy_schedule { FOZZY_SCHEDULE_RANDOM, FOZZY_SCHEDULE_PCT, FOZZY_SCHEDULE_POS, FOZZY_SCHEDULE_URW };

/* A task that can run: a number that is its own in every run, the steps that it has taken, and what its next step touches (a
 * lock, a channel, a machine; 0 when that is not known). */
struct fozzy_task {
  uint64_t number;
  uint64_t steps;
  uint64_t object;
};

/* A moment at which several tasks can run. What is left out is 0 or NULL.
 *
 *     struct fozzy_task ready[] = {{.number = 1}, {.number = 2}};
 *     size_t next = fozzy_next_task(&(struct fozzy_schedule_point){.ready = ready, .ready_count = 2});
 */
struct fozzy_schedule_point {
  /* What runs: tasks of one kind are alike in every run, as those of one function; and which run of that kind this is. */
  uint64_t kind;
  uint64_t run;
  enum fozzy_schedule policy;
  /* Of FOZZY_SCHEDULE_PCT: the depth of the faults that are looked for, 1 to 64. */
  uint32_t depth;
  /* What the steps since the last moment of this run have touched. */
  const uint64_t *touched;
  size_t touched_count;
  /* The tasks, 1 to 65536, in the order in which they became ready. */
  const struct fozzy_task *ready;
  size_t ready_count;
};

FOZZY_IMPORT("choices/draws", "next-task")
uint32_t fozzy_raw_next_task(
    uint64_t, uint64_t, int32_t, uint32_t, const uint64_t *, size_t, const struct fozzy_task *, size_t);

/* The place in `ready` of the task that runs next, until it waits. For schedulers of tasks, fibers and actors. */
static inline size_t fozzy_next_task(const struct fozzy_schedule_point *point) {
  return fozzy_raw_next_task(
      point->kind, point->run, point->policy, point->depth, point->touched, point->touched_count, point->ready,
      point->ready_count);
}

/* What the run returns that is longer than a register comes to the program's own heap. */
__attribute__((export_name("cabi_realloc"), weak)) void *cabi_realloc(void *old, size_t had, size_t align, size_t size) {
  (void)had, (void)align;
  return size ? realloc(old, size) : (void *)align;
}

/* ---- properties: what must hold, and what must be possible ---------------------------------------------------------- */

/* Texts that may be NULL go as two words after a tag. */
#define FOZZY_RAW_PROPERTY(name) \
  FOZZY_IMPORT("properties/assertions", #name) void fozzy_raw_##name(const char *, size_t, int32_t, int32_t, const char *, size_t)
FOZZY_RAW_PROPERTY(always);
FOZZY_IMPORT("properties/assertions", "always-or-unreachable")
void fozzy_raw_always_or_unreachable(const char *, size_t, int32_t, int32_t, const char *, size_t);
FOZZY_RAW_PROPERTY(sometimes);
FOZZY_IMPORT("properties/assertions", "reachable") void fozzy_raw_reachable(const char *, size_t);
FOZZY_IMPORT("properties/assertions", "unreachable")
void fozzy_raw_unreachable(const char *, size_t, int32_t, const char *, size_t);
FOZZY_IMPORT("properties/assertions", "always-number")
void fozzy_raw_always_number(const char *, size_t, double, int32_t, double, int32_t, const char *, size_t);
FOZZY_IMPORT("properties/assertions", "sometimes-number")
void fozzy_raw_sometimes_number(const char *, size_t, double, int32_t, double, int32_t, const char *, size_t);
FOZZY_IMPORT("properties/assertions", "again") void fozzy_raw_again(const char *, size_t, uint64_t, uint64_t);
FOZZY_IMPORT("properties/assertions", "fail")
void fozzy_raw_fail(int32_t, const char *, size_t, const char *, size_t);

static inline size_t fozzy_length(const char *text) { return text ? strlen(text) : 0; }

/* Must hold each time. When it does not, the run ends here and has failed; `details`, or NULL, are shown then. */
static inline void fozzy_always(const char *name, bool holds, const char *details) {
  fozzy_raw_always(name, strlen(name), holds, details != NULL, details, fozzy_length(details));
}

/* As `fozzy_always`, but it may never be evaluated. */
static inline void fozzy_always_or_unreachable(const char *name, bool holds, const char *details) {
  fozzy_raw_always_or_unreachable(name, strlen(name), holds, details != NULL, details, fozzy_length(details));
}

/* How two numbers are compared. */
enum fozzy_comparison { FOZZY_LESS, FOZZY_AT_MOST, FOZZY_GREATER, FOZZY_AT_LEAST };

/* Must hold each time; how close the left number came to the right one is kept. */
static inline void fozzy_always_number(const char *name, double left, enum fozzy_comparison compared, double right) {
  fozzy_raw_always_number(name, strlen(name), left, compared, right, 0, NULL, 0);
}

/* Must hold at some time, over all runs; how close it came is kept. */
static inline void fozzy_sometimes_number(const char *name, double left, enum fozzy_comparison compared, double right) {
  fozzy_raw_sometimes_number(name, strlen(name), left, compared, right, 0, NULL, 0);
}

/* A property that was told before was evaluated this many more times, and held or not. Telling is a call of the run; who evaluates
 * often counts, and tells the counts at the end of the sequence. What fails is told at once. */
static inline void fozzy_again(const char *name, uint64_t held, uint64_t missed) {
  fozzy_raw_again(name, strlen(name), held, missed);
}

FOZZY_IMPORT("properties/assertions", "state")
void fozzy_raw_state(const char *, size_t, uint64_t);
/* The scenario is in this state: an exploration looks for new ones. */
static inline void fozzy_state(const char *name, uint64_t value) { fozzy_raw_state(name, strlen(name), value); }

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

/* What a program can say of itself. */
enum fozzy_failure { FOZZY_INVARIANT, FOZZY_DEADLOCK, FOZZY_INVALID };

/* The program has failed, at a place that tells this failure from others. Does not return. */
static inline _Noreturn void fozzy_fail(enum fozzy_failure failure, const char *site, const char *message) {
  fozzy_raw_fail(failure, site, strlen(site), message, strlen(message));
  abort();
}

/* ---- events: what stands in the history of the run besides calls ---------------------------------------------------- */

FOZZY_IMPORT("events/journal", "event") void fozzy_raw_event(const char *, size_t, const char *, size_t);
FOZZY_IMPORT("events/journal", "enter") uint64_t fozzy_raw_enter(const char *, size_t);
FOZZY_IMPORT("events/journal", "leave") void fozzy_raw_leave(uint64_t);
FOZZY_IMPORT("faults/points", "buggify") int32_t fozzy_raw_buggify(const char *, size_t);
FOZZY_IMPORT("faults/points", "buggify-with") void fozzy_raw_buggify_with(const char *, size_t, void *);

/* Something happened now. */
static inline void fozzy_event(const char *name, const char *details) {
  fozzy_raw_event(name, strlen(name), details, fozzy_length(details));
}

/* A stretch of time begins; `fozzy_leave` ends it. */
static inline uint64_t fozzy_enter(const char *name) { return fozzy_raw_enter(name, strlen(name)); }

static inline void fozzy_leave(uint64_t span) { fozzy_raw_leave(span); }

/* Whether a planned fault strikes this point now. */
static inline bool fozzy_buggify(const char *point) { return fozzy_raw_buggify(point, strlen(point)) != 0; }

/* The same, and how hard: `strength` is set when it strikes. */
static inline bool fozzy_buggify_with(const char *point, uint64_t *strength) {
  struct { uint8_t strikes; uint64_t strength; } answer;
  fozzy_raw_buggify_with(point, strlen(point), &answer);
  if (answer.strikes) *strength = answer.strength;
  return answer.strikes != 0;
}

/* ---- time ----------------------------------------------------------------------------------------------------------- */

FOZZY_IMPORT("time/control", "advance") void fozzy_raw_advance(uint64_t);
FOZZY_IMPORT("time/control", "freeze") void fozzy_raw_freeze(void);
FOZZY_IMPORT("time/control", "unfreeze") void fozzy_raw_unfreeze(void);

/* Lets virtual time pass at once. */
static inline void fozzy_advance(uint64_t nanoseconds) { fozzy_raw_advance(nanoseconds); }

/* From now on readings of the clock do not move it, until `fozzy_unfreeze`. */
static inline void fozzy_freeze(void) { fozzy_raw_freeze(); }

static inline void fozzy_unfreeze(void) { fozzy_raw_unfreeze(); }

/* ---- operations of clients, for checkers that judge whole histories ------------------------------------------------- */

FOZZY_IMPORT("history/operations", "invoke")
uint64_t fozzy_raw_invoke(uint32_t, const char *, size_t, const char *, size_t);
FOZZY_IMPORT("history/operations", "ok") void fozzy_raw_ok(uint64_t, const char *, size_t);
FOZZY_IMPORT("history/operations", "fail") void fozzy_raw_failed(uint64_t, const char *, size_t);
FOZZY_IMPORT("history/operations", "info") void fozzy_raw_info(uint64_t, const char *, size_t);

/* A client begins an operation; the answer is its number. */
static inline uint64_t fozzy_invoke(uint32_t client, const char *operation, const char *input) {
  return fozzy_raw_invoke(client, operation, strlen(operation), input, strlen(input));
}

/* It was done, with this result. */
static inline void fozzy_ok(uint64_t operation, const char *output) {
  fozzy_raw_ok(operation, output, strlen(output));
}

/* It was certainly not done. */
static inline void fozzy_failed(uint64_t operation, const char *error) {
  fozzy_raw_failed(operation, error, strlen(error));
}

/* It is not known whether it was done. */
static inline void fozzy_info(uint64_t operation, const char *note) {
  fozzy_raw_info(operation, note, strlen(note));
}

/* ---- files and power ------------------------------------------------------------------------------------------------ */

FOZZY_IMPORT("files/snapshots", "snapshot") void fozzy_raw_snapshot(const char *, size_t, void *);
FOZZY_IMPORT("files/snapshots", "restore") void fozzy_raw_restore(const char *, size_t, void *);
FOZZY_IMPORT("files/snapshots", "forget") void fozzy_raw_forget(const char *, size_t, void *);
FOZZY_IMPORT("files/power", "watch") void fozzy_raw_watch_power(void *);
FOZZY_IMPORT("files/power", "lose") void fozzy_raw_lose_power(void *);

/* Why it was not done; `FOZZY_FILES_OK` when it was. */
enum fozzy_files {
  FOZZY_FILES_OK,
  FOZZY_FILES_NOT_FOUND,
  FOZZY_FILES_BUSY,
  FOZZY_FILES_INVALID_NAME,
  FOZZY_FILES_TOO_MANY,
  FOZZY_FILES_UNSUPPORTED,
  FOZZY_FILES_NOT_WATCHED,
};

/* A result without a value, and an error without one. */
struct fozzy_raw_files {
  uint8_t is_error;
  uint8_t error;
};

static inline enum fozzy_files fozzy_raw_snapshots(struct fozzy_raw_files result) {
  return result.is_error ? (enum fozzy_files)(result.error + 1) : FOZZY_FILES_OK;
}

static inline enum fozzy_files fozzy_raw_power(struct fozzy_raw_files result) {
  static const enum fozzy_files errors[] = {FOZZY_FILES_BUSY, FOZZY_FILES_NOT_WATCHED, FOZZY_FILES_UNSUPPORTED};
  return result.is_error ? errors[result.error] : FOZZY_FILES_OK;
}

/* Keeps the file tree of this machine under a name. */
static inline enum fozzy_files fozzy_snapshot_files(const char *name) {
  struct fozzy_raw_files result;
  fozzy_raw_snapshot(name, strlen(name), &result);
  return fozzy_raw_snapshots(result);
}

/* Makes the file tree what it was then. All files are to be closed before. */
static inline enum fozzy_files fozzy_restore_files(const char *name) {
  struct fozzy_raw_files result;
  fozzy_raw_restore(name, strlen(name), &result);
  return fozzy_raw_snapshots(result);
}

static inline enum fozzy_files fozzy_forget_files(const char *name) {
  struct fozzy_raw_files result;
  fozzy_raw_forget(name, strlen(name), &result);
  return fozzy_raw_snapshots(result);
}

/* From now on it is known what a loss of power leaves; everything that is on the disk now is durable. */
static inline enum fozzy_files fozzy_watch_power(void) {
  struct fozzy_raw_files result;
  fozzy_raw_watch_power(&result);
  return fozzy_raw_power(result);
}

/* The disk is what a loss of power leaves of it: what was synced, and of the rest whatever is drawn. */
static inline enum fozzy_files fozzy_lose_power(void) {
  struct fozzy_raw_files result;
  fozzy_raw_lose_power(&result);
  return fozzy_raw_power(result);
}

/* ---- memory: what an allocator of the program's own does ------------------------------------------------------------ */

FOZZY_IMPORT("memory/allocations", "allocated") void fozzy_raw_allocated(uint64_t, uint64_t, const char *, size_t);
FOZZY_IMPORT("memory/allocations", "freed") void fozzy_raw_freed(uint64_t);
FOZZY_IMPORT("memory/allocations", "refused") void fozzy_raw_refused(uint64_t);

static inline void fozzy_allocated(const void *at, size_t bytes, const char *site) {
  fozzy_raw_allocated((uintptr_t)at, bytes, site, strlen(site));
}

/* What was not allocated, or was freed before, is a finding. */
static inline void fozzy_freed(const void *at) { fozzy_raw_freed((uintptr_t)at); }

static inline void fozzy_refused(size_t bytes) { fozzy_raw_refused(bytes); }

/* ---- the component that a scenario judges (`--target`) -------------------------------------------------------------- */

FOZZY_IMPORT("target/control", "outlive") void fozzy_raw_outlive(int32_t);
FOZZY_IMPORT("target/control", "down") void fozzy_raw_down(void *);
FOZZY_IMPORT("target/control", "restart") void fozzy_raw_restart(void);
FOZZY_IMPORT("target/control", "lose-power") void fozzy_raw_lose_power_of_target(void);

/* Whether the scenario continues when a call of the target traps; the trap is a finding either way. */
static inline void fozzy_outlive_target(bool yes) { fozzy_raw_outlive(yes); }

/* Whether the target answers nothing, until it is restarted. */
static inline bool fozzy_target_is_down(void) {
  struct { uint8_t is_some; char *why; size_t length; } answer;
  fozzy_raw_down(&answer);
  if (answer.is_some && answer.length) free(answer.why);
  return answer.is_some != 0;
}

/* The next call is answered by a new instance, on the disk as it is. */
static inline void fozzy_restart_target(void) { fozzy_raw_restart(); }

/* The same, and its disk keeps what was synced, and of the rest whatever is drawn. */
static inline void fozzy_lose_power_of_target(void) { fozzy_raw_lose_power_of_target(); }

/* ---- rules: what the scenario plays in the place of programs and servers -------------------------------------------- */

/* What the component model's ABI wants to see in memory. */
struct fozzy_raw_text {
  const char *bytes;
  size_t length;
};

static inline struct fozzy_raw_text fozzy_text(const char *text) {
  return (struct fozzy_raw_text){text, fozzy_length(text)};
}

/* Why a command or a request is not answered. */
enum fozzy_not {
  FOZZY_ANSWERED,
  /* Of a command. */
  FOZZY_NOT_FOUND,
  FOZZY_NOT_PERMITTED,
  /* Of a request. */
  FOZZY_NO_NAME,
  FOZZY_REFUSED,
  FOZZY_RESET,
  FOZZY_TIMEOUT,
};

/* How commands are answered from now on. What is left out is 0 or NULL: any arguments, any number of times, at once, code 0, no
 * output. Commands and arguments are patterns, in which `*` stands for any characters.
 *
 *     fozzy_add_process_rule(&(struct fozzy_process_rule){.command = "resize", .times = 1, .code = 1});
 */
struct fozzy_process_rule {
  const char *command;
  /* As many as there are, and NULL after the last one; NULL for any. */
  const char *const *args;
  /* 0 is any number. */
  uint64_t times;
  uint64_t delay_ns;
  enum fozzy_not answer;
  /* How it ends: by a code, or by a signal when that is not 0. */
  int32_t code;
  int32_t signal;
  const char *standard_output;
  const char *standard_error;
};

/* Two texts. */
struct fozzy_header {
  const char *name;
  const char *value;
};

/* How HTTP requests are answered from now on: a whole URL, or path and query when it begins with `/`. What is left out is 0
 * or NULL: any method, any headers, any number of times, at once, status 200, no headers, no body.
 *
 *     fozzy_add_http_rule(&(struct fozzy_http_rule){.method = "POST", .url = "/orders", .status = 201});
 */
struct fozzy_http_rule {
  const char *method;
  const char *url;
  const struct fozzy_header *headers;
  size_t header_count;
  uint64_t times;
  uint64_t delay_ns;
  enum fozzy_not answer;
  /* 100 to 999. */
  uint16_t status;
  const struct fozzy_header *response_headers;
  size_t response_header_count;
  const void *body;
  size_t body_length;
  /* The connection breaks after this many bytes of the body, when `resets`. */
  bool resets;
  uint64_t reset_after;
};

/* What the component model's ABI wants to see in memory. */
struct fozzy_raw_list {
  const void *items;
  size_t length;
};

struct fozzy_raw_some {
  uint8_t is_some;
  uint64_t value;
};

struct fozzy_raw_http_rule {
  uint8_t has_method;
  struct fozzy_raw_text method;
  struct fozzy_raw_text url;
  struct fozzy_raw_list headers;
  struct fozzy_raw_some times;
  uint64_t delay;
  struct {
    uint8_t fails;
    union {
      struct {
        uint16_t status;
        struct fozzy_raw_list headers;
        struct fozzy_raw_list body;
        struct fozzy_raw_some reset_after;
      } response;
      uint8_t failure;
    };
  } answer;
};

FOZZY_IMPORT("process/rules", "add")
uint32_t fozzy_raw_add_process_rule(const char *, size_t, int32_t, const void *, size_t, int32_t, uint64_t, uint64_t, int32_t,
                                    int32_t, int32_t, const char *, size_t, const char *, size_t);
FOZZY_IMPORT("process/rules", "answered") uint64_t fozzy_raw_process_answered(uint32_t);
FOZZY_IMPORT("process/rules", "clear") void fozzy_raw_clear_process_rules(void);
FOZZY_IMPORT("http/rules", "add") uint32_t fozzy_raw_add_http_rule(const void *);
FOZZY_IMPORT("http/rules", "answered") uint64_t fozzy_raw_http_answered(uint32_t);
FOZZY_IMPORT("http/rules", "clear") void fozzy_raw_clear_http_rules(void);

/* One rule more; the answer is its number. Rules are tried in their order, before those of the plan, until the sequence ends. */
static inline uint32_t fozzy_add_process_rule(const struct fozzy_process_rule *rule) {
  size_t count = 0;
  while (rule->args && rule->args[count]) count++;
  struct fozzy_raw_text *args = malloc((count + 1) * sizeof *args);
  if (!args) abort();
  for (size_t at = 0; at < count; at++) args[at] = fozzy_text(rule->args[at]);
  int32_t answer = rule->answer == FOZZY_ANSWERED ? 0 : rule->answer == FOZZY_NOT_PERMITTED ? 2 : 1;
  struct fozzy_raw_text output = fozzy_text(rule->standard_output), error = fozzy_text(rule->standard_error);
  uint32_t number = fozzy_raw_add_process_rule(
      rule->command, strlen(rule->command), rule->args != NULL, args, count, rule->times != 0, rule->times, rule->delay_ns, answer,
      rule->signal != 0, rule->signal ? rule->signal : rule->code, output.bytes, output.length, error.bytes, error.length);
  free(args);
  return number;
}

/* How many commands the rule of this number has answered. */
static inline uint64_t fozzy_process_answered(uint32_t rule) { return fozzy_raw_process_answered(rule); }

/* Takes back all rules for commands that were added. */
static inline void fozzy_clear_process_rules(void) { fozzy_raw_clear_process_rules(); }

static inline struct fozzy_raw_list fozzy_raw_headers(const struct fozzy_header *headers, size_t count) {
  struct fozzy_raw_text *texts = malloc((2 * count + 1) * sizeof *texts);
  if (!texts) abort();
  for (size_t at = 0; at < count; at++) {
    texts[2 * at] = fozzy_text(headers[at].name);
    texts[2 * at + 1] = fozzy_text(headers[at].value);
  }
  return (struct fozzy_raw_list){texts, count};
}

/* As `fozzy_add_process_rule`, for HTTP requests. */
static inline uint32_t fozzy_add_http_rule(const struct fozzy_http_rule *rule) {
  struct fozzy_raw_http_rule raw = {
      .has_method = rule->method != NULL,
      .method = fozzy_text(rule->method),
      .url = fozzy_text(rule->url),
      .headers = fozzy_raw_headers(rule->headers, rule->header_count),
      .times = {rule->times != 0, rule->times},
      .delay = rule->delay_ns,
  };
  struct fozzy_raw_list headers = fozzy_raw_headers(rule->response_headers, rule->response_header_count);
  raw.answer.fails = rule->answer != FOZZY_ANSWERED;
  if (raw.answer.fails) {
    raw.answer.failure = rule->answer >= FOZZY_NO_NAME ? (uint8_t)(rule->answer - FOZZY_NO_NAME) : 1;
  } else {
    raw.answer.response.status = rule->status ? rule->status : 200;
    raw.answer.response.headers = headers;
    raw.answer.response.body = (struct fozzy_raw_list){rule->body, rule->body_length};
    raw.answer.response.reset_after = (struct fozzy_raw_some){rule->resets, rule->reset_after};
  }
  uint32_t number = fozzy_raw_add_http_rule(&raw);
  free((void *)raw.headers.items);
  free((void *)headers.items);
  return number;
}

/* How many requests the rule of this number has answered. */
static inline uint64_t fozzy_http_answered(uint32_t rule) { return fozzy_raw_http_answered(rule); }

/* Takes back all rules for requests that were added. */
static inline void fozzy_clear_http_rules(void) { fozzy_raw_clear_http_rules(); }

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
  /* The period, in steps: it is checked after each period. Not 0. */
  uint32_t period;
  void (*check)(void);
};

/* What the flow that runs says when it has found nothing to do: see `fozzy_skip`. */
static const char *fozzy_skipped_as;

/* The flow that runs has found nothing to do, for a reason of a word or two. Return after it. */
static inline void fozzy_skip(const char *label) { fozzy_skipped_as = label; }

/* The sequence that runs and the step in it, each counted from 0. */
__attribute__((unused)) static uint32_t fozzy_sequence, fozzy_step_number;

/* What is done when a sequence ends, if it is set: by the function that begins one, say. */
__attribute__((unused)) static void (*fozzy_at_end)(void);

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
    fozzy_sequence = sequence;                                                                                            \
    void (*fozzy_begin)(void) = begin_sequence;                                                                           \
    if (fozzy_begin) fozzy_begin();                                                                                       \
  }                                                                                                                       \
                                                                                                                          \
  FOZZY_EXPORT("step") const void *fozzy_step(uint32_t step) {                                                            \
    return fozzy_one_step(step, flows, fozzy_times, fozzy_flows, invariants, fozzy_invariants);                           \
  }                                                                                                                       \
                                                                                                                          \
  FOZZY_EXPORT("end-sequence") void fozzy_end_sequence(uint32_t sequence) {                                               \
    (void)sequence;                                                                                                       \
    if (fozzy_at_end) fozzy_at_end();                                                                                     \
  }

/* What the component model's ABI wants to see in memory. */
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
  fozzy_step_number = step;
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
