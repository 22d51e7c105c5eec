/* A node of the Maelstrom protocol in C: echo, identifiers, a set that grows, and registers.
 *
 *     generate   node, start of the program, number          planted: without the start, so that they come again after a kill
 *     add        what is new goes to all others               planted: once; mended: everything, every 200 ms
 *     write      n0 has the registers, others pass on to it   planted: others answer reads from copies that may be old
 *
 * With -DFIXED the faults are mended.
 */
#include "../../guest-sdk/c/fozzy_maelstrom.h"

#ifdef FIXED
static const bool is_fixed = true;
#else
static const bool is_fixed = false;
#endif

/* How often a node repeats what it knows. */
#define GOSSIP_MS 200
/* How long a node waits for the leader. */
#define PATIENCE_MS 1000

static void echo(const struct maelstrom_message *message) {
  struct maelstrom_text *body = maelstrom_body("echo_ok");
  maelstrom_put_json(body, "echo", maelstrom_get(message, "echo"));
  maelstrom_reply(message, body);
}

/* ---- identifiers ---- */

static uint64_t incarnation;

static void generate(const struct maelstrom_message *message) {
  static int64_t generated;
  char id[96];
  if (is_fixed) snprintf(id, sizeof id, "%s-%llx-%lld", maelstrom_id(), (unsigned long long)incarnation, (long long)++generated);
  else snprintf(id, sizeof id, "%s-%lld", maelstrom_id(), (long long)++generated);
  struct maelstrom_text *body = maelstrom_body("generate_ok");
  maelstrom_put_text(body, "id", id);
  maelstrom_reply(message, body);
}

/* ---- a set ---- */

static char **elements;
static size_t element_count;

static bool learn(struct maelstrom_json element) {
  for (size_t at = 0; at < element_count; at++) {
    if (strlen(elements[at]) == element.length && memcmp(elements[at], element.text, element.length) == 0) return false;
  }
  elements = maelstrom_room(elements, (element_count + 1) * sizeof *elements);
  elements[element_count++] = maelstrom_copy(element);
  return true;
}

static void put_elements(struct maelstrom_text *body, const char *key, size_t from) {
  maelstrom_put_key(body, key);
  maelstrom_add_c(body, "[");
  for (size_t at = from; at < element_count; at++) {
    if (at > from) maelstrom_add_c(body, ",");
    maelstrom_add_c(body, elements[at]);
  }
  maelstrom_add_c(body, "]");
}

/* Tells all others the elements behind `from`. */
static void tell(size_t from) {
  for (size_t other = 0; other < maelstrom_others(); other++) {
    struct maelstrom_text *body = maelstrom_body("gossip");
    put_elements(body, "elements", from);
    maelstrom_send(maelstrom_other(other), body);
  }
}

static void tell_all(void *context) {
  (void)context;
  if (element_count > 0) tell(0);
}

static void add(const struct maelstrom_message *message) {
  if (learn(maelstrom_get(message, "element"))) tell(element_count - 1);
  maelstrom_reply(message, maelstrom_body("add_ok"));
}

static void gossip(const struct maelstrom_message *message) {
  struct maelstrom_json element;
  const char *at = NULL;
  while ((element = maelstrom_next(maelstrom_get(message, "elements"), &at, NULL)).text != NULL) learn(element);
}

/* ---- registers ---- */

struct reg {
  char *key, *value;
};

static struct reg *registers;
static size_t register_count;

static struct reg *find(struct maelstrom_json key) {
  for (size_t at = 0; at < register_count; at++) {
    if (strlen(registers[at].key) == key.length && memcmp(registers[at].key, key.text, key.length) == 0) return &registers[at];
  }
  return NULL;
}

static void store(struct maelstrom_json key, struct maelstrom_json value) {
  struct reg *found = find(key);
  if (found == NULL) {
    registers = maelstrom_room(registers, (register_count + 1) * sizeof *registers);
    found = &registers[register_count++];
    *found = (struct reg){maelstrom_copy(key), NULL};
  }
  free(found->value);
  found->value = maelstrom_copy(value);
}

/* The node with the smallest name has the registers. */
static const char *leader(void) {
  const char *first = maelstrom_id();
  for (size_t other = 0; other < maelstrom_others(); other++) {
    if (strcmp(maelstrom_other(other), first) < 0) first = maelstrom_other(other);
  }
  return first;
}

static bool is_leader(void) { return strcmp(leader(), maelstrom_id()) == 0; }

static void answer_read(const struct maelstrom_message *message) {
  struct reg *found = find(maelstrom_get(message, "key"));
  if (found == NULL) {
    maelstrom_error(message, 20, "there is no such key");
    return;
  }
  struct maelstrom_text *body = maelstrom_body("read_ok");
  maelstrom_put_json(body, "value", (struct maelstrom_json){found->value, strlen(found->value)});
  maelstrom_reply(message, body);
}

