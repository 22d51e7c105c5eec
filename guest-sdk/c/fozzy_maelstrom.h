/* fozzy_maelstrom.h: nodes of the Maelstrom protocol in C: messages, handlers, replies, requests and timers over standard input and output.
 *
 *     clang-19 --target=wasm32-wasi -O2 -g -c node.c && clang-19 --target=wasm32-wasi -o node.wasm node.o
 *     fozzy maelstrom test -w echo --bin node.wasm
 *     cc -O2 -g -o node node.c                       the same source, natively, for Maelstrom itself
 *
 *     static void echo(const struct maelstrom_message *message) {
 *       struct maelstrom_text *body = maelstrom_body("echo_ok");
 *       maelstrom_put_json(body, "echo", maelstrom_get(message, "echo"));
 *       maelstrom_reply(message, body);
 *     }
 *     int main(void) {
 *       maelstrom_on("echo", echo);
 *       return maelstrom_run();
 *     }
 *
 * One file and no library but that of C with poll(2), which wasi-libc has too. Handlers are called one after the other, and never while
 * another one is at work, so nothing needs a lock. Values of JSON are stretches of the text of the message they are in: nothing is copied
 * or freed, and they are good until the handler returns; what is kept longer, copy with maelstrom_copy.
 *
 * A line that is no message ends the program with a sentence on standard error. Numbers are 64 bits and texts are UTF-8.
 */
#ifndef FOZZY_MAELSTROM_H
#define FOZZY_MAELSTROM_H

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAELSTROM_API static inline __attribute__((unused))

/* ---- values ---------------------------------------------------------------------------------------------------------- */

/* A value of JSON as it stands in a message; of one that is not there, `text` is NULL. */
struct maelstrom_json {
  const char *text;
  size_t length;
};

/* A text that grows. */
struct maelstrom_text {
  char *text;
  size_t length, room;
};

MAELSTROM_API _Noreturn void maelstrom_fatal(const char *what, const char *text, size_t length) {
  fprintf(stderr, "%s: %.*s\n", what, (int)(length < 300 ? length : 300), text);
  exit(1);
}

MAELSTROM_API void *maelstrom_room(void *old, size_t size) {
  void *room = realloc(old, size);
  if (room == NULL) maelstrom_fatal("no memory", "", 0);
  return room;
}

MAELSTROM_API void maelstrom_add(struct maelstrom_text *text, const char *more, size_t length) {
  if (text->length + length + 1 > text->room) {
    text->room = 2 * (text->length + length + 1);
    text->text = maelstrom_room(text->text, text->room);
  }
  memcpy(text->text + text->length, more, length);
  text->length += length;
  text->text[text->length] = 0;
}

MAELSTROM_API void maelstrom_add_c(struct maelstrom_text *text, const char *more) { maelstrom_add(text, more, strlen(more)); }

/* Adds a text in quotes. */
MAELSTROM_API void maelstrom_add_quoted(struct maelstrom_text *text, const char *plain, size_t length) {
  maelstrom_add(text, "\"", 1);
  for (size_t at = 0; at < length; at++) {
    unsigned char c = (unsigned char)plain[at];
    char escaped[8];
    if (c == '"' || c == '\\') {
      escaped[0] = '\\', escaped[1] = (char)c;
      maelstrom_add(text, escaped, 2);
    } else if (c < 0x20) {
      snprintf(escaped, sizeof escaped, "\\u%04x", c);
      maelstrom_add(text, escaped, 6);
    } else {
      maelstrom_add(text, plain + at, 1);
    }
  }
  maelstrom_add(text, "\"", 1);
}

/* A value in memory of its own, which ends with a zero and is the caller's to free. */
MAELSTROM_API char *maelstrom_copy(struct maelstrom_json value) {
  char *copy = maelstrom_room(NULL, value.length + 1);
  if (value.length > 0) memcpy(copy, value.text, value.length);
  copy[value.length] = 0;
  return copy;
}

MAELSTROM_API const char *maelstrom_skip_blanks(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
  return at;
}

/* The end of the text in quotes that begins at `at`; NULL when it has none. */
MAELSTROM_API const char *maelstrom_end_of_text(const char *at, const char *end) {
  for (at++; at < end; at++) {
    if (*at == '\\') at++;
    else if (*at == '"') return at + 1;
  }
  return NULL;
}

