// A reader of queries, and its fuzz target as libFuzzer wants it.
//
//   SELECT a,COUNT(b) FROM (SELECT b FROM t WHERE b<3 OR NOT a=1) GROUP BY a HAVING COUNT(b)>1 ORDER BY a DESC LIMIT 5;
//
// The planted fault: of a query within another one, what is grouped by is looked up by HAVING without asking whether it is grouped at all.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COLUMNS 4
#define DEEPEST 8

static const char *at, *end;
static int failed, depth;

struct query {
    uint32_t selected, counted, ordered;
    const uint32_t *grouped;
    long limit;
};

static void blanks(void) {
    while (at < end && *at == ' ') at++;
}

static int word(const char *name) {
    size_t length = strlen(name);
    blanks();
    if ((size_t)(end - at) < length || memcmp(at, name, length) != 0) return 0;
    at += length;
    return 1;
}

static void expect(const char *name) {
    if (!word(name)) failed = 1;
}

static uint32_t column(void) {
    blanks();
    if (failed || at == end || *at < 'a' || *at >= 'a' + COLUMNS) {
        failed = 1;
        return 0;
    }
    return 1u << (*at++ - 'a');
}

static long number(void) {
    blanks();
    if (failed || at == end || *at < '0' || *at > '9') {
        failed = 1;
        return 0;
    }
    long value = 0;
    while (at < end && *at >= '0' && *at <= '9' && value < 1000000) value = value * 10 + (*at++ - '0');
    return value;
}

static uint32_t count(void) {
    expect("(");
    uint32_t of = column();
    expect(")");
    return of;
}

static int compares(void) {
    return word("<") || word(">") || word("=");
}

static uint32_t condition(void) {
    uint32_t used = 0;
    if (++depth > DEEPEST) failed = 1;
    do {
        if (failed) break;
        if (word("NOT")) used |= condition();
        else if (word("(")) {
            used |= condition();
            expect(")");
        } else {
            used |= column();
            if (!compares()) failed = 1;
            number();
        }
    } while (word("AND") || word("OR"));
    depth--;
    return used;
}

static volatile uint32_t sink;

static struct query query(int is_inner) {
    struct query of = {0, 0, 0, NULL, -1};
    uint32_t available = (1u << COLUMNS) - 1, group;
    if (++depth > DEEPEST) failed = 1;
    expect("SELECT");
    do {
        if (failed) break;
        if (word("COUNT")) of.counted |= count();
        else of.selected |= column();
    } while (word(","));
    expect("FROM");
    if (!failed && word("(")) {
        struct query inner = query(1);
        available = inner.selected | inner.counted;
        expect(")");
    } else {
        expect("t");
    }
    if (!failed && word("WHERE") && (condition() & ~available) != 0) failed = 1;
    if (!failed && word("GROUP BY")) {
        group = column();
        of.grouped = &group;
        if ((group & ~available) != 0) failed = 1;
    }
    if (!failed && word("HAVING")) {
        expect("COUNT");
        uint32_t counted = count();
        if (!compares()) failed = 1;
        number();
        if (!is_inner && of.grouped == NULL) failed = 1;
        if (!failed) {
            if (of.grouped == NULL) __builtin_trap();
            sink = *of.grouped & counted;
        }
    }
    if (!failed && word("ORDER BY")) {
        of.ordered = column();
        if (!word("ASC")) word("DESC");
    }
    if (!failed && word("LIMIT")) of.limit = number();
    if (((of.selected | of.counted) & ~available) != 0) failed = 1;
    of.grouped = NULL;
    depth--;
    return of;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    at = (const char *)data, end = at + size;
    failed = depth = 0;
    while (!failed && at < end) {
        sink = query(0).selected;
        expect(";");
        blanks();
    }
    return 0;
}
