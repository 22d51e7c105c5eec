"""The puzzles of scenarios/puzzles by Hypothesis and by ordeal: solved, steps and CPU seconds of each.

    python puzzles.py hypothesis 3 10      seeds, CPU seconds of each
    python puzzles.py ordeal 3 10
"""

import random
import statistics
import sys
import time

from hypothesis import HealthCheck, Phase, seed as seeded, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

DIGITS = [3, 1, 4, 1, 5, 0, 2, 5]
SIDES = [(0, -1), (1, 0), (0, 1), (-1, 0)]
MASK = 2**64 - 1


class Solved(Exception):
    """It is the failure that is looked for."""


class TimeIsUp(BaseException):
    """Not an Exception: nobody is to take it for a failure."""


class Bomb:
    moves = 6

    def __init__(self):
        self.a = self.b = 0
        self.solved = False

    def play(self, number):
        if number == 0 and self.a < 5:
            self.a += 1
        elif number == 1 and self.a == 5 and self.b < 2:
            self.b += 1
        elif number == 2 and self.b == 2:
            self.solved = True


class Lock:
    moves = 6

    def __init__(self):
        self.right = 0
        self.solved = False

    def play(self, number):
        self.right = self.right + 1 if DIGITS[self.right] == number else 0
        self.solved = self.right == len(DIGITS)


class Hanoi:
    moves = 6
    discs = 4

    def __init__(self):
        self.pegs = [0] * self.discs
        self.solved = False

    def play(self, number):
        source, to = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)][number]
        if source in self.pegs:
            disc = self.pegs.index(source)
            if to not in self.pegs or disc < self.pegs.index(to):
                self.pegs[disc] = to
        self.solved = all(peg == 2 for peg in self.pegs)


class Hanoi6(Hanoi):
    discs = 6


class Maze:
    moves = 4
    size = 8
    strict = False
    made = {}

    def __init__(self):
        self.open = self.made.setdefault(self.size, make(self.size) if self.size not in self.made else None)
        self.at = (0, 0)
        self.solved = False

    def play(self, number):
        x, y = self.at
        if self.open[y * self.size + x] >> number & 1:
            self.at = (x + SIDES[number][0], y + SIDES[number][1])
        elif self.strict:
            self.at = (0, 0)
        self.solved = self.at == (self.size - 1, self.size - 1)


def make(size):
    """The maze of scenarios/puzzles/src/maze.rs."""
    sides, way, number = [0] * (size * size), [(0, 0)], 0x2545F4914F6CDD1D

    def cell(x, y):
        return y * size + x if 0 <= x < size and 0 <= y < size else None

    while way:
        x, y = way[-1]
        number ^= number << 13 & MASK
        number ^= number >> 7
        number ^= number << 17 & MASK
        first = number >> 33
        for turn in range(4):
            direction = (first + turn) % 4
            to = (x + SIDES[direction][0], y + SIDES[direction][1])
            if cell(*to) is not None and sides[cell(*to)] == 0:
                sides[cell(x, y)] |= 1 << direction
                sides[cell(*to)] |= 1 << (direction + 2) % 4
                way.append(to)
                break
        else:
            way.pop()
    return sides


class Maze16(Maze):
    size = 16


class Walls(Maze):
    strict = True


class Cache:
    moves = 3

    def __init__(self):
        self.entries = 0
        self.solved = False

    def play(self, number):
        self.entries = self.entries + 1 if number == 0 else self.entries // 2 if number == 1 else self.entries
        self.solved = self.entries >= 64


class Faults:
    moves = 8

    def __init__(self):
        self.come = self.ticks = 0
        self.solved = False

    def play(self, number):
        self.ticks += self.come > 0
        if number < 3:
            self.come = self.come + 1 if number == self.come else 0
        if self.come == 0 or self.ticks > 10:
            self.come = self.ticks = 0
        self.solved = self.come == 3


class LostUpdate:
    """What a tool without a scheduler can do: the point at which the other task runs is drawn."""

    moves = 300

    def __init__(self):
        self.solved = False

    def play(self, number):
        self.solved = number == 217


PUZZLES = {
    "bomb": Bomb,
    "lock": Lock,
    "hanoi-4": Hanoi,
    "hanoi-6": Hanoi6,
    "maze-8": Maze,
    "maze-16": Maze16,
    "walls": Walls,
    "cache": Cache,
    "faults": Faults,
    "lost-update": LostUpdate,
}
STEPS = 0
UNTIL = 0.0
SOLVED = False


def machine(puzzle, base):
    """One rule for each move: what is drawn for a parameter costs ordeal many times as much."""

    def init(self):
        base.__init__(self)
        self.puzzle = puzzle()

    def move(number):
        def play(self):
            global SOLVED, STEPS
            STEPS += not SOLVED
            if STEPS % 64 == 0 and time.process_time() > UNTIL:
                raise TimeIsUp
            self.puzzle.play(number)
            if self.puzzle.solved:
                SOLVED = True
                raise Solved

        play.__name__ = play.__qualname__ = f"move_{number}"
        return rule()(play)

    rules = {f"move_{number}": move(number) for number in range(puzzle.moves)}
    return type("Machine", (base,), {"__init__": init, **rules})


def hypothesis(puzzle, seed):
    plain = settings(
        max_examples=10**9,
        stateful_step_count=50,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    of_puzzle = machine(puzzle, RuleBasedStateMachine)

    @seeded(seed)
    class Seeded(of_puzzle):
        pass

    try:
        run_state_machine_as_test(Seeded, settings=plain)
    except (Solved, TimeIsUp, Flaky):
        # A solution is tried once more; that the time is up then makes it look flaky.
        pass


def ordeal(puzzle, seed):
    from ordeal import ChaosTest
    from ordeal.explore import Explorer

    class base(ChaosTest):
        faults = []

    explorer = Explorer(machine(puzzle, base), target_modules=["puzzles"], seed=seed, workers=1)
    try:
        while not SOLVED and time.process_time() < UNTIL:
            explorer.run(max_time=max(0.1, UNTIL - time.process_time()), shrink=False)
    except TimeIsUp:
        pass


def main():
    global SOLVED, STEPS, UNTIL
    tool, seeds, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    solve = {"hypothesis": hypothesis, "ordeal": ordeal}[tool]
    for name, puzzle in PUZZLES.items():
        solved, spent, all_steps = [], 0.0, 0
        for seed in range(seeds):
            random.seed(seed)
            SOLVED, STEPS, before = False, 0, time.process_time()
            UNTIL = before + seconds
            solve(puzzle, seed)
            took = time.process_time() - before
            spent, all_steps = spent + took, all_steps + STEPS
            if SOLVED:
                solved.append((STEPS, took))
        rate = all_steps / max(spent, 1e-9)
        middle = ""
        if solved:
            steps, took = statistics.median(of[0] for of in solved), statistics.median(of[1] for of in solved)
            middle = f"{steps:>10,.0f} steps, {took * 1e3:>8.1f} ms"
        print(f"{tool:<24}{name:<14}{len(solved)}/{seeds}  {middle:<32}{rate:>12,.0f} steps/s", flush=True)


if __name__ == "__main__":
    main()
