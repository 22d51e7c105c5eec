/* fozzy.h: choices, properties, events, rules and scenarios for programs in C that Fozzy runs.
 *
 *     clang-19 --target=wasm32-wasi -O2 -g -c ring.c
 *     clang-19 --target=wasm32-wasi -mexec-model=reactor -o ring.wasm ring.o      a scenario: see FOZZY_SCENARIO
 *     clang-19 --target=wasm32-wasi -o tool.wasm tool.o                           a program with a `main`
 *     fozzy run ring.wasm --seed 7
 *     cc -g -o ring ring.c && FOZZY_SEED=7 ./ring         natively, for a debugger or sanitizers: see the end of this file
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

#if defined(__wasm32__)
#define FOZZY_IMPORT(interface, name) __attribute__((import_module("fozzy:" interface "@0.1.0"), import_name(name)))
#define FOZZY_EXPORT(name) __attribute__((export_name("fozzy:scenario/stateful@0.1.0#" name), used))
#else
/* Natively the functions of the run are those at the end of this file. */
#define FOZZY_IMPORT(interface, name) __attribute__((unused)) static
#endif

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

#if defined(__wasm32__)
/* What the run returns that is longer than a register comes to the program's own heap. */
__attribute__((export_name("cabi_realloc"), weak)) void *cabi_realloc(void *old, size_t had, size_t align, size_t size) {
  (void)had, (void)align;
  return size ? realloc(old, size) : (void *)align;
}
#endif

/* What the component model's ABI wants to see in memory. */
struct fozzy_raw_text {
  const char *bytes;
  size_t length;
};

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

static inline struct fozzy_raw_text fozzy_text(const char *text) {
  return (struct fozzy_raw_text){text, fozzy_length(text)};
}

/* Kinds of properties. */
enum fozzy_kind {
  FOZZY_KIND_ALWAYS,
  FOZZY_KIND_ALWAYS_OR_UNREACHABLE,
  FOZZY_KIND_SOMETIMES,
  FOZZY_KIND_REACHABLE,
  FOZZY_KIND_UNREACHABLE,
};

/* A property that this program has, and where. */
struct fozzy_property {
  enum fozzy_kind kind;
  const char *name;
  const char *place;
};

/* What the component model's ABI wants to see in memory. */
struct fozzy_raw_property {
  uint8_t kind;
  struct fozzy_raw_text name;
  struct fozzy_raw_text place;
};

FOZZY_IMPORT("properties/assertions", "declare") void fozzy_raw_declare(const struct fozzy_raw_property *, size_t);

/* The functions below are macros too: each of their uses leaves an entry in a section of the program, so that a report has those
 * properties that were never reached. A name that is no literal has no entry. C++ and Apple's linker have none of this. */
#if !defined(__cplusplus) && !defined(__APPLE__)
#define FOZZY_CATALOGUE 1
#define FOZZY_TEXT_OF_(line) #line
#define FOZZY_TEXT_OF(line) FOZZY_TEXT_OF_(line)
#define FOZZY_DECLARE(its_kind, its_name)                                                                                 \
  (__extension__({                                                                                                        \
    static const struct fozzy_property fozzy_this = {                                                                     \
        its_kind, __builtin_choose_expr(__builtin_constant_p(its_name), its_name, NULL),                                  \
        __FILE__ ":" FOZZY_TEXT_OF(__LINE__)};                                                                            \
    static const struct fozzy_property *const fozzy_entry __attribute__((section("fozzy_properties"), used)) = &fozzy_this; \
    (void)fozzy_entry;                                                                                                    \
    fozzy_declare_once();                                                                                                 \
  }))
/* The linker's own symbols. */
extern const struct fozzy_property *const __start_fozzy_properties[] __attribute__((weak));
extern const struct fozzy_property *const __stop_fozzy_properties[] __attribute__((weak));
#endif

__attribute__((unused)) static bool fozzy_is_declared;

