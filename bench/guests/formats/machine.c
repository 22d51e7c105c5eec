// A machine with a stack, whose programs are verified before they run, and its fuzz target as libFuzzer wants it.
//
//   "\0vm1" length(1) code(length)
//   00 halt   01 n push   02 add   03 sub   04 mul   05 dup   06 drop   07 swap   08 n get local   09 n set local
//   0a n jump n back or on (signed)   0b n jump when not zero   0c n call   0d return   0e less   0f equal
//
// The verifier walks over the code once and knows how deep the stack is at each place; places that are jumped to must have the same
// depth. The planted fault: a jump back to a place that was walked over with another depth is not looked at. A loop that takes one
// more each time then reads below the stack.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DEEPEST 16
#define STEPS 500
#define UNKNOWN 0xff

enum { HALT, PUSH, ADD, SUB, MUL, DUP, DROP, SWAP, GET, SET, JUMP, JUMP_IF, CALL, RETURN, LESS, EQUAL, CODES };

// What an instruction takes from the stack and gives, and whether a byte follows.
static const struct {
    uint8_t takes, gives, operand;
} SHAPES[CODES] = {
    [HALT] = {0, 0, 0}, [PUSH] = {0, 1, 1}, [ADD] = {2, 1, 0}, [SUB] = {2, 1, 0}, [MUL] = {2, 1, 0}, [DUP] = {1, 2, 0},
    [DROP] = {1, 0, 0}, [SWAP] = {2, 2, 0}, [GET] = {0, 1, 1}, [SET] = {1, 0, 1}, [JUMP] = {0, 0, 1}, [JUMP_IF] = {1, 0, 1},
    [CALL] = {0, 0, 1}, [RETURN] = {0, 0, 0}, [LESS] = {2, 1, 0}, [EQUAL] = {2, 1, 0},
};

static uint8_t depths[256];

// Whether what is jumped to is within the code, and of that depth where it is not walked over yet.
static int lands(size_t length, size_t from, int8_t by, uint8_t depth) {
    long to = (long)from + by;
    if (to < 0 || to >= (long)length) return 0;
    if (depths[to] == UNKNOWN) {
        // A place before that is no instruction.
        if (to < (long)from) return 0;
        depths[to] = depth;
        return 1;
    }
    return to <= (long)from || depths[to] == depth;
}

static int verify(const uint8_t *code, size_t length) {
    memset(depths, UNKNOWN, sizeof depths);
    uint8_t depth = 0;
    size_t at = 0;
    int is_reached = 1;
    while (at < length) {
        uint8_t op = code[at];
        if (op >= CODES || at + SHAPES[op].operand >= length) return 0;
        if (depths[at] != UNKNOWN) {
            if (is_reached && depths[at] != depth) return 0;
            depth = depths[at];
        } else if (!is_reached) {
            return 0;
        }
        depths[at] = depth;
        if (SHAPES[op].takes > depth) return 0;
        depth = (uint8_t)(depth - SHAPES[op].takes + SHAPES[op].gives);
        if (depth > DEEPEST) return 0;
        if ((op == GET || op == SET) && code[at + 1] >= 4) return 0;
        int is_jump = op == JUMP || op == JUMP_IF || op == CALL;
        if (is_jump && !lands(length, at, (int8_t)code[at + 1], op == CALL ? 0 : depth)) return 0;
        // A call is of the empty stack, so that what is called leaves nothing.
        if ((op == CALL || op == RETURN) && depth != 0) return 0;
        is_reached = op != JUMP && op != HALT && op != RETURN;
        at += 1 + SHAPES[op].operand;
    }
    return !is_reached;
}

static volatile int32_t sink;

static void run(const uint8_t *code) {
    uint32_t stack[DEEPEST], locals[4] = {0, 0, 0, 0};
    size_t returns[8], calls = 0, at = 0;
    int depth = 0;
    for (int step = 0; step < STEPS; step++) {
        uint8_t op = code[at], operand = code[at + 1];
        if (depth < SHAPES[op].takes || depth - SHAPES[op].takes + SHAPES[op].gives > DEEPEST) __builtin_trap();
        uint32_t top = depth > 0 ? stack[depth - 1] : 0, below = depth > 1 ? stack[depth - 2] : 0;
        depth += SHAPES[op].gives - SHAPES[op].takes;
        size_t next = at + 1 + SHAPES[op].operand;
        switch (op) {
        case HALT: sink = (int32_t)locals[0]; return;
        case PUSH: stack[depth - 1] = operand; break;
        case ADD: stack[depth - 1] = below + top; break;
        case SUB: stack[depth - 1] = below - top; break;
        case MUL: stack[depth - 1] = below * top; break;
        case DUP: stack[depth - 1] = top; break;
        case SWAP: stack[depth - 1] = below, stack[depth - 2] = top; break;
        case GET: stack[depth - 1] = locals[operand]; break;
        case SET: locals[operand] = top; break;
        case LESS: stack[depth - 1] = below < top; break;
        case EQUAL: stack[depth - 1] = below == top; break;
        case JUMP_IF:
            if (top == 0) break;
            // fallthrough
        case JUMP: next = at + (size_t)(int8_t)operand; break;
        case CALL:
            if (calls == 8) return;
            returns[calls++] = next;
            next = at + (size_t)(int8_t)operand;
            break;
        case RETURN:
            if (calls == 0) return;
            next = returns[--calls];
            break;
        default: break;
        }
        at = next;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 5 || memcmp(data, "\0vm1", 4) != 0) return 0;
    size_t length = data[4];
    if (length == 0 || length > size - 5) return 0;
    // A byte more, so that the last instruction has an operand to read.
    uint8_t code[257] = {0};
    memcpy(code, data + 5, length);
    if (verify(code, length)) run(code);
    return 0;
}
