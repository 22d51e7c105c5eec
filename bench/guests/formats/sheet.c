// A sheet of cells with formulas, and its fuzz target as libFuzzer wants it.
//
//   A1=12           one cell a line, A1 to D8
//   B2=SUM(A1:A4)*2-MIN(A1,INDEX(A1:B2,3))
//
// The planted fault: a cell that asks for itself is told by the mark of the cell that is looked at, and a range sets no marks. So a
// sum over a range with its own cell in it never ends.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COLUMNS 4
#define ROWS 8

static const char *formulas[COLUMNS][ROWS];
static uint8_t busy[COLUMNS][ROWS];
static const char *at, *end;
static int failed;

static long expression(void);

static int next(char wanted) {
    if (at == end || *at != wanted) return 0;
    at++;
    return 1;
}

static void expect(char wanted) {
    if (!next(wanted)) failed = 1;
}

static int reference(int *column, int *row) {
    if (end - at < 2 || at[0] < 'A' || at[0] >= 'A' + COLUMNS || at[1] < '1' || at[1] >= '1' + ROWS) return 0;
    *column = at[0] - 'A', *row = at[1] - '1';
    at += 2;
    return 1;
}

// The value of a formula that stands somewhere else.
static long elsewhere(const char *formula) {
    if (formula == NULL) return 0;
    const char *back = at;
    at = formula;
    long value = expression();
    at = back;
    return value;
}

static long cell(int column, int row) {
    if (busy[column][row]) {
        failed = 1;
        return 0;
    }
    busy[column][row] = 1;
    long value = elsewhere(formulas[column][row]);
    busy[column][row] = 0;
    return value;
}

struct range {
    int left, top, right, bottom;
};

static struct range range(void) {
    struct range of = {0, 0, 0, 0};
    if (!reference(&of.left, &of.top)) failed = 1;
    expect(':');
    if (!reference(&of.right, &of.bottom) || of.right < of.left || of.bottom < of.top) failed = 1;
    return of;
}

static int word(const char *name) {
    size_t length = strlen(name);
    if ((size_t)(end - at) < length || memcmp(at, name, length) != 0) return 0;
    at += length;
    return 1;
}

static long sum(void) {
    struct range of = range();
    long total = 0;
    expect(')');
    for (int column = of.left; !failed && column <= of.right; column++)
        for (int row = of.top; !failed && row <= of.bottom; row++) total += elsewhere(formulas[column][row]);
    return total;
}

static long index_of(void) {
    struct range of = range();
    expect(',');
    long number = expression(), width = of.right - of.left + 1, height = of.bottom - of.top + 1;
    expect(')');
    if (failed || number < 1 || number > width * height) {
        failed = 1;
        return 0;
    }
    return cell(of.left + (int)((number - 1) % width), of.top + (int)((number - 1) / width));
}

static long least(void) {
    long left = expression();
    expect(',');
    long right = expression();
    expect(')');
    return left < right ? left : right;
}

static long atom(void) {
    int column, row;
    if (failed) return 0;
    if (word("SUM(")) return sum();
    if (word("INDEX(")) return index_of();
    if (word("MIN(")) return least();
    if (reference(&column, &row)) return cell(column, row);
    if (next('(')) {
        long value = expression();
        expect(')');
        return value;
    }
    if (at == end || *at < '0' || *at > '9') {
        failed = 1;
        return 0;
    }
    unsigned long value = 0;
    while (at < end && *at >= '0' && *at <= '9') value = value * 10 + (unsigned long)(*at++ - '0');
    return (long)value;
}

static long product(void) {
    unsigned long value = (unsigned long)atom();
    while (!failed && next('*')) value *= (unsigned long)atom();
    return (long)value;
}

static long expression(void) {
    unsigned long value = (unsigned long)product();
    while (!failed) {
        if (next('+')) {
            value += (unsigned long)product();
        } else if (next('-')) {
            value -= (unsigned long)product();
        } else {
            break;
        }
    }
    return (long)value;
}

// A line must be a whole formula before it is a cell: what follows its value is the end of the line.
static int is_formula(const char *formula) {
    at = formula, failed = 0;
    expression();
    return !failed && (at == end || *at == '\n');
}

static volatile long sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    memset(formulas, 0, sizeof formulas);
    memset(busy, 0, sizeof busy);
    const char *line = (const char *)data;
    end = line + size;
    while (line < end) {
        int column, row;
        at = line;
        if (reference(&column, &row) && next('=')) {
            const char *formula = at;
            // While it is looked at, the cell is as it was.
            if (is_formula(formula)) formulas[column][row] = formula;
        }
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        line = stop == NULL ? end : stop + 1;
    }
    for (int column = 0; column < COLUMNS; column++) {
        for (int row = 0; row < ROWS; row++) {
            failed = 0;
            sink = cell(column, row);
        }
    }
    return 0;
}
