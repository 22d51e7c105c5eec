/* A scenario in C that calls everything that `fozzy.h` has. What it says is looked for in the history of its run. */
#include "../../../guest-sdk/c/fozzy.h"

#include <stdio.h>

static void draws(void) {
  uint8_t bytes[20] = {0};
  fozzy_bytes("bytes", bytes, sizeof bytes);
  size_t zeros = 0;
  for (size_t at = 0; at < sizeof bytes; at++) zeros += bytes[at] == 0;
  fozzy_always("bytes are drawn", zeros < sizeof bytes, NULL);
  fozzy_bytes("none", bytes, 0);
  uint32_t weights[] = {0, 5, 0};
  fozzy_always("a weight of 0 is never drawn", fozzy_weighted("weighted", weights, 3) == 1, NULL);
  fozzy_sometimes("both", fozzy_bool("bool", 0.5), "details");
  (void)fozzy_reseed();
}

/* Every policy picks each of two tasks at some time. */
static void tasks(void) {
  static const uint64_t touched[] = {7};
  struct fozzy_task ready[] = {{.number = 1, .steps = 0, .object = 7}, {.number = 2}};
  for (int policy = FOZZY_SCHEDULE_RANDOM; policy <= FOZZY_SCHEDULE_URW; policy++) {
    for (uint64_t run = 0; run < 4; run++) {
      size_t next = fozzy_next_task(&(struct fozzy_schedule_point){
          .kind = 1, .run = run, .policy = policy, .depth = policy == FOZZY_SCHEDULE_PCT, .touched = touched, .touched_count = 1,
          .ready = ready, .ready_count = 2});
      fozzy_always("a task is one of those that are ready", next < 2, NULL);
      ready[next].steps++;
    }
  }
}

static void properties(void) {
  fozzy_reachable("reached");
  fozzy_always_or_unreachable("always or unreachable", true, NULL);
  fozzy_always_number("below ten", 3.5, FOZZY_LESS, 10);
  fozzy_sometimes_number("at least one", 1, FOZZY_AT_LEAST, 1);
  fozzy_again("reached", 4, 0);
}

static void tools(void) {
  uint64_t span = fozzy_enter("span");
  fozzy_event("event", "details"), fozzy_event("event", NULL);
  fozzy_leave(span);
  uint64_t strength = 7;
  fozzy_always("no fault is planned", !fozzy_buggify("point") && !fozzy_buggify_with("point", &strength) && strength == 7, NULL);
  fozzy_freeze(), fozzy_unfreeze(), fozzy_advance(1000);
  fozzy_ok(fozzy_invoke(1, "read", "k"), "v");
  fozzy_failed(fozzy_invoke(1, "write", "k"), "full");
  fozzy_info(fozzy_invoke(2, "read", "k"), "timeout");
  char byte;
  fozzy_allocated(&byte, 1, "here"), fozzy_freed(&byte), fozzy_refused(1 << 20);
}

static void files(void) {
  const char *name = "start";
  fozzy_always("there is no such snapshot", fozzy_restore_files("none") == FOZZY_FILES_NOT_FOUND, NULL);
  fozzy_always("kept", fozzy_snapshot_files(name) == FOZZY_FILES_OK && fozzy_restore_files(name) == FOZZY_FILES_OK, NULL);
  fozzy_always("forgotten", fozzy_forget_files(name) == FOZZY_FILES_OK, NULL);
  fozzy_always("not watched", fozzy_lose_power() == FOZZY_FILES_NOT_WATCHED, NULL);
  fozzy_always("watched", fozzy_watch_power() == FOZZY_FILES_OK && fozzy_lose_power() == FOZZY_FILES_OK, NULL);
}

static void rules(void) {
  static const char *const args[] = {"-w", "*.png", NULL};
  uint32_t resize = fozzy_add_process_rule(&(struct fozzy_process_rule){
      .command = "resize", .args = args, .times = 2, .delay_ns = 3000, .code = 4, .standard_output = "out", .standard_error = "wrong"});
  fozzy_add_process_rule(&(struct fozzy_process_rule){.command = "kill", .signal = 9});
  fozzy_add_process_rule(&(struct fozzy_process_rule){.command = "secret", .answer = FOZZY_NOT_PERMITTED});
  fozzy_always("nobody has run it", fozzy_process_answered(resize) == 0, NULL);
  fozzy_clear_process_rules();
  struct fozzy_header wanted[] = {{"Accept", "text/*"}}, given[] = {{"X-One", "1"}, {"X-Two", "2"}};
  uint32_t order = fozzy_add_http_rule(&(struct fozzy_http_rule){
      .method = "POST", .url = "/orders", .headers = wanted, .header_count = 1, .times = 5, .delay_ns = 6000, .status = 201,
      .response_headers = given, .response_header_count = 2, .body = "body", .body_length = 4, .resets = true, .reset_after = 2});
  fozzy_add_http_rule(&(struct fozzy_http_rule){.url = "/gone", .answer = FOZZY_TIMEOUT});
  fozzy_always("nobody has asked", fozzy_http_answered(order) == 0, NULL);
  fozzy_clear_http_rules();
}

static void nothing(void) { fozzy_skip("nothing to do"); }

static void end(void) {
  char text[32];
  snprintf(text, sizeof text, "%u after %u", fozzy_sequence, fozzy_step_number);
  fozzy_event("end", text);
}

static void begin(void) { fozzy_at_end = end; }

static const struct fozzy_flow flows[] = {
    {.name = "draws", .weight = 10, .max_times = 1, .run = draws},
    {.name = "tasks", .weight = 10, .max_times = 1, .run = tasks},
    {.name = "properties", .weight = 10, .max_times = 1, .run = properties},
    {.name = "tools", .weight = 10, .max_times = 1, .run = tools},
    {.name = "files", .weight = 10, .max_times = 1, .run = files},
    {.name = "rules", .weight = 10, .max_times = 1, .run = rules},
    {.name = "nothing", .weight = 1, .run = nothing},
};

static void never(void) { fozzy_unreachable("a period that is never over", NULL); }

static const struct fozzy_invariant invariants[] = {{.name = "never", .period = 1000, .check = never}};

FOZZY_SCENARIO("tools", begin, flows, invariants)
