/* Memory holds across calls of the host: blocks of malloc keep their patterns whatever WASI does, with faults or without.
 *
 * holds [FOLDER]     "held N blocks, M calls" and 0; "corrupt …" and 3 when a byte is another
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

enum { BLOCKS = 48, ROUNDS = 90, PAGE = 65536, FULL = 48 };

static struct block { uint8_t *bytes; size_t size; uint8_t seed; } blocks[BLOCKS + FULL];
static uint64_t random_state = 1;
static unsigned calls;
static char folder[64] = "/";

static uint32_t draw(uint32_t below) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random_state >> 33) % below;
}

static uint8_t pattern(const struct block *block, size_t at) { return (uint8_t)(block->seed + at * 31 + (at >> 8)); }

static void fill(struct block *block) {
  for (size_t at = 0; at < block->size; at++) block->bytes[at] = pattern(block, at);
}

static void check(const char *after) {
  for (size_t number = 0; number < BLOCKS + FULL; number++) {
    const struct block *block = &blocks[number];
    for (size_t at = 0; at < block->size; at++) {
      if (block->bytes[at] == pattern(block, at)) continue;
      fprintf(stderr, "corrupt: block %zu of %zu bytes at %zu, after %s\n", number, block->size, at, after);
      exit(3);
    }
  }
}

/* Another size, its old part unchanged. */
static void change(struct block *block, size_t size) {
  uint8_t *bytes = realloc(block->bytes, size);
  if (!bytes) return;
  size_t kept = block->size < size ? block->size : size;
  block->bytes = bytes;
  for (size_t at = 0; at < kept; at++) {
    if (bytes[at] != pattern(block, at)) {
      fprintf(stderr, "corrupt: realloc to %zu at %zu\n", size, at);
      exit(3);
    }
  }
  block->size = size, block->seed = (uint8_t)draw(256);
  fill(block);
}

static const char *path(const char *name) {
  static char paths[4][128];
  static unsigned next;
  char *at = paths[next++ % 4];
  snprintf(at, 128, "%s/%s", folder, name);
  return at;
}

/* A buffer of the heap for what the host writes, with a border that it must not touch. */
static struct block border[2];
static uint8_t *room(size_t size) {
  static uint8_t *whole;
  free(whole);
  whole = malloc(size + 128);
  if (!whole) exit(4);
  border[0] = (struct block){whole, 64, 1}, border[1] = (struct block){whole + 64 + size, 64, 2};
  fill(&border[0]), fill(&border[1]);
  return whole + 64;
}

static void check_border(const char *after) {
  for (int side = 0; side < 2; side++) {
    for (size_t at = 0; at < border[side].size; at++) {
      if (border[side].bytes[at] == pattern(&border[side], at)) continue;
      fprintf(stderr, "corrupt: border %d at %zu, after %s\n", side, at, after);
      exit(3);
    }
  }
}

static void list(void) {
  DIR *directory = opendir(folder);
  if (!directory) return;
  for (struct dirent *entry; (entry = readdir(directory));) check("readdir");
  closedir(directory);
}

static void list_in_small_pieces(void) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return;
  for (size_t length = 1; length < 400; length = length * 3 + 1) {
    __wasi_size_t used;
    (void)__wasi_fd_readdir((unsigned)fd, room(length), length, 0, &used);
    check_border("fd_readdir");
  }
  close(fd);
}

static void files(void) {
  size_t size = 1 + draw(20000);
  int fd = open(path("held"), O_RDWR | O_CREAT | O_TRUNC, 0644);
  if (fd < 0) return;
  (void)!write(fd, room(size), size);
  (void)!pwrite(fd, room(size), size, draw(100));
  (void)lseek(fd, draw(50), SEEK_SET);
  (void)!read(fd, room(size), size);
  check_border("read");
  (void)!pread(fd, room(size), size, draw(50));
  check_border("pread");
  (void)fsync(fd), (void)fdatasync(fd), (void)ftruncate(fd, draw(30000));
  struct stat stat;
  (void)fstat(fd, &stat);
  (void)posix_fallocate(fd, 0, 10), (void)posix_fadvise(fd, 0, 10, POSIX_FADV_NORMAL);
  (void)futimens(fd, NULL);
  close(fd);
}

