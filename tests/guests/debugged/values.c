// Values of every kind, for what a debugger shows of them; tests/debug_info.rs stops at the line that prints.
#include <stdio.h>
#include <stdlib.h>
struct point { int x, y; const char *name; };
union both { int whole; float part; };
enum colour { RED, GREEN = 5, BLUE };
struct flags { unsigned a : 3; int b : 5; unsigned long long c : 33; };
typedef unsigned int word;
static long long total = 42;
struct node { int value; struct node *next; };
__attribute__((noinline)) int work(struct point *p, int n, char *text) {
    struct flags f = { 5, -3, 1ull << 32 };
    union both u = { .part = 1.5f };
    enum colour c = BLUE;
    word words[4] = { 1, 2, 3, 4 };
    int grid[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
    struct node last = { 2, 0 }, first = { 1, &last };
    double half = 0.5;
    int sum = 0;
    for (int i = 0; i < n; i++) {
        int square = i * i;
        sum += square;
    }
    total += sum;
    printf("%d %s %d %u %d %d %d %f %d\n", sum, text, p->x, words[2], grid[1][2], first.value, (int)c, half, u.whole + f.b);
    return sum;
}
int main(void) {
    struct point p = { 3, -4, "origin" };
    return work(&p, 4, "hello") == 14 ? 0 : 1;
}