/* Tells the run which properties there are. A scenario does it when a sequence begins, others with their first property. */
static inline void fozzy_declare_properties(void) {
  fozzy_is_declared = true;
#if defined(FOZZY_CATALOGUE)
  size_t count = (size_t)(__stop_fozzy_properties - __start_fozzy_properties), known = 0;
  if (count == 0) return;
  struct fozzy_raw_property *raw = malloc(count * sizeof *raw);
  if (!raw) abort();
  for (size_t at = 0; at < count; at++) {
    const struct fozzy_property *property = __start_fozzy_properties[at];
    if (!property->name) continue;
    raw[known++] = (struct fozzy_raw_property){(uint8_t)property->kind, fozzy_text(property->name), fozzy_text(property->place)};
  }
  fozzy_raw_declare(raw, known);
  free(raw);
#endif
}

static inline void fozzy_declare_once(void) {
  if (!fozzy_is_declared) fozzy_declare_properties();
}

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

#if defined(FOZZY_CATALOGUE)
#define fozzy_always(name, ...) (FOZZY_DECLARE(FOZZY_KIND_ALWAYS, name), fozzy_always(name, __VA_ARGS__))
#define fozzy_always_or_unreachable(name, ...) \
  (FOZZY_DECLARE(FOZZY_KIND_ALWAYS_OR_UNREACHABLE, name), fozzy_always_or_unreachable(name, __VA_ARGS__))
#define fozzy_always_number(name, ...) (FOZZY_DECLARE(FOZZY_KIND_ALWAYS, name), fozzy_always_number(name, __VA_ARGS__))
#define fozzy_sometimes(name, ...) (FOZZY_DECLARE(FOZZY_KIND_SOMETIMES, name), fozzy_sometimes(name, __VA_ARGS__))
#define fozzy_sometimes_number(name, ...) (FOZZY_DECLARE(FOZZY_KIND_SOMETIMES, name), fozzy_sometimes_number(name, __VA_ARGS__))
#define fozzy_reachable(name) (FOZZY_DECLARE(FOZZY_KIND_REACHABLE, name), fozzy_reachable(name))
#define fozzy_unreachable(name, ...) (FOZZY_DECLARE(FOZZY_KIND_UNREACHABLE, name), fozzy_unreachable(name, __VA_ARGS__))
#endif

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
FOZZY_IMPORT("history/operations", "check") void fozzy_raw_check(const char *, size_t, const char *, size_t);

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