/* The end of the value that begins at `at`; NULL when it is none. Brackets are counted and not kept on a stack, so depth costs nothing. */
MAELSTROM_API const char *maelstrom_end_of_value(const char *at, const char *end) {
  size_t depth = 0;
  if (at >= end) return NULL;
  do {
    at = maelstrom_skip_blanks(at, end);
    if (at >= end) return NULL;
    switch (*at) {
      case '{': case '[': depth++, at++; break;
      case '}': case ']':
        if (depth == 0) return NULL;
        depth--, at++;
        break;
      case ',': case ':':
        if (depth == 0) return NULL;
        at++;
        break;
      case '"':
        at = maelstrom_end_of_text(at, end);
        if (at == NULL) return NULL;
        break;
      default: {
        const char *from = at;
        while (at < end && (*at == '-' || *at == '+' || *at == '.' || (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || *at == 'E')) at++;
        if (at == from) return NULL;
      }
    }
  } while (depth > 0);
  return at;
}

/* Goes through an object or an array: the value behind `*at`, which begins as NULL; its `text` is NULL at the end. Of an object, `key` is
 * what stands before the value, with its quotes; of an array it may be NULL.
 *
 *     const char *at = NULL;
 *     for (struct maelstrom_json item; (item = maelstrom_next(list, &at, NULL)).text;) …
 */
MAELSTROM_API struct maelstrom_json maelstrom_next(struct maelstrom_json in, const char **at, struct maelstrom_json *key) {
  struct maelstrom_json none = {NULL, 0};
  const char *end = in.text + in.length;
  if (in.text == NULL || in.length < 2 || (*in.text != '{' && *in.text != '[')) return none;
  const char *now = maelstrom_skip_blanks(*at == NULL ? in.text + 1 : *at, end);
  if (now < end && *now == ',') now = maelstrom_skip_blanks(now + 1, end);
  if (now >= end || *now == '}' || *now == ']') return none;
  if (*in.text == '{') {
    const char *behind = *now == '"' ? maelstrom_end_of_text(now, end) : NULL;
    if (behind == NULL) return none;
    if (key != NULL) *key = (struct maelstrom_json){now, (size_t)(behind - now)};
    now = maelstrom_skip_blanks(behind, end);
    if (now >= end || *now != ':') return none;
    now = maelstrom_skip_blanks(now + 1, end);
  }
  const char *behind = maelstrom_end_of_value(now, end);
  if (behind == NULL) return none;
  *at = behind;
  return (struct maelstrom_json){now, (size_t)(behind - now)};
}

/* The value under a key of an object. Keys are compared as they are written, so a key with escapes is another one. */
MAELSTROM_API struct maelstrom_json maelstrom_field(struct maelstrom_json object, const char *name) {
  struct maelstrom_json key = {NULL, 0}, value;
  const char *at = NULL;
  if (object.text == NULL || *object.text != '{') return (struct maelstrom_json){NULL, 0};
  while ((value = maelstrom_next(object, &at, &key)).text != NULL) {
    if (key.length == strlen(name) + 2 && memcmp(key.text + 1, name, key.length - 2) == 0) return value;
  }
  return value;
}

/* An integer; `otherwise` where there is none. */
MAELSTROM_API int64_t maelstrom_int(struct maelstrom_json value, int64_t otherwise) {
  char digits[24];
  if (value.text == NULL || value.length == 0 || value.length >= sizeof digits) return otherwise;
  memcpy(digits, value.text, value.length);
  digits[value.length] = 0;
  char *end;
  long long number = strtoll(digits, &end, 10);
  return *end == 0 ? (int64_t)number : otherwise;
}

/* Whether a value is that text: of one without escapes. */
MAELSTROM_API bool maelstrom_is(struct maelstrom_json value, const char *text) {
  return value.text != NULL && value.length == strlen(text) + 2 && *value.text == '"' && memcmp(value.text + 1, text, value.length - 2) == 0;
}

/* Whether two values are written alike. */
MAELSTROM_API bool maelstrom_same(struct maelstrom_json one, struct maelstrom_json other) {
  return one.length == other.length && (one.length == 0 || memcmp(one.text, other.text, one.length) == 0);
}

/* ---- the node -------------------------------------------------------------------------------------------------------- */

/* A message: who sent it, and its body. */
struct maelstrom_message {
  struct maelstrom_json src, body;
};

typedef void (*maelstrom_handler)(const struct maelstrom_message *message);
/* An answer to a request; NULL when none came in time. `context` is what the request was given. */
typedef void (*maelstrom_answer)(const struct maelstrom_message *answer, void *context);
typedef void (*maelstrom_timer)(void *context);

#define MAELSTROM_HANDLERS_MAX 64
#define MAELSTROM_NEVER INT64_MAX

/* What waits: for an answer, or for a moment. */
struct maelstrom_wait {
  int64_t msg_id, due, period;
  maelstrom_answer answer;
  maelstrom_timer timer;
  void *context;
};

static struct {
  char *id;
  char **others;
  size_t other_count;
  struct { const char *type; maelstrom_handler run; } handlers[MAELSTROM_HANDLERS_MAX];
  size_t handler_count;
  void (*started)(void);
  struct maelstrom_wait *waits;
  size_t wait_count, wait_room;
  int64_t next_id;
  struct maelstrom_text body, line;
} maelstrom;

/* The node's name without quotes, once `init` has come; "" before. */
MAELSTROM_API const char *maelstrom_id(void) { return maelstrom.id == NULL ? "" : maelstrom.id; }

/* How many other nodes there are, and their names. */
MAELSTROM_API size_t maelstrom_others(void) { return maelstrom.other_count; }
MAELSTROM_API const char *maelstrom_other(size_t number) { return maelstrom.others[number]; }

/* What is done with messages of a type. Those of a type that nothing is done with are answered by error 10. */
MAELSTROM_API void maelstrom_on(const char *type, maelstrom_handler run) {
  if (maelstrom.handler_count == MAELSTROM_HANDLERS_MAX) maelstrom_fatal("too many handlers", type, strlen(type));
  maelstrom.handlers[maelstrom.handler_count].type = type;
  maelstrom.handlers[maelstrom.handler_count++].run = run;
}

/* What is done when the node knows its name, before `init` is answered. */
MAELSTROM_API void maelstrom_on_init(void (*started)(void)) { maelstrom.started = started; }

/* A value under a key of a message's body. */
MAELSTROM_API struct maelstrom_json maelstrom_get(const struct maelstrom_message *message, const char *key) {
  return maelstrom_field(message->body, key);
}

/* Begins a body of a type. It is the only one until it is sent. */
MAELSTROM_API struct maelstrom_text *maelstrom_body(const char *type) {
  maelstrom.body.length = 0;
  maelstrom_add_c(&maelstrom.body, "{\"type\":");
  maelstrom_add_quoted(&maelstrom.body, type, strlen(type));
  return &maelstrom.body;
}

/* Puts something under a key: any JSON, an integer, a text; or only the key, when the value is added by maelstrom_add. */
MAELSTROM_API void maelstrom_put_key(struct maelstrom_text *body, const char *key) {
  maelstrom_add(body, ",", 1);
  maelstrom_add_quoted(body, key, strlen(key));
  maelstrom_add(body, ":", 1);
}
MAELSTROM_API void maelstrom_put_json(struct maelstrom_text *body, const char *key, struct maelstrom_json value) {
  maelstrom_put_key(body, key);
  if (value.text == NULL) maelstrom_add_c(body, "null");
  else maelstrom_add(body, value.text, value.length);
}
MAELSTROM_API void maelstrom_put_int(struct maelstrom_text *body, const char *key, int64_t value) {
  char digits[24];
  snprintf(digits, sizeof digits, "%lld", (long long)value);
  maelstrom_put_key(body, key);
  maelstrom_add_c(body, digits);
}
MAELSTROM_API void maelstrom_put_text(struct maelstrom_text *body, const char *key, const char *value) {
  maelstrom_put_key(body, key);
  maelstrom_add_quoted(body, value, strlen(value));
}

MAELSTROM_API void maelstrom_write(const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = write(STDOUT_FILENO, bytes, length);
    if (written < 0 && errno != EINTR && errno != EAGAIN) maelstrom_fatal("cannot write", strerror(errno), strlen(strerror(errno)));
    if (written > 0) bytes += written, length -= (size_t)written;
  }
}

