// Loses 6 blocks of 320 bytes in sum, unless its argument is `mended`. Reallocations and zeroed blocks are among what it does.
//
//   leak      5 blocks of 40 bytes
//   zeroed    1 block of 10 times 12 bytes

#include <stdlib.h>
#include <string.h>

// What is in use at the end and reachable is no leak.
static void *volatile kept;

__attribute__((noinline)) static void touch(void *block) { *(volatile char *)block = 1; }

__attribute__((noinline)) static void leak(int mended) {
  for (int i = 0; i < 5; i++) {
    char *block = malloc(40);
    touch(block);
    if (mended) free(block);
  }
}

__attribute__((noinline)) static void zeroed(int mended) {
  char *block = calloc(10, 12);
  touch(block);
  if (mended) free(block);
}

__attribute__((noinline)) static void moved(void) {
  char *block = malloc(8);
  touch(block);
  block = realloc(block, 6400);
  touch(block);
  free(block);
}

int main(int argc, char **argv) {
  int mended = argc > 1 && strcmp(argv[1], "mended") == 0;
  kept = malloc(50);
  leak(mended);
  zeroed(mended);
  moved();
  return 0;
}
