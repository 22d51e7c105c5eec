"""The bank's flows by Hypothesis and by ordeal: flows per CPU second of each.

    python bank.py hypothesis 200 100      examples, steps of each
    python bank.py ordeal 200 100
"""

import sys
import time

from hypothesis import HealthCheck, Phase, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

FLOWS = 0
AMOUNT = st.integers(1, 100)
PLACE = st.integers(0, 2**32 - 1)


def bank(base):
    """The state machine on the given base: both tools have rules."""

    class Bank(base):
        def __init__(self):
            super().__init__()
            self.accounts = [60, 40]
            self.total = 100
            self.opened = 0
            self.steps = 0

        @precondition(lambda self: self.opened < 8)
        @rule(first=AMOUNT, second=AMOUNT)
        def open(self, first, second):
            self.step()
            self.opened += 1
            self.accounts += [first, second]
            self.total += first + second

        @rule(first=PLACE, second=PLACE, amount=AMOUNT)
        def transfer(self, first, second, amount):
            self.step()
            source, to = first % len(self.accounts), second % len(self.accounts)
            if self.accounts[source] + self.accounts[source ^ 1] >= amount:
                self.accounts[source] -= amount
                self.accounts[to] += amount

        @rule(account=PLACE, amount=AMOUNT)
        def withdraw(self, account, amount):
            self.step()
            account %= len(self.accounts)
            if self.accounts[account] + self.accounts[account ^ 1] >= amount:
                self.accounts[account] -= amount
                self.total -= amount

        def step(self):
            global FLOWS
            FLOWS += 1
            self.steps += 1

        @invariant()
        def nobody_owes(self):
            pairs = zip(self.accounts[::2], self.accounts[1::2])
            assert all(first + second >= 0 for first, second in pairs)

        @invariant()
        def total_is_constant(self):
            if self.steps % 10 == 0:
                assert sum(self.accounts) == self.total

    return Bank


def main():
    tool, examples, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if tool == "hypothesis":
        base = RuleBasedStateMachine
    else:
        from ordeal import ChaosTest

        class base(ChaosTest):
            faults = []

    machine = bank(base)
    plain = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    before = time.process_time()
    run_state_machine_as_test(machine, settings=plain)
    seconds = time.process_time() - before
    print(f"{tool:<28}{FLOWS / seconds:>14,.0f} flows/s   {FLOWS} flows in {seconds:.2f} s")


main()