/* Holds the operations of this run to a checker, such as "linearizable" with the model "kv", or "set-full" with "". */
static inline void fozzy_check_history(const char *checker, const char *model) {
  fozzy_raw_check(checker, strlen(checker), model, strlen(model));
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
#if defined(__wasm32__)
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
    fozzy_declare_properties();                                                                                           \
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
#else
/* Natively the scenario is the program: `main`, unless FOZZY_MAIN names it. */
#if !defined(FOZZY_MAIN)
#define FOZZY_MAIN main
#endif
#define FOZZY_SCENARIO(scenario_name, begin_sequence, flows, invariants)                                                  \
  int FOZZY_MAIN(void) {                                                                                                  \
    enum { flow_count = sizeof(flows) / sizeof(flows[0]), invariant_count = sizeof(invariants) / sizeof(invariants[0]) }; \
    static uint32_t times[flow_count];                                                                                    \
    return fozzy_native_run(scenario_name, begin_sequence, flows, times, flow_count, invariants, invariant_count);        \
  }
#endif

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

/* ---- natively ------------------------------------------------------------------------------------------------------- */

/* A scenario that is compiled for this machine is a program that drives itself:
 *
 *     cc -g -fsanitize=address,undefined -o ring ring.c
 *     FOZZY_SEED=7 FOZZY_SEQUENCES=10 FOZZY_FLOWS=100 ./ring     0: passed, 1: failed, 2: not run, 4: crashed
 *     FOZZY_ONLY=3 gdb ./ring                                    the one sequence, in the process itself
 *
 * The same seed draws the same flows and the same values as `fozzy run --seed 7`. Each sequence runs in a process of its own, so that it
 * begins with the memory that the program begins with, as in the sandbox. Properties are checked and counted; what must hold and
 * does not ends the program, with the words that are needed to see it again.
 *
 * Files, network and time are the real ones: rules answer nothing, planned faults do not strike, there are no snapshots of files and no
 * `--target`, tasks are scheduled at random. It needs POSIX. */
#if !defined(__wasm32__)

#include <stdio.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined(MAP_ANONYMOUS)
#if defined(MAP_ANON)
#define MAP_ANONYMOUS MAP_ANON
#else
#define MAP_ANONYMOUS 0x20 /* Linux, where a strict C hides it */
#endif
#endif

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

enum { FOZZY_NATIVE_PROPERTIES_MAX = 4096, FOZZY_NATIVE_NAME_MAX = 255 };

struct fozzy_native_property {
  char name[FOZZY_NATIVE_NAME_MAX + 1];
  int kind;
  uint64_t evaluated, held;
};

/* What the processes of a run share. */
struct fozzy_native_shared {
  uint32_t sequence, step;
  bool in_step, has_failed;
  size_t property_count;
  struct fozzy_native_property properties[FOZZY_NATIVE_PROPERTIES_MAX];
};

struct fozzy_native {
  bool begun;
  const char *scenario;
  uint64_t seed, sequences, flows;
  struct fozzy_native_shared *shared;
  /* ChaCha: its key, its nonce, the number of the next block, and the words of the last one. */
  uint32_t key[8], words[16];
  uint64_t stream, block;
  unsigned used;
  uint64_t numbers;
};

static struct fozzy_native fozzy_native;

static _Noreturn void fozzy_native_end(int code) {
  fflush(NULL);
  _exit(code);
}

static void fozzy_native_again(void) {
  const struct fozzy_native_shared *shared = fozzy_native.shared;
  if (!fozzy_native.scenario) {
    fprintf(stderr, "again: FOZZY_SEED=%llu\n", (unsigned long long)fozzy_native.seed);
    return;
  }
  fprintf(stderr, "%s failed in sequence %lu", fozzy_native.scenario, (unsigned long)shared->sequence);
  if (shared->in_step) fprintf(stderr, ", step %lu", (unsigned long)shared->step);
  fprintf(stderr, "; again: FOZZY_SEED=%llu FOZZY_FLOWS=%llu FOZZY_ONLY=%lu\n", (unsigned long long)fozzy_native.seed,
          (unsigned long long)fozzy_native.flows, (unsigned long)shared->sequence);
}

/* A breakpoint here stops where a property fails. */
static _Noreturn void fozzy_native_failed(int code) {
  if (fozzy_native.shared) fozzy_native.shared->has_failed = true;
  fozzy_native_again();
  fozzy_native_end(code);
}

static _Noreturn void fozzy_native_misuse(const char *site, const char *why) {
  fprintf(stderr, "at `%s`: %s\n", site, why);
  fozzy_native_failed(4);
}

static uint64_t fozzy_native_setting(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  if (!text) return otherwise;
  char *end;
  unsigned long long number = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end) {
    fprintf(stderr, "%s: expected a number, found `%s`\n", name, text);
    fozzy_native_end(2);
  }
  return number;
}