/* Stores a value, and has the others store it. */
static void change(struct maelstrom_json key, struct maelstrom_json value) {
  store(key, value);
  for (size_t other = 0; other < maelstrom_others() && !is_fixed; other++) {
    struct maelstrom_text *body = maelstrom_body("copy");
    maelstrom_put_json(body, "key", key);
    maelstrom_put_json(body, "value", value);
    maelstrom_send(maelstrom_other(other), body);
  }
}

/* A request that was passed on, until the leader answers. */
struct passed {
  char *src, *msg_id;
};

static void passed_back(const struct maelstrom_message *answer, void *context) {
  struct passed *passed = context;
  struct maelstrom_text *body = maelstrom_body("error");
  if (answer == NULL) {
    maelstrom_put_int(body, "code", 0);
    maelstrom_put_text(body, "text", "the leader does not answer");
  } else {
    /* The same body, but for the numbers of the messages. */
    struct maelstrom_json key, value;
    const char *at = NULL;
    body->length = 0;
    maelstrom_add_c(body, "{\"node\":0");
    body->length = 1;
    while ((value = maelstrom_next(answer->body, &at, &key)).text != NULL) {
      if (maelstrom_is(key, "in_reply_to") || maelstrom_is(key, "msg_id")) continue;
      if (body->length > 1) maelstrom_add_c(body, ",");
      maelstrom_add(body, key.text, key.length);
      maelstrom_add_c(body, ":");
      maelstrom_add(body, value.text, value.length);
    }
  }
  maelstrom_put_json(body, "in_reply_to", (struct maelstrom_json){passed->msg_id, strlen(passed->msg_id)});
  maelstrom_send_quoted((struct maelstrom_json){passed->src, strlen(passed->src)}, body);
  free(passed->src), free(passed->msg_id), free(passed);
}

static void pass_on(const struct maelstrom_message *message, const char *type) {
  static const char *const keys[] = {"key", "value", "from", "to"};
  struct passed *passed = maelstrom_room(NULL, sizeof *passed);
  *passed = (struct passed){maelstrom_copy(message->src), maelstrom_copy(maelstrom_get(message, "msg_id"))};
  struct maelstrom_text *body = maelstrom_body(type);
  for (size_t at = 0; at < sizeof keys / sizeof *keys; at++) {
    struct maelstrom_json value = maelstrom_get(message, keys[at]);
    if (value.text != NULL) maelstrom_put_json(body, keys[at], value);
  }
  maelstrom_request(leader(), body, PATIENCE_MS, passed_back, passed);
}

static void read_(const struct maelstrom_message *message) {
  if (maelstrom_get(message, "key").text == NULL) {
    struct maelstrom_text *body = maelstrom_body("read_ok");
    put_elements(body, "value", 0);
    maelstrom_reply(message, body);
  } else if (is_leader() || !is_fixed) {
    answer_read(message);
  } else {
    pass_on(message, "read");
  }
}

static void write_(const struct maelstrom_message *message) {
  if (!is_leader()) {
    pass_on(message, "write");
    return;
  }
  change(maelstrom_get(message, "key"), maelstrom_get(message, "value"));
  maelstrom_reply(message, maelstrom_body("write_ok"));
}

static void cas(const struct maelstrom_message *message) {
  if (!is_leader()) {
    pass_on(message, "cas");
    return;
  }
  struct maelstrom_json key = maelstrom_get(message, "key"), from = maelstrom_get(message, "from");
  struct reg *found = find(key);
  if (found == NULL) {
    maelstrom_error(message, 20, "there is no such key");
  } else if (!maelstrom_same((struct maelstrom_json){found->value, strlen(found->value)}, from)) {
    maelstrom_error(message, 22, "it has another value");
  } else {
    change(key, maelstrom_get(message, "to"));
    maelstrom_reply(message, maelstrom_body("cas_ok"));
  }
}

static void copy(const struct maelstrom_message *message) {
  store(maelstrom_get(message, "key"), maelstrom_get(message, "value"));
}

static void started(void) {
  if (getentropy(&incarnation, sizeof incarnation) != 0) maelstrom_fatal("no random number", strerror(errno), strlen(strerror(errno)));
  if (is_fixed) maelstrom_every(GOSSIP_MS, tell_all, NULL);
}

int main(void) {
  maelstrom_on_init(started);
  maelstrom_on("echo", echo);
  maelstrom_on("generate", generate);
  maelstrom_on("add", add);
  maelstrom_on("gossip", gossip);
  maelstrom_on("read", read_);
  maelstrom_on("write", write_);
  maelstrom_on("cas", cas);
  maelstrom_on("copy", copy);
  return maelstrom_run();
}
