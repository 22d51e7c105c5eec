// Journal: writes entries, each into a file of its own, and the number of the last one into another. An ordinary program: nothing here knows that it
// is searched.
//
//     journal DIR [mended]
//
// Started again, it goes on after the last entry; an entry that is missing or cut is an error. The planted fault: every fourth entry is not synced
// before its number is.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES = 12, BYTES = 600 };

static void fail(const char *what, int number) {
    fprintf(stderr, "%s: entry %d\n", what, number);
    exit(1);
}

static void put(const char *path, const char *bytes, size_t length, int sync) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, bytes, length) != (ssize_t)length) fail("cannot write", 0);
    if (sync && fsync(file) != 0) fail("cannot sync", 0);
    close(file);
}

int main(int argc, char **argv) {
    const char *folder = argv[1];
    int mended = argc > 2 && strcmp(argv[2], "mended") == 0;
    char path[256], bytes[BYTES], head[256], temporary[256];
    snprintf(head, sizeof head, "%s/head", folder);
    snprintf(temporary, sizeof temporary, "%s/head.new", folder);

    int last = 0;
    FILE *file = fopen(head, "r");
    if (file) {
        if (fscanf(file, "%d", &last) != 1) fail("a head without a number", 0);
        fclose(file);
    }
    for (int number = 1; number <= last; number++) {
        snprintf(path, sizeof path, "%s/%d", folder, number);
        int entry = open(path, O_RDONLY);
        if (entry < 0) fail("lost", number);
        ssize_t length = read(entry, bytes, BYTES);
        close(entry);
        if (length != BYTES) fail("cut", number);
        for (int at = 0; at < BYTES; at++)
            if (bytes[at] != 'a' + number) fail("torn", number);
    }
    for (int number = last + 1; number <= ENTRIES; number++) {
        memset(bytes, 'a' + number, BYTES);
        snprintf(path, sizeof path, "%s/%d", folder, number);
        put(path, bytes, BYTES, mended || number % 4 != 0);
        int length = snprintf(path, sizeof path, "%d\n", number);
        put(temporary, path, (size_t)length, 1);
        if (rename(temporary, head) != 0) fail("cannot rename", number);
        int directory = open(folder, O_RDONLY);
        if (directory >= 0) {
            fsync(directory);
            close(directory);
        }
    }
    printf("%d entries\n", ENTRIES);
    return 0;
}