/* Sends a body to `dest`, a text with its quotes. */
MAELSTROM_API void maelstrom_send_quoted(struct maelstrom_json dest, struct maelstrom_text *body) {
  maelstrom_add(body, "}", 1);
  maelstrom.line.length = 0;
  maelstrom_add_c(&maelstrom.line, "{\"src\":");
  maelstrom_add_quoted(&maelstrom.line, maelstrom_id(), strlen(maelstrom_id()));
  maelstrom_add_c(&maelstrom.line, ",\"dest\":");
  maelstrom_add(&maelstrom.line, dest.text, dest.length);
  maelstrom_add_c(&maelstrom.line, ",\"body\":");
  maelstrom_add(&maelstrom.line, body->text, body->length);
  maelstrom_add_c(&maelstrom.line, "}\n");
  maelstrom_write(maelstrom.line.text, maelstrom.line.length);
}

/* Sends a body that expects no answer. */
MAELSTROM_API void maelstrom_send(const char *dest, struct maelstrom_text *body) {
  struct maelstrom_text name = {NULL, 0, 0};
  maelstrom_add_quoted(&name, dest, strlen(dest));
  maelstrom_send_quoted((struct maelstrom_json){name.text, name.length}, body);
  free(name.text);
}

/* Answers a message. */
MAELSTROM_API void maelstrom_reply(const struct maelstrom_message *message, struct maelstrom_text *body) {
  struct maelstrom_json id = maelstrom_get(message, "msg_id");
  if (id.text != NULL) maelstrom_put_json(body, "in_reply_to", id);
  maelstrom_send_quoted(message->src, body);
}

