// Word count: the third language of the coverage tests.
const text = "the town by the quay, the rope by the swing";

export const run = {
  run() {
    const counts = new Map();
    for (const word of text.match(/[a-z]+/g)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    for (const [word, count] of [...counts].sort()) {
      if (count > 1) console.log(`${count} ${word}`);
    }
  },
};
