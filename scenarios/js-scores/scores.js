// A table of the best scores, and the scenario that finds one that is not among them.
//
//   scores      9, 40, 100           the best two are 100 and 40
//   as texts    "100" < "40" < "9"   and here 9 and 40
//
// The planted fault: `sort` without a comparison compares texts. With `--env FIXED=1` it compares numbers.

import { int, weighted } from "fozzy:choices/draws@0.1.0";
import { always, declare } from "fozzy:properties/assertions@0.1.0";
import { getEnvironment } from "wasi:cli/environment@0.2.12";

const BEST = 3;

// Asked when it runs: what is asked above would be answered when the component is made.
const isFixed = () => getEnvironment().some(([name, value]) => name === "FIXED" && value === "1");

class Scores {
  #all = [];

  add(score) {
    this.#all.push(score);
    if (isFixed()) this.#all.sort((a, b) => a - b);
    else this.#all.sort();
  }

  best() {
    return this.#all.slice(-BEST).reverse();
  }

  clear() {
    this.#all = [];
  }
}

const scores = new Scores();
// The model: the best of all that was ever added, found the slow way.
let added = [];

const draw = (site, min, max) => Number(int(site, BigInt(min), BigInt(max)));

// What must hold, so that a report has it even when nothing comes by it.
const properties = [{ kind: "always", name: "the best scores are shown", place: "scores.js" }];

const flows = [
  {
    name: "add",
    weight: 50,
    run() {
      const score = draw("score", 0, 200);
      scores.add(score);
      added.push(score);
    },
  },
  {
    name: "clear",
    weight: 2,
    valid: () => added.length > 0,
    run() {
      scores.clear();
      added = [];
    },
  },
];

const invariants = [
  {
    name: "best",
    period: 1,
    check() {
      const rest = [...added];
      const expected = [];
      while (expected.length < BEST && rest.length > 0) {
        expected.push(...rest.splice(rest.indexOf(Math.max(...rest)), 1));
      }
      const best = scores.best();
      always("the best scores are shown", `${best}` === `${expected}`, `${best}, not ${expected}`);
    },
  },
];

// What the run calls: `fozzy:scenario/stateful`, described in wit/deps/fozzy-scenario.wit.
export const stateful = {
  describe() {
    return {
      name: "scores",
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