/* Answers a message with an error of the protocol. */
MAELSTROM_API void maelstrom_error(const struct maelstrom_message *message, int code, const char *text) {
  struct maelstrom_text *body = maelstrom_body("error");
  maelstrom_put_int(body, "code", code);
  maelstrom_put_text(body, "text", text);
  maelstrom_reply(message, body);
}

/* Milliseconds of a clock that only goes forward. */
MAELSTROM_API int64_t maelstrom_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

MAELSTROM_API void maelstrom_wait(struct maelstrom_wait wait) {
  if (maelstrom.wait_count == maelstrom.wait_room) {
    maelstrom.wait_room = 2 * maelstrom.wait_room + 8;
    maelstrom.waits = maelstrom_room(maelstrom.waits, maelstrom.wait_room * sizeof wait);
  }
  maelstrom.waits[maelstrom.wait_count++] = wait;
}

/* Sends a request; `answer` is called once, with what answers it or, after so many milliseconds, with NULL. */
MAELSTROM_API void maelstrom_request(
    const char *dest, struct maelstrom_text *body, int64_t timeout_ms, maelstrom_answer answer, void *context) {
  int64_t id = ++maelstrom.next_id;
  maelstrom_wait((struct maelstrom_wait){.msg_id = id, .due = maelstrom_now() + timeout_ms, .answer = answer, .context = context});
  maelstrom_put_int(body, "msg_id", id);
  maelstrom_send(dest, body);
}

/* Calls `timer` after so many milliseconds: once, or again and again. */
MAELSTROM_API void maelstrom_after(int64_t ms, maelstrom_timer timer, void *context) {
  maelstrom_wait((struct maelstrom_wait){.due = maelstrom_now() + ms, .timer = timer, .context = context});
}
MAELSTROM_API void maelstrom_every(int64_t ms, maelstrom_timer timer, void *context) {
  maelstrom_wait((struct maelstrom_wait){.due = maelstrom_now() + ms, .period = ms, .timer = timer, .context = context});
}

