//! Strongly connected components: nodes that reach each other (Tarjan, 1972), without recursion.
//!
//! ```text
//! a ─▶ b ─▶ c ─▶ a      d          labels  0 0 0 NONE
//! ```
//!
//! Invariants: time and memory are linear; a component of one node has no label, for no edge leads from a node to itself.
//! Not here: which cycles a component has (`cycles`).

/// The label of a node that is on no cycle.
pub(super) const NONE: u32 = u32::MAX;

/// Successors of nodes, by position.
pub(super) trait Successors {
    /// How many nodes there are.
    fn nodes(&self) -> u32;
    /// The first position of a node's edges, and the one after the last.
    fn positions(&self, node: u32) -> (u32, u32);
    /// Where the edge of a node at a position leads, if it counts.
    fn successor(&self, node: u32, position: u32) -> Option<u32>;
}

/// The component of each node, or `NONE`; and how many components there are.
pub(super) fn components(graph: &impl Successors) -> (Vec<u32>, u32) {
    let count = graph.nodes() as usize;
    // A number from 1 while the node is open; `DONE` afterwards.
    const DONE: u32 = u32::MAX;
    let mut low = vec![0u32; count];
    let mut labels = vec![NONE; count];
    let (mut stack, mut frames): (Vec<u32>, Vec<(u32, u32, u32)>) = (Vec::new(), Vec::new());
    let (mut next, mut found) = (0u32, 0u32);
    for root in 0..count as u32 {
        if low[root as usize] != 0 {
            continue;
        }
        next += 1;
        low[root as usize] = next;
        stack.push(root);
        frames.push((root, graph.positions(root).0, next));
        while let Some((node, position, own)) = frames.last_mut() {
            let (at, number) = (*node, *own);
            let end = graph.positions(at).1;
            let mut deeper = None;
            while *position < end && deeper.is_none() {
                let successor = graph.successor(at, *position);
                *position += 1;
                match successor.map(|to| (to, low[to as usize])) {
                    None | Some((_, DONE)) => {}
                    Some((to, 0)) => deeper = Some(to),
                    Some((_, reached)) => low[at as usize] = low[at as usize].min(reached),
                }
            }
            if let Some(to) = deeper {
                next += 1;
                low[to as usize] = next;
                stack.push(to);
                frames.push((to, graph.positions(to).0, next));
                continue;
            }
            let reached = low[at as usize];
            frames.pop();
            if let Some((parent, ..)) = frames.last() {
                let parent = *parent as usize;
                low[parent] = low[parent].min(reached);
            }
            if reached == number {
                let first = stack.iter().rposition(|one| *one == at).unwrap_or_default();
                let is_cyclic = stack.len() - first > 1;
                for one in stack.drain(first..) {
                    low[one as usize] = DONE;
                    if is_cyclic {
                        labels[one as usize] = found;
                    }
                }
                found += u32::from(is_cyclic);
            }
        }
    }
    (labels, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Lists(Vec<Vec<u32>>);

    impl Successors for Lists {
        fn nodes(&self) -> u32 {
            self.0.len() as u32
        }
        fn positions(&self, node: u32) -> (u32, u32) {
            (0, self.0[node as usize].len() as u32)
        }
        fn successor(&self, node: u32, position: u32) -> Option<u32> {
            Some(self.0[node as usize][position as usize])
        }
    }

    #[test]
    fn components_are_those_of_mutual_reachability() {
        let mut state = 7u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        for _ in 0..500 {
            let count = 1 + below(9) as usize;
            let mut lists = Lists(vec![Vec::new(); count]);
            for _ in 0..below(16) {
                let (from, to) = (below(count as u64) as usize, below(count as u64) as u32);
                if from as u32 != to {
                    lists.0[from].push(to);
                }
            }
            let mut reach = vec![vec![false; count]; count];
            (0..count).for_each(|from| lists.0[from].iter().for_each(|to| reach[from][*to as usize] = true));
            for via in 0..count {
                for from in 0..count {
                    for to in 0..count {
                        reach[from][to] |= reach[from][via] && reach[via][to];
                    }
                }
            }
            let (labels, _) = components(&lists);
            for from in 0..count {
                assert_eq!(labels[from] != NONE, reach[from][from]);
                for to in (0..count).filter(|to| *to != from) {
                    let is_same = labels[from] != NONE && labels[from] == labels[to];
                    assert_eq!(is_same, reach[from][to] && reach[to][from], "{:?}", lists.0);
                }
            }
        }
    }
}
