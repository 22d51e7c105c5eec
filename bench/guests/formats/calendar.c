// A reader of calendars, and its fuzz target as libFuzzer wants it.
//
//   BEGIN:VEVENT
//   DTSTART:20240229
//   RRULE:FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYDAY=-1TH;COUNT=5
//   END:VEVENT
//
// The planted fault: the fifth of a day of the week in a month may be in the next one, and is looked up in a table of the days of this one.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const char *at, *end;
static int failed;

static int word(const char *name) {
    size_t length = strlen(name);
    if ((size_t)(end - at) < length || memcmp(at, name, length) != 0) return 0;
    at += length;
    return 1;
}

static long number(int digits_max) {
    long value = 0;
    int digits = 0;
    for (; digits < digits_max && at < end && *at >= '0' && *at <= '9'; digits++) value = value * 10 + (*at++ - '0');
    if (digits == 0) failed = 1;
    return value;
}

static int is_leap(long year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in(long year, int month) {
    static const uint8_t DAYS[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return DAYS[month - 1] + (month == 2 && is_leap(year));
}

// Zeller's congruence: 0 is Sunday.
static int day_of_week(long year, int month, int day) {
    static const uint8_t SHIFTS[12] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
    if (month < 3) year--;
    return (int)((year + year / 4 - year / 100 + year / 400 + SHIFTS[month - 1] + day) % 7);
}

struct rule {
    int frequency, month, week, weekday;
    long interval, count;
};

enum { NONE, DAILY, WEEKLY, MONTHLY, YEARLY };

static int weekday(void) {
    static const char NAMES[7][3] = {"SU", "MO", "TU", "WE", "TH", "FR", "SA"};
    for (int day = 0; day < 7; day++)
        if (word(NAMES[day])) return day;
    failed = 1;
    return 0;
}

static struct rule rule(void) {
    struct rule of = {NONE, 0, 0, -1, 1, 1};
    do {
        if (word("FREQ=")) {
            if (word("DAILY")) of.frequency = DAILY;
            else if (word("WEEKLY")) of.frequency = WEEKLY;
            else if (word("MONTHLY")) of.frequency = MONTHLY;
            else if (word("YEARLY")) of.frequency = YEARLY;
            else failed = 1;
        } else if (word("INTERVAL=")) {
            of.interval = number(3);
        } else if (word("COUNT=")) {
            of.count = number(3);
        } else if (word("BYMONTH=")) {
            of.month = (int)number(2);
            if (of.month < 1 || of.month > 12) failed = 1;
        } else if (word("BYDAY=")) {
            int sign = word("-") ? -1 : 1;
            of.week = sign * (int)number(1);
            of.weekday = weekday();
            if (of.week < -5 || of.week > 5 || of.week == 0) failed = 1;
        } else {
            failed = 1;
        }
    } while (!failed && word(";"));
    if (of.frequency == NONE || of.interval == 0 || !word("\n")) failed = 1;
    return of;
}

static volatile int sink;

// What each day of a month is called: the first seven are enough for the others.
static int place_in(long year, int month, const struct rule *of) {
    int days = days_in(year, month), first = day_of_week(year, month, 1);
    int day = 1 + (of->weekday - first + 7) % 7;
    if (of->week > 0) return day + 7 * (of->week - 1);
    while (day + 7 <= days) day += 7;
    return day + 7 * (of->week + 1);
}

static void expand(long year, int month, int day, const struct rule *of) {
    char names[32] = {0};
    for (long number = 0; number < of->count && number < 40; number++) {
        if (of->weekday >= 0 && of->frequency >= MONTHLY) {
            int in = of->month != 0 ? of->month : month;
            int found = place_in(year, in, of);
            // Those before the first are left out, and one behind the last should be.
            if (found >= 1) {
                if (found > 31) __builtin_trap();
                names[found] = (char)in;
            }
        } else if (day <= days_in(year, month)) {
            names[day] = (char)month;
        }
        switch (of->frequency) {
        case DAILY: day += (int)of->interval; break;
        case WEEKLY: day += 7 * (int)of->interval; break;
        case MONTHLY: month += (int)of->interval; break;
        default: year += of->interval; break;
        }
        while (month > 12) month -= 12, year++;
        while (day > days_in(year, month)) {
            day -= days_in(year, month);
            if (++month > 12) month = 1, year++;
        }
    }
    sink = names[day];
}

static void event(void) {
    long year = 0;
    int month = 0, day = 0, has_rule = 0;
    struct rule of = {0};
    while (!failed && !word("END:VEVENT\n")) {
        if (word("DTSTART:")) {
            year = number(4), month = (int)number(2), day = (int)number(2);
            if (failed || year < 1900 || month < 1 || month > 12 || day < 1 || day > days_in(year, month)) failed = 1;
            if (!word("\n")) failed = 1;
        } else if (word("RRULE:")) {
            of = rule();
            has_rule = 1;
        } else if (word("SUMMARY:")) {
            while (at < end && *at != '\n') at++;
            if (!word("\n")) failed = 1;
        } else {
            failed = 1;
        }
    }
    if (!failed && year != 0 && has_rule) expand(year, month, day, &of);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    at = (const char *)data, end = at + size;
    failed = 0;
    while (!failed && word("BEGIN:VEVENT\n")) event();
    return 0;
}