MAELSTROM_API void maelstrom_begin(const struct maelstrom_message *message) {
  struct maelstrom_json id = maelstrom_get(message, "node_id"), name;
  if (id.length < 2) maelstrom_fatal("init without a node_id", message->body.text, message->body.length);
  maelstrom.id = maelstrom_copy((struct maelstrom_json){id.text + 1, id.length - 2});
  const char *at = NULL;
  while ((name = maelstrom_next(maelstrom_get(message, "node_ids"), &at, NULL)).text != NULL) {
    if (maelstrom_same(name, id) || name.length < 2) continue;
    maelstrom.others = maelstrom_room(maelstrom.others, (maelstrom.other_count + 1) * sizeof *maelstrom.others);
    maelstrom.others[maelstrom.other_count++] = maelstrom_copy((struct maelstrom_json){name.text + 1, name.length - 2});
  }
  if (maelstrom.started != NULL) maelstrom.started();
  maelstrom_reply(message, maelstrom_body("init_ok"));
}

/* A line has come. */
MAELSTROM_API void maelstrom_hear(const char *text, size_t length) {
  struct maelstrom_json line = {text, length};
  if (maelstrom_skip_blanks(text, text + length) == text + length) return;
  struct maelstrom_message message = {maelstrom_field(line, "src"), maelstrom_field(line, "body")};
  struct maelstrom_json type = maelstrom_field(message.body, "type");
  if (message.src.text == NULL || type.text == NULL) maelstrom_fatal("not a message", text, length);
  int64_t replies_to = maelstrom_int(maelstrom_get(&message, "in_reply_to"), 0);
  if (replies_to > 0) {
    for (size_t at = 0; at < maelstrom.wait_count; at++) {
      struct maelstrom_wait wait = maelstrom.waits[at];
      if (wait.msg_id != replies_to) continue;
      maelstrom.waits[at] = maelstrom.waits[--maelstrom.wait_count];
      wait.answer(&message, wait.context);
      return;
    }
    return;
  }
  if (maelstrom_is(type, "init")) {
    maelstrom_begin(&message);
    return;
  }
  for (size_t at = 0; at < maelstrom.handler_count; at++) {
    if (!maelstrom_is(type, maelstrom.handlers[at].type)) continue;
    maelstrom.handlers[at].run(&message);
    return;
  }
  if (maelstrom_get(&message, "msg_id").text != NULL) maelstrom_error(&message, 10, "no handler for this type");
}

/* Calls what is due; milliseconds until something else is, or -1. */
MAELSTROM_API int maelstrom_call_due(void) {
  for (;;) {
    int64_t now = maelstrom_now(), next = MAELSTROM_NEVER;
    size_t first = 0;
    for (size_t at = 0; at < maelstrom.wait_count; at++) {
      if (maelstrom.waits[at].due < next) next = maelstrom.waits[at].due, first = at;
    }
    if (next == MAELSTROM_NEVER) return -1;
    if (next > now) return next - now > INT32_MAX ? INT32_MAX : (int)(next - now);
    struct maelstrom_wait wait = maelstrom.waits[first];
    if (wait.period > 0) maelstrom.waits[first].due = now + wait.period;
    else maelstrom.waits[first] = maelstrom.waits[--maelstrom.wait_count];
    if (wait.timer != NULL) wait.timer(wait.context);
    else wait.answer(NULL, wait.context);
  }
}

/* Handles messages and timers until there is no input any more: what `main` returns. */
MAELSTROM_API int maelstrom_run(void) {
  struct maelstrom_text read_so_far = {NULL, 0, 0};
  static char block[1 << 16];
  for (;;) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int ready = poll(&input, 1, maelstrom_call_due());
    if (ready < 0 && errno != EINTR) maelstrom_fatal("cannot wait", strerror(errno), strlen(strerror(errno)));
    if (ready <= 0) continue;
    ssize_t count = read(STDIN_FILENO, block, sizeof block);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return count < 0;
    maelstrom_add(&read_so_far, block, (size_t)count);
    size_t from = 0;
    for (char *end; (end = memchr(read_so_far.text + from, '\n', read_so_far.length - from)) != NULL;) {
      size_t behind = (size_t)(end - read_so_far.text) + 1;
      maelstrom_hear(read_so_far.text + from, behind - from - 1);
      from = behind;
    }
    memmove(read_so_far.text, read_so_far.text + from, read_so_far.length - from);
    read_so_far.length -= from;
  }
}

#endif