/* SHA-256 (FIPS 180-4) of 32 bytes. */
static void fozzy_native_hash(const uint8_t in[32], uint32_t out[8]) {
  static const uint32_t rounds[64] = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
      0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
      0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
      0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
      0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
      0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
      0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
  static const uint32_t begin[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint8_t block[64] = {0};
  memcpy(block, in, 32);
  block[32] = 0x80;
  block[62] = 1; /* 256 bits */
  uint32_t word[64], h[8];
  for (int at = 0; at < 16; at++)
    word[at] = (uint32_t)block[4 * at] << 24 | (uint32_t)block[4 * at + 1] << 16 | (uint32_t)block[4 * at + 2] << 8 | block[4 * at + 3];
#define FOZZY_RIGHT(x, by) ((x) >> (by) | (x) << (32 - (by)))
  for (int at = 16; at < 64; at++) {
    uint32_t a = word[at - 15], b = word[at - 2];
    word[at] = word[at - 16] + (FOZZY_RIGHT(a, 7) ^ FOZZY_RIGHT(a, 18) ^ a >> 3) + word[at - 7] +
               (FOZZY_RIGHT(b, 17) ^ FOZZY_RIGHT(b, 19) ^ b >> 10);
  }
  memcpy(h, begin, sizeof h);
  for (int at = 0; at < 64; at++) {
    uint32_t one = h[7] + (FOZZY_RIGHT(h[4], 6) ^ FOZZY_RIGHT(h[4], 11) ^ FOZZY_RIGHT(h[4], 25)) +
                   ((h[4] & h[5]) ^ (~h[4] & h[6])) + rounds[at] + word[at];
    uint32_t two = (FOZZY_RIGHT(h[0], 2) ^ FOZZY_RIGHT(h[0], 13) ^ FOZZY_RIGHT(h[0], 22)) +
                   ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
    memmove(h + 1, h, 7 * sizeof *h);
    h[4] += one;
    h[0] = one + two;
  }
#undef FOZZY_RIGHT
  for (int at = 0; at < 8; at++) out[at] = begin[at] + h[at];
}

static void fozzy_native_part(uint64_t stream) {
  fozzy_native.stream = stream;
  fozzy_native.block = 0;
  fozzy_native.used = 16;
}

/* As `runtime/trace/src/source/seeded.rs`: the key of the choices of the first machine. */
static void fozzy_native_begin(void) {
  if (fozzy_native.begun) return;
  fozzy_native.begun = true;
  fozzy_native.seed = fozzy_native_setting("FOZZY_SEED", 0);
  fozzy_native.sequences = fozzy_native_setting("FOZZY_SEQUENCES", 10);
  fozzy_native.flows = fozzy_native_setting("FOZZY_FLOWS", 100);
  void *shared = mmap(NULL, sizeof *fozzy_native.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    perror("fozzy: mmap");
    fozzy_native_end(2);
  }
  fozzy_native.shared = (struct fozzy_native_shared *)shared;
  uint8_t named[32] = "fozzy stream 1";
  for (int at = 0; at < 8; at++) named[14 + at] = (uint8_t)(fozzy_native.seed >> 8 * at);
  memcpy(named + 22, "choice", 6);
  fozzy_native_hash(named, fozzy_native.key);
  /* The bytes of the hash are little-endian words of the key. */
  for (int at = 0; at < 8; at++) fozzy_native.key[at] = __builtin_bswap32(fozzy_native.key[at]);
  fozzy_native_part(0);
}

/* ChaCha with 12 rounds and a nonce of 64 bits. */
static void fozzy_native_refill(void) {
  uint32_t in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, *x = fozzy_native.words;
  memcpy(in + 4, fozzy_native.key, sizeof fozzy_native.key);
  in[12] = (uint32_t)fozzy_native.block, in[13] = (uint32_t)(fozzy_native.block >> 32);
  in[14] = (uint32_t)fozzy_native.stream, in[15] = (uint32_t)(fozzy_native.stream >> 32);
  memcpy(x, in, sizeof in);
  static const uint8_t quarters[8][4] = {{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15},
                                         {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13}, {3, 4, 9, 14}};
#define FOZZY_STEP(a, b, c, by) a += b, c ^= a, c = c << (by) | c >> (32 - (by))
  for (int round = 0; round < 6; round++)
    for (int at = 0; at < 8; at++) {
      uint32_t *a = x + quarters[at][0], *b = x + quarters[at][1], *c = x + quarters[at][2], *d = x + quarters[at][3];
      FOZZY_STEP(*a, *b, *d, 16);
      FOZZY_STEP(*c, *d, *b, 12);
      FOZZY_STEP(*a, *b, *d, 8);
      FOZZY_STEP(*c, *d, *b, 7);
    }
#undef FOZZY_STEP
  for (int at = 0; at < 16; at++) x[at] += in[at];
  fozzy_native.block++;
  fozzy_native.used = 0;
}

static uint32_t fozzy_native_word(void) {
  fozzy_native_begin();
  if (fozzy_native.used == 16) fozzy_native_refill();
  return fozzy_native.words[fozzy_native.used++];
}

static uint64_t fozzy_native_draw(void) {
  uint64_t low = fozzy_native_word();
  return low | (uint64_t)fozzy_native_word() << 32;
}

/* The upper half of the product of a draw and the bound. */
static uint64_t fozzy_native_below(uint64_t bound) {
  uint64_t draw = fozzy_native_draw(), low = (uint32_t)draw, high = draw >> 32, bound_low = (uint32_t)bound, bound_high = bound >> 32;
  uint64_t first = high * bound_low + (low * bound_low >> 32), second = (uint32_t)first + low * bound_high;
  return high * bound_high + (first >> 32) + (second >> 32);
}

static void fozzy_native_site(const char *site, size_t length) {
  if (length == 0 || length > FOZZY_NATIVE_NAME_MAX) fozzy_native_misuse(site, "a name has 1 to 255 bytes");
}

static uint64_t fozzy_raw_choose(const char *site, size_t length, uint64_t count) {
  fozzy_native_site(site, length);
  if (count == 0) fozzy_native_misuse(site, "there is nothing to choose from: the count is 0");
  return fozzy_native_below(count);
}

static int64_t fozzy_raw_int(const char *site, size_t length, int64_t min, int64_t max) {
  fozzy_native_site(site, length);
  if (min > max) fozzy_native_misuse(site, "the range is empty: the minimum is above the maximum");
  uint64_t last = (uint64_t)max - (uint64_t)min, drawn;
  if (last == UINT64_MAX) {
    drawn = fozzy_native_below(UINT64_C(1) << 32) << 32;
    drawn |= fozzy_native_below(UINT64_C(1) << 32);
  } else {
    drawn = fozzy_native_below(last + 1);
  }
  return (int64_t)((uint64_t)min + drawn);
}

static int32_t fozzy_raw_bool(const char *site, size_t length, double probability) {
  fozzy_native_site(site, length);
  if (!(probability >= 0 && probability <= 1)) fozzy_native_misuse(site, "this is no probability: it is not between 0 and 1");
  uint64_t all = UINT64_C(1) << 53;
  return fozzy_native_below(all) >= all - (uint64_t)(probability * (double)all);
}

static void fozzy_raw_bytes(const char *site, size_t length, uint64_t count, void *out) {
  fozzy_native_site(site, length);
  if (count > 16 << 20) fozzy_native_misuse(site, "more than 16 MiB asked for at once");
  struct drawn { uint8_t *bytes; size_t length; } drawn = {(uint8_t *)malloc(count ? count : 1), count};
  if (!drawn.bytes) abort();
  uint32_t word = 0;
  for (size_t at = 0; at < count; at++) {
    if (at % 4 == 0) word = fozzy_native_word();
    drawn.bytes[at] = (uint8_t)(word >> 8 * (at % 4));
  }
  if (count == 0) free(drawn.bytes);
  memcpy(out, &drawn, sizeof drawn);
}

static uint64_t fozzy_raw_reseed(void) { return fozzy_native_draw(); }

static uint32_t fozzy_raw_weighted(const char *site, size_t length, const uint32_t *weights, size_t count) {
  fozzy_native_site(site, length);
  uint64_t sum = 0;
  for (size_t at = 0; at < count; at++) sum += weights[at];
  if (sum == 0) fozzy_native_misuse(site, "nothing can be drawn: all of the weights are 0");
  uint64_t left = fozzy_native_below(sum);
  uint32_t place = 0;
  while (left >= weights[place]) left -= weights[place++];
  return place;
}

static uint32_t fozzy_raw_next_task(uint64_t kind, uint64_t run, int32_t policy, uint32_t depth, const uint64_t *touched,
                                    size_t touched_count, const struct fozzy_task *ready, size_t ready_count) {
  if (ready_count == 0) fozzy_native_misuse("next task", "there is no task to choose from");
  return (uint32_t)fozzy_native_below(ready_count);
}

static struct fozzy_native_property *fozzy_native_property(const char *name, size_t length, int kind) {
  static const char *const words[] = {"always", "always or unreachable", "sometimes", "reachable", "unreachable"};
  fozzy_native_begin();
  fozzy_native_site(name, length);
  struct fozzy_native_shared *shared = fozzy_native.shared;
  for (size_t at = 0; at < shared->property_count; at++) {
    struct fozzy_native_property *property = &shared->properties[at];
    if (strlen(property->name) != length || memcmp(property->name, name, length) != 0) continue;
    if (kind >= 0 && property->kind != kind) {
      fprintf(stderr, "two properties are called `%s`: one is `%s`, one is `%s`\n", property->name, words[property->kind], words[kind]);
      fozzy_native_failed(2);
    }
    return property;
  }
  if (kind < 0 || shared->property_count == FOZZY_NATIVE_PROPERTIES_MAX)
    fozzy_native_misuse(name, kind < 0 ? "this property is unknown" : "more than 4096 properties");
  struct fozzy_native_property *property = &shared->properties[shared->property_count++];
  memcpy(property->name, name, length);
  property->kind = kind;
  return property;
}

static void fozzy_raw_declare(const struct fozzy_raw_property *properties, size_t count) {
  for (size_t at = 0; at < count; at++)
    fozzy_native_property(properties[at].name.bytes, properties[at].name.length, properties[at].kind);
}

static void fozzy_native_see(enum fozzy_kind kind, const char *name, size_t length, bool holds, const char *details, size_t details_length) {
  struct fozzy_native_property *property = fozzy_native_property(name, length, kind);
  property->evaluated++;
  property->held += holds;
  if (holds || kind == FOZZY_KIND_SOMETIMES) return;
  fprintf(stderr, kind == FOZZY_KIND_UNREACHABLE ? "`%s` was reached\n" : "`%s` does not hold\n", property->name);
  if (details_length) fprintf(stderr, "%.*s\n", (int)details_length, details);
  fozzy_native_failed(1);
}

static void fozzy_raw_always(const char *name, size_t length, int32_t holds, int32_t some, const char *details, size_t details_length) {
  fozzy_native_see(FOZZY_KIND_ALWAYS, name, length, holds != 0, details, some ? details_length : 0);
}

static void fozzy_raw_always_or_unreachable(const char *name, size_t length, int32_t holds, int32_t some, const char *details,
                                            size_t details_length) {
  fozzy_native_see(FOZZY_KIND_ALWAYS_OR_UNREACHABLE, name, length, holds != 0, details, some ? details_length : 0);
}

static void fozzy_raw_sometimes(const char *name, size_t length, int32_t holds, int32_t some, const char *details,
                                size_t details_length) {
  fozzy_native_see(FOZZY_KIND_SOMETIMES, name, length, holds != 0, NULL, 0);
}

static void fozzy_raw_reachable(const char *name, size_t length) {
  fozzy_native_see(FOZZY_KIND_REACHABLE, name, length, true, NULL, 0);
}

static void fozzy_raw_unreachable(const char *name, size_t length, int32_t some, const char *details, size_t details_length) {
  fozzy_native_see(FOZZY_KIND_UNREACHABLE, name, length, false, details, some ? details_length : 0);
}

static void fozzy_native_number(enum fozzy_kind kind, const char *name, size_t length, double left, int32_t compared, double right) {
  static const char *const signs[] = {"<", "<=", ">", ">="};
  const bool holds[] = {left < right, left <= right, left > right, left >= right};
  char details[96];
  int written = snprintf(details, sizeof details, "expected %g %s %g", left, signs[compared & 3], right);
  fozzy_native_see(kind, name, length, holds[compared & 3], details, written > 0 ? (size_t)written : 0);
}

static void fozzy_raw_always_number(const char *name, size_t length, double left, int32_t compared, double right, int32_t some,
                                    const char *details, size_t details_length) {
  fozzy_native_number(FOZZY_KIND_ALWAYS, name, length, left, compared, right);
}

static void fozzy_raw_sometimes_number(const char *name, size_t length, double left, int32_t compared, double right, int32_t some,
                                       const char *details, size_t details_length) {
  fozzy_native_number(FOZZY_KIND_SOMETIMES, name, length, left, compared, right);
}

static void fozzy_raw_again(const char *name, size_t length, uint64_t held, uint64_t missed) {
  struct fozzy_native_property *property = fozzy_native_property(name, length, -1);
  property->held += held;
  property->evaluated += held + missed;
}

static void fozzy_raw_state(const char *name, size_t length, uint64_t value) { fozzy_native_site(name, length); }

static void fozzy_raw_fail(int32_t failure, const char *site, size_t length, const char *message, size_t message_length) {
  fozzy_native_begin();
  fprintf(stderr, "%.*s: %.*s\n", (int)length, site, (int)message_length, message);
  fozzy_native_failed(failure == FOZZY_INVALID ? 2 : 1);
}

static uint64_t fozzy_native_next_number(void) { return fozzy_native.numbers++; }

static void fozzy_raw_event(const char *name, size_t length, const char *details, size_t details_length) {}
static uint64_t fozzy_raw_enter(const char *name, size_t length) { return fozzy_native_next_number(); }
static void fozzy_raw_leave(uint64_t span) {}
static int32_t fozzy_raw_buggify(const char *point, size_t length) { return 0; }
static void fozzy_raw_buggify_with(const char *point, size_t length, void *out) { *(uint8_t *)out = 0; }
static void fozzy_raw_advance(uint64_t nanoseconds) {}
static void fozzy_raw_freeze(void) {}
static void fozzy_raw_unfreeze(void) {}

static uint64_t fozzy_raw_invoke(uint32_t client, const char *operation, size_t length, const char *input, size_t input_length) {
  return fozzy_native_next_number();
}
static void fozzy_raw_ok(uint64_t operation, const char *output, size_t length) {}
static void fozzy_raw_failed(uint64_t operation, const char *error, size_t length) {}
static void fozzy_raw_info(uint64_t operation, const char *note, size_t length) {}
static void fozzy_raw_check(const char *checker, size_t length, const char *model, size_t model_length) {}

/* Files are the real ones: "unsupported", as each interface numbers it. */
static void fozzy_native_unsupported(void *out, uint8_t error) {
  struct fozzy_raw_files result = {1, error};
  memcpy(out, &result, sizeof result);
}
static void fozzy_raw_snapshot(const char *name, size_t length, void *out) {
  fozzy_native_unsupported(out, FOZZY_FILES_UNSUPPORTED - 1);
}
static void fozzy_raw_restore(const char *name, size_t length, void *out) {
  fozzy_native_unsupported(out, FOZZY_FILES_UNSUPPORTED - 1);
}
static void fozzy_raw_forget(const char *name, size_t length, void *out) {
  fozzy_native_unsupported(out, FOZZY_FILES_UNSUPPORTED - 1);
}
static void fozzy_raw_watch_power(void *out) { fozzy_native_unsupported(out, 2); }
static void fozzy_raw_lose_power(void *out) { fozzy_native_unsupported(out, 2); }

/* A sanitizer tells more of memory. */
static void fozzy_raw_allocated(uint64_t at, uint64_t bytes, const char *site, size_t length) {}
static void fozzy_raw_freed(uint64_t at) {}
static void fozzy_raw_refused(uint64_t bytes) {}

static void fozzy_raw_outlive(int32_t yes) {}
static void fozzy_raw_down(void *out) { *(uint8_t *)out = 0; }
static void fozzy_raw_restart(void) {}
static void fozzy_raw_lose_power_of_target(void) {}

static uint32_t fozzy_raw_add_process_rule(const char *command, size_t length, int32_t some_args, const void *args, size_t arg_count,
                                           int32_t some_times, uint64_t times, uint64_t delay, int32_t answer, int32_t how, int32_t code,
                                           const char *output, size_t output_length, const char *error, size_t error_length) {
  return (uint32_t)fozzy_native_next_number();
}
static uint64_t fozzy_raw_process_answered(uint32_t rule) { return 0; }
static void fozzy_raw_clear_process_rules(void) {}
static uint32_t fozzy_raw_add_http_rule(const void *rule) { return (uint32_t)fozzy_native_next_number(); }
static uint64_t fozzy_raw_http_answered(uint32_t rule) { return 0; }
static void fozzy_raw_clear_http_rules(void) {}

/* One sequence, which ends the process if it fails. */
static void fozzy_native_sequence(uint32_t sequence, void (*begin)(void), const struct fozzy_flow *flows, uint32_t *times,
                                  size_t flow_count, const struct fozzy_invariant *invariants, size_t invariant_count) {
  uint64_t first = ((uint64_t)sequence + 1) << 32;
  struct fozzy_native_shared *shared = fozzy_native.shared;
  shared->sequence = fozzy_sequence = sequence;
  shared->in_step = false;
  fozzy_native_part(first);
  fozzy_declare_properties();
  if (begin) begin();
  shared->in_step = true;
  for (uint32_t step = 0; step < fozzy_native.flows; step++) {
    shared->step = step;
    fozzy_native_part(first + 1 + step);
    const struct fozzy_raw_step *result =
        (const struct fozzy_raw_step *)fozzy_one_step(step, flows, times, flow_count, invariants, invariant_count);
    if (result->result == FOZZY_STUCK) {
      fprintf(stderr, "no flow is valid: %s\n", result->stuck.bytes);
      fozzy_native_failed(2);
    }
  }
  shared->in_step = false;
  fozzy_native_part(first + UINT32_MAX);
  if (fozzy_at_end) fozzy_at_end();
}

/* How the properties stand. */
static void fozzy_native_report(void) {
  static const char *const kinds[] = {"always", "always or unreachable", "sometimes", "reachable", "unreachable"};
  const struct fozzy_native_shared *shared = fozzy_native.shared;
  for (size_t at = 0; at < shared->property_count; at++) {
    const struct fozzy_native_property *property = &shared->properties[at];
    bool wanted = property->kind != FOZZY_KIND_ALWAYS_OR_UNREACHABLE && property->kind != FOZZY_KIND_UNREACHABLE;
    const char *state = "passed";
    if (property->evaluated == 0 && wanted) state = "never reached";
    else if (property->kind == FOZZY_KIND_SOMETIMES && property->held == 0) state = "never true";
    printf("  %-13s  %s  %s, %llu times\n", state, property->name, kinds[property->kind], (unsigned long long)property->evaluated);
  }
}

__attribute__((unused)) static int fozzy_native_run(const char *name, void (*begin)(void), const struct fozzy_flow *flows, uint32_t *times,
                                                    size_t flow_count, const struct fozzy_invariant *invariants,
                                                    size_t invariant_count) {
  fozzy_native_begin();
  fozzy_native.scenario = name;
  fozzy_declare_properties();
  uint64_t only = fozzy_native_setting("FOZZY_ONLY", UINT64_MAX);
  if (only != UINT64_MAX) {
    fozzy_native_sequence((uint32_t)only, begin, flows, times, flow_count, invariants, invariant_count);
  } else {
    for (uint32_t sequence = 0; sequence < fozzy_native.sequences; sequence++) {
      fflush(NULL);
      pid_t child = fork();
      if (child < 0) {
        perror("fozzy: fork");
        return 2;
      }
      if (child == 0) {
        fozzy_native_sequence(sequence, begin, flows, times, flow_count, invariants, invariant_count);
        /* As a program ends: a sanitizer looks for leaks now. */
        exit(0);
      }
      int status = 0;
      while (waitpid(child, &status, 0) < 0) {}
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
      if (WIFSIGNALED(status)) fprintf(stderr, "it was ended by signal %d\n", WTERMSIG(status));
      if (!fozzy_native.shared->has_failed) fozzy_native_again();
      return fozzy_native.shared->has_failed ? WEXITSTATUS(status) : 4;
    }
  }
  unsigned long long sequences = only == UINT64_MAX ? fozzy_native.sequences : 1;
  printf("%s passed: %llu sequences of %llu flows, seed %llu\n", name, sequences, (unsigned long long)fozzy_native.flows,
         (unsigned long long)fozzy_native.seed);
  fozzy_native_report();
  return 0;
}

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif

#endif
