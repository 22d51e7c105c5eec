//! How a cost grows with the size of an input: the exponent of a power law, where it can be told.
//!
//! ```text
//! cost = base + c · size^e         e is the slope between logarithms; base, the cost of the smallest, is taken away
//! ```
//!
//! Invariant: no exponent is given for fewer points than [`POINTS_MIN`], for sizes that differ too little, or where no power law fits.

/// Points that an exponent is told from, the largest ones.
const POINTS_MAX: usize = 6;
const POINTS_MIN: usize = 4;
/// How many times larger the largest of them must be than the smallest.
const SPREAD_MIN: u64 = 3;
/// How far a point may be from the law, between logarithms: beyond, the search has not come as far for each size.
const MISS_MAX: f64 = 0.4;

/// The highest cost of inputs of about a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrowthPoint {
    /// The size of the input that has it.
    pub size: u64,
    /// The cost.
    pub cost: u64,
}

/// The highest costs by size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Growth {
    /// By size, ascending.
    pub points: Vec<GrowthPoint>,
    /// The power of the size by which the cost grows; `None` when that cannot be told.
    pub exponent: Option<f64>,
}

impl Growth {
    /// The growth through points.
    #[must_use]
    pub fn of(mut points: Vec<GrowthPoint>) -> Growth {
        points.sort_by_key(|point| (point.size, point.cost));
        let exponent = exponent(&points);
        Growth { points, exponent }
    }
}

fn exponent(points: &[GrowthPoint]) -> Option<f64> {
    let base = points.iter().map(|point| point.cost).min()?;
    // Those that a larger size does not surpass show what the search has reached, not how the cost grows.
    let mut highest = 0;
    let rising = points.iter().filter(|point| {
        let is_rising = point.cost > highest && point.cost > base && point.size > 0;
        highest = highest.max(point.cost);
        is_rising
    });
    let rising: Vec<&GrowthPoint> = rising.collect();
    let last = &rising[rising.len().saturating_sub(POINTS_MAX)..];
    let (first, largest) = (last.first()?, last.last()?);
    if last.len() < POINTS_MIN || largest.size < SPREAD_MIN * first.size {
        return None;
    }
    let logarithms = last.iter().map(|point| ((point.size as f64).ln(), ((point.cost - base) as f64).ln()));
    let logarithms: Vec<(f64, f64)> = logarithms.collect();
    let count = logarithms.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logarithms.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|at| at.0), mean(|at| at.1));
    let by: f64 = logarithms.iter().map(|at| (at.0 - x) * (at.1 - y)).sum();
    let over: f64 = logarithms.iter().map(|at| (at.0 - x).powi(2)).sum();
    let exponent = by / over;
    let is_near = |at: &(f64, f64)| (y + exponent * (at.0 - x) - at.1).abs() <= MISS_MAX;
    (over > 0.0 && logarithms.iter().all(is_near)).then_some(exponent)
}
