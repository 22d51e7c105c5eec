// A counter, and the scenario that judges it.

import { int, weighted } from "fozzy:choices/draws@0.1.0";
import { always, declare } from "fozzy:properties/assertions@0.1.0";

// The program under test.
class Counter {
  value = 0;

  add(amount) {
    this.value += amount;
  }

  reset() {
    this.value = 0;
  }
}

const counter = new Counter();
// What it must show.
let model = 0;

// What must hold, so that a report has it even when nothing comes by it.
const properties = [];
const property = (kind, name) => {
  properties.push({ kind, name, place: "scenario.js" });
  return name;
};
const SUM = property("always", "the counter shows the sum");

const flows = [
  {
    name: "add",
    weight: 100,
    run() {
      const amount = Number(int("amount", 0n, 9n));
      counter.add(amount);
      model += amount;
    },
  },
  {
    name: "reset",
    weight: 5,
    valid: () => model > 0,
    run() {
      counter.reset();
      model = 0;
    },
  },
];

const invariants = [
  {
    name: "sum",
    period: 1,
    check: () => always(SUM, counter.value === model, `${counter.value}, not ${model}`),
  },
];

// What the run calls: `fozzy:scenario/stateful`, described in wit/deps/fozzy-scenario.wit.
export const stateful = {
  describe() {
    return {
      name: "counter",
      flows: flows.map(({ name, weight, maxTimes }) => ({ name, weight, maxTimes })),
      invariants: invariants.map(({ name, period }) => ({ name, period })),
    };
  },

  beginSequence(sequence) {
    declare(properties);
  },

  step(number) {
    const weights = flows.map(({ weight, valid }) => (!valid || valid() ? weight : 0));
    if (weights.every((weight) => weight === 0)) return { tag: "stuck", val: "none of the flows is valid now" };
    const drawn = weighted("flow", new Uint32Array(weights));
    flows[drawn].run();
    for (const { period, check } of invariants) {
      if ((number + 1) % period === 0) check();
    }
    return { tag: "ran", val: drawn };
  },

  endSequence(sequence) {},
};