static void paths(void) {
  struct stat found;
  (void)mkdir(path("under"), 0755), (void)stat(path("held"), &found), (void)lstat(path("none"), &found);
  (void)rename(path("held"), path("moved")), (void)symlink("moved", path("link")), (void)link(path("moved"), path("hard"));
  size_t length = 1 + draw(12);
  (void)!readlink(path("link"), (char *)room(length), length);
  check_border("readlink");
  (void)unlink(path("link")), (void)unlink(path("hard")), (void)unlink(path("moved")), (void)rmdir(path("under"));
}

static void clocks(void) {
  struct timespec time, pause = {.tv_nsec = (long)draw(2000000)};
  (void)clock_gettime(CLOCK_REALTIME, &time), (void)clock_gettime(CLOCK_MONOTONIC, &time);
  (void)clock_getres(CLOCK_MONOTONIC, &time), (void)nanosleep(&pause, NULL), (void)sched_yield();
}

/* Many subscriptions at once: an adapter with a stack of its own had no room for them. */
static void poll_many(void) {
  size_t count = 1 + draw(300);
  __wasi_subscription_t *asked = calloc(count, sizeof *asked);
  if (!asked) return;
  for (size_t at = 0; at < count; at++) {
    asked[at].userdata = at;
    asked[at].u.tag = __WASI_EVENTTYPE_CLOCK;
    asked[at].u.u.clock.id = __WASI_CLOCKID_MONOTONIC;
    asked[at].u.u.clock.timeout = 1000 * (1 + draw(3));
  }
  __wasi_size_t ready;
  (void)__wasi_poll_oneoff(asked, (__wasi_event_t *)(void *)room(count * sizeof(__wasi_event_t)), count, &ready);
  check_border("poll_oneoff");
  free(asked);
}

static void entropy(void) {
  size_t size = 1 + draw(256);
  (void)getentropy(room(size), size);
  check_border("random_get");
}

static void words(void) {
  __wasi_size_t count, size;
  if (__wasi_args_sizes_get(&count, &size)) return;
  uint8_t **list = malloc(count * sizeof *list + 1);
  if (list) (void)__wasi_args_get(list, room(size));
  check_border("args_get");
  free(list);
  if (__wasi_environ_sizes_get(&count, &size)) return;
  list = malloc(count * sizeof *list + 1);
  if (list) (void)__wasi_environ_get(list, room(size));
  check_border("environ_get");
  free(list);
}

static void descriptors(void) {
  __wasi_fdstat_t stat;
  __wasi_prestat_t preopened;
  for (unsigned fd = 0; fd < 5; fd++) {
    (void)__wasi_fd_fdstat_get(fd, &stat);
    if (!__wasi_fd_prestat_get(fd, &preopened)) {
      size_t length = preopened.u.dir.pr_name_len;
      (void)__wasi_fd_prestat_dir_name(fd, room(length), length);
      check_border("fd_prestat_dir_name");
    }
  }
  printf("%u", calls % 10), fflush(stdout);
}

static const struct { const char *name; void (*call)(void); } KINDS[] = {
    {"readdir", list}, {"fd_readdir", list_in_small_pieces}, {"files", files}, {"paths", paths}, {"clocks", clocks},
    {"poll", poll_many}, {"random", entropy}, {"args", words}, {"descriptors", descriptors}};

static void call(unsigned kind) {
  kind %= sizeof KINDS / sizeof *KINDS;
  KINDS[kind].call();
  calls++;
  check(KINDS[kind].name);
}

int main(int count, char **arguments) {
  if (count > 1) snprintf(folder, sizeof folder, "%s", arguments[1]);
  (void)getentropy(&random_state, sizeof random_state);
  for (unsigned round = 0; round < ROUNDS; round++) {
    struct block *block = &blocks[draw(BLOCKS)];
    if (block->bytes && draw(4) == 0) {
      free(block->bytes);
      *block = (struct block){0};
    } else {
      change(block, 1 + draw(16 << draw(10)) + block->size / 2);
    }
    call(round);
  }
  /* All that there is: up to the end of the memory, and beyond it. */
  size_t full = 0, size = __builtin_wasm_memory_size(0);
  while (full < FULL && __builtin_wasm_memory_size(0) < size + 32) {
    change(&blocks[BLOCKS + full], draw(2) ? PAGE - 16 : 200 * 1024);
    if (++full % 4 == 0) call(full / 4);
  }
  for (unsigned kind = 0; kind < sizeof KINDS / sizeof *KINDS; kind++) call(kind);
  printf("\nheld %zu pages, %u calls\n", __builtin_wasm_memory_size(0), calls);
  return 0;
}
