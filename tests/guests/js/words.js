// Word count: the third language of the coverage tests, and of those that call from outside.
const text = "the town by the quay, the rope by the swing";
const counts = new Map();

function count(words) {
  for (const word of words.match(/[a-z]+/g) ?? []) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
}

export const run = {
  run() {
    count(text);
    for (const [word, count] of [...counts].sort()) {
      if (count > 1) console.log(`${count} ${word}`);
    }
  },
};

// One kind of state for each kind of step; the last ends.
export function step(kind, value) {
  switch (kind) {
    case 0:
      count(`${text} ${"abcdefgh".slice(value % 8)}`);
      return JSON.stringify([...counts]);
    case 1:
      counts.delete([...counts.keys()][value % (counts.size || 1)]);
      return `${counts.size} left`;
    case 2:
      return `random ${Math.random()}`;
    case 3:
      return `at ${Date.now()}`;
    case 4:
      console.log(`given ${value}`);
      return "said";
    case 5:
      counts.set(`large ${value}`, new Array(value % 5000).fill(value).join());
      return `${counts.size} words`;
    default:
      throw new Error(`asked to end with ${value}`);
  }
}
