// Ten errors of memory, one a run: the first argument names it. With `mended` as the second, the same without the error.
//
//   overflow underflow use-after-free double-free invalid-free overlap stack null host reused

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Accesses are volatile, so that none is left out.
static volatile void *volatile sink;

__attribute__((noinline)) static void touch(volatile void *block) { sink = block; }

__attribute__((noinline)) static void overflow(int mended) {
  volatile char *block = malloc(10);
  touch(block);
  for (int i = 0; i < (mended ? 10 : 11); i++) block[i] = 'a';
  free((void *)block);
}

__attribute__((noinline)) static void underflow(int mended) {
  volatile int *block = calloc(4, sizeof(int));
  touch(block);
  for (int i = 3; i >= (mended ? 0 : -1); i--) block[i] += 1;
  free((void *)block);
}

__attribute__((noinline)) static void use_after_free(int mended) {
  volatile int *block = malloc(32);
  touch(block);
  block[2] = 7;
  if (!mended) free((void *)block);
  if (block[2] != 7) printf("another\n");
  if (mended) free((void *)block);
}

__attribute__((noinline)) static void double_free(int mended) {
  void *volatile block = realloc(malloc(20), 400);
  touch(block);
  free(block);
  if (!mended) free(block);
}

__attribute__((noinline)) static void invalid_free(int mended) {
  char *volatile block = malloc(64);
  touch(block);
  free(mended ? block : block + 16);
}

__attribute__((noinline)) static void overlap(int mended) {
  char *block = malloc(64);
  touch(block);
  memset(block, 'x', 64);
  char *volatile target = block + 4;
  memcpy(target, block, mended ? 4 : 24);
  free(block);
}

__attribute__((noinline)) static void fill(volatile char *room, int bytes) {
  for (int i = 0; i < bytes; i++) room[i] = (char)i;
}

__attribute__((noinline)) static void stack(int mended) {
  volatile char room[8];
  fill(room, mended ? 8 : 40);
  touch(room);
}

struct pair {
  int first, second;
};

__attribute__((noinline)) static void null(int mended) {
  volatile struct pair *volatile pair = mended ? malloc(sizeof(struct pair)) : 0;
  pair->second = 3;
  free((void *)pair);
}

// Standard input has more bytes than there is room for.
__attribute__((noinline)) static void host(int mended) {
  char *block = malloc(8);
  touch(block);
  read(0, block, mended ? 8 : 64);
  free(block);
}

// A thousand blocks of the same size later, the first one is still not to be used.
__attribute__((noinline)) static void reused(int mended) {
  volatile char *first = malloc(48);
  touch(first);
  if (!mended) free((void *)first);
  for (int i = 0; i < 1000; i++) {
    char *other = malloc(48);
    touch(other);
    free(other);
  }
  first[0] = 'y';
  if (mended) free((void *)first);
}

int main(int argc, char **argv) {
  int mended = argc > 2 && strcmp(argv[2], "mended") == 0;
  const char *what = argc > 1 ? argv[1] : "";
  struct {
    const char *name;
    void (*run)(int);
  } cases[] = {
      {"overflow", overflow},         {"underflow", underflow}, {"use-after-free", use_after_free},
      {"double-free", double_free},   {"invalid-free", invalid_free}, {"overlap", overlap},
      {"stack", stack},               {"null", null},           {"host", host},
      {"reused", reused},
  };
  for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    if (strcmp(cases[i].name, what) == 0) {
      cases[i].run(mended);
      printf("%s of %s\n", "the end", what);
      return 0;
    }
  }
  return 9;
}
