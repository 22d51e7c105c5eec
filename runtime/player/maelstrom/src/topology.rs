//! Which nodes are neighbours.
//!
//! ```text
//! line   n0 n1 n2 n3      grid   n0 n1      tree   n0 above n1 and n2, n1 above n3
//!                                n2 n3
//! ```

use fozzy_scenario_file::Topology;
use std::collections::BTreeMap;

/// By node, its neighbours.
pub fn neighbours(nodes: &[String], topology: Topology) -> BTreeMap<String, Vec<String>> {
    let of = |at: usize| -> Vec<usize> {
        let tree = |children: usize| -> Vec<usize> {
            let parent = (at > 0).then(|| (at - 1) / children);
            parent.into_iter().chain(children * at + 1..=children * at + children).collect()
        };
        match topology {
            Topology::Line => [at.checked_sub(1), Some(at + 1)].into_iter().flatten().collect(),
            Topology::Grid => grid(at, nodes.len()),
            Topology::Tree | Topology::Tree2 => tree(2),
            Topology::Tree3 => tree(3),
            Topology::Tree4 => tree(4),
            Topology::Total => (0..nodes.len()).filter(|other| *other != at).collect(),
        }
    };
    let names = |at: usize| of(at).into_iter().filter_map(|other| nodes.get(other).cloned()).collect();
    nodes.iter().enumerate().map(|(at, node)| (node.clone(), names(at))).collect()
}

/// Above, below, left and right, in a square that is filled row by row.
fn grid(at: usize, nodes: usize) -> Vec<usize> {
    let side = (1..).find(|side| side * side >= nodes).unwrap_or(1);
    let (row, column) = (at / side, at % side);
    let above = (row > 0).then(|| at - side);
    let left = (column > 0).then(|| at - 1);
    let right = (column + 1 < side).then_some(at + 1);
    [above, Some(at + side), left, right].into_iter().flatten().collect()
}
