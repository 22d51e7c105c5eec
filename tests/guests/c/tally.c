/* Word tally: a C guest that reads files, hashes with a random seed, sorts, and writes a report.
 *
 *     tally [-o REPORT] DIR
 *
 * Counts the words of every regular file in DIR. The hash table is seeded by getentropy, so that its slot order differs from run to
 * run wherever entropy is not under control; the report is sorted by qsort, so that its table does not. Its first lines carry what
 * the clock and the seed said.
 *
 * Not here: Unicode. A word is a run of ASCII letters.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A power of two. Reaching it ends the program with an error, never with a wrong count. */
#define SLOTS_MAX 8192
/* Longer words are cut here. */
#define WORD_BYTES_MAX 32

struct slot {
  char word[WORD_BYTES_MAX];
  unsigned count;
};

static struct slot table[SLOTS_MAX];
static unsigned used;
static uint64_t seed;

static void fail(const char *what) {
  fprintf(stderr, "tally: %s: %s\n", what, strerror(errno));
  exit(1);
}

/* FNV-1a, started from the seed. */
static uint64_t hash(const char *word) {
  uint64_t state = seed ^ 0xcbf29ce484222325u;
  for (; *word; word++) state = (state ^ (unsigned char)*word) * 0x100000001b3u;
  return state ^ (state >> 29);
}

static void count_word(const char *word) {
  uint64_t at = hash(word) % SLOTS_MAX;
  while (table[at].count != 0 && strcmp(table[at].word, word) != 0) at = (at + 1) % SLOTS_MAX;
  if (table[at].count++ == 0) {
    strcpy(table[at].word, word);
    if (++used == SLOTS_MAX) {
      errno = ENOSPC;
      fail("too many different words");
    }
  }
}

static void count_file(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) fail(path);
  char word[WORD_BYTES_MAX];
  size_t length = 0;
  int c;
  do {
    c = fgetc(file);
    if (c != EOF && isalpha(c)) {
      if (length + 1 < sizeof word) word[length++] = (char)tolower(c);
    } else if (length > 0) {
      word[length] = 0;
      count_word(word);
      length = 0;
    }
  } while (c != EOF);
  if (fclose(file) != 0) fail(path);
}

static unsigned count_directory(const char *path) {
  DIR *directory = opendir(path);
  if (!directory) fail(path);
  unsigned files = 0;
  for (struct dirent *entry; (entry = readdir(directory));) {
    if (entry->d_type != DT_REG) continue;
    char name[512];
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    count_file(name);
    files++;
  }
  closedir(directory);
  return files;
}

/* Most frequent first; ties in alphabetical order; empty slots last. */
static int by_count(const void *a, const void *b) {
  const struct slot *left = a, *right = b;
  if (left->count != right->count) return left->count < right->count ? 1 : -1;
  return strcmp(left->word, right->word);
}

int main(int argc, char **argv) {
  const char *report = NULL;
  for (int option; (option = getopt(argc, argv, "o:")) != -1;) {
    if (option != 'o') return 2;
    report = optarg;
  }
  if (optind + 1 != argc) {
    fprintf(stderr, "usage: tally [-o REPORT] DIR\n");
    return 2;
  }
  if (getentropy(&seed, sizeof seed) != 0) fail("getentropy");
  FILE *out = report ? fopen(report, "w") : stdout;
  if (!out) fail(report);

  time_t now = time(NULL);
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  unsigned files = count_directory(argv[optind]);
  unsigned first = 0;
  while (table[first].count == 0 && first + 1 < SLOTS_MAX) first++;
  clock_gettime(CLOCK_MONOTONIC, &end);

  char stamp[32];
  strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  fprintf(out, "at %s, seed %016llx\n", stamp, (unsigned long long)seed);
  fprintf(out, "%u files, %u words, first in slot %u: %s\n", files, used, first, table[first].word);
  fprintf(out, "counted in %lld ns\n",
          (long long)(end.tv_sec - start.tv_sec) * 1000000000 + (end.tv_nsec - start.tv_nsec));
  qsort(table, SLOTS_MAX, sizeof table[0], by_count);
  for (unsigned i = 0; i < 12 && i < used; i++) fprintf(out, "%6u %s\n", table[i].count, table[i].word);
  if (report && fclose(out) != 0) fail(report);
  if (report) printf("wrote %s\n", report);
  return 0;
}
