//! Pools of keys: some are written more often than others, and a key that was written often enough makes room for a new one.
//!
//! ```text
//! exponential   1 : 2 : 4 : 8 …     each key twice as likely as the one before it
//! zipf          1 : 1/2 : 1/3 …     the last one the most likely
//! uniform       1 : 1 : 1 …
//! ```

use crate::host;

/// The last keys of an exponential pool are equally likely.
const DOUBLINGS_MAX: usize = 20;
/// The sum of weights of the most likely key in a zipf pool.
const ZIPF: u32 = 1 << 20;

/// How likely the keys of a pool are.
///
/// ```
/// use fozzy_sdk::cluster::{KeyDistribution, KeyPool};
///
/// let pool = KeyPool::new(5, KeyDistribution::Uniform, 16);
/// assert!(pool.keys().contains(&pool.read()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyDistribution {
    /// Each key twice as likely as the one before it.
    #[default]
    Exponential,
    /// The n-th from the end is an n-th as likely as the last one.
    Zipf,
    /// All equally likely.
    Uniform,
}

/// Keys to read and to write.
///
/// ```
/// use fozzy_sdk::cluster::{KeyDistribution, KeyPool};
///
/// let mut pool = KeyPool::new(3, KeyDistribution::Zipf, 2);
/// let (key, value) = pool.write();
/// assert!((0..3).contains(&key) && value == 1, "values of a key are 1, 2, …");
/// assert!(pool.keys().contains(&pool.read()));
/// ```
#[derive(Clone, Debug)]
pub struct KeyPool {
    distribution: KeyDistribution,
    /// Keys, and how often they were written.
    keys: Vec<(i64, u32)>,
    writes_max: u32,
    next: i64,
}

impl KeyPool {
    /// So many keys at once, each written so often at the most.
    ///
    /// # Panics
    /// Without keys, or without writes.
    ///
    /// ```
    /// use fozzy_sdk::cluster::{KeyDistribution, KeyPool};
    ///
    /// assert_eq!(KeyPool::new(2, KeyDistribution::Zipf, 1).keys(), [0, 1]);
    /// ```
    #[must_use]
    pub fn new(keys: u32, distribution: KeyDistribution, writes_max: u32) -> KeyPool {
        assert!(keys > 0 && writes_max > 0, "a pool has a key, and a key can be written");
        let next = i64::from(keys);
        KeyPool { distribution, keys: (0..next).map(|key| (key, 0)).collect(), writes_max, next }
    }

    /// The keys of the moment.
    ///
    /// ```
    /// use fozzy_sdk::cluster::{KeyDistribution, KeyPool};
    ///
    /// assert_eq!(KeyPool::new(2, KeyDistribution::Zipf, 1).keys(), [0, 1]);
    /// ```
    #[must_use]
    pub fn keys(&self) -> Vec<i64> {
        self.keys.iter().map(|(key, _)| *key).collect()
    }

    /// How many keys there have been: 0, 1, … below it.
    ///
    /// ```
    /// use fozzy_sdk::cluster::{KeyDistribution, KeyPool};
    ///
    /// let mut pool = KeyPool::new(2, KeyDistribution::Zipf, 1);
    /// pool.write();
    /// assert_eq!(pool.all(), 3, "the key that was written once has made room");
    /// ```
    #[must_use]
    pub fn all(&self) -> i64 {
        self.next
    }

    /// Draws the place of a key.
    ///
    /// ```
    /// use fozzy_sdk::cluster::{KeyDistribution, KeyPool};
    ///
    /// let mut pool = KeyPool::new(2, KeyDistribution::Zipf, 9);
    /// let place = pool.place();
    /// assert_eq!(pool.write_at(place).1, 1);
    /// ```
    #[must_use]
    pub fn place(&self) -> usize {
        let count = self.keys.len();
        let weight = |place: usize| match self.distribution {
            KeyDistribution::Exponential => 1 << place.min(DOUBLINGS_MAX),
            KeyDistribution::Zipf => ZIPF / (count - place) as u32,
            KeyDistribution::Uniform => 1,
        };
        host::weighted("key", &(0..count).map(|place| weight(place).max(1)).collect::<Vec<u32>>()) as usize
    }

    /// Draws a key to read.
    ///
    /// ```
    /// use fozzy_sdk::cluster::{KeyDistribution, KeyPool};
    ///
    /// assert!(KeyPool::new(2, KeyDistribution::Zipf, 1).read() < 2);
    /// ```
    #[must_use]
    pub fn read(&self) -> i64 {
        self.keys[self.place()].0
    }

    /// Draws a key, and the next value that is written there.
    ///
    /// ```
    /// use fozzy_sdk::cluster::{KeyDistribution, KeyPool};
    ///
    /// assert_eq!(KeyPool::new(1, KeyDistribution::Zipf, 9).write(), (0, 1));
    /// ```
    pub fn write(&mut self) -> (i64, u32) {
        let place = self.place();
        self.write_at(place)
    }

    /// The key at a place, and the next value that is written there.
    ///
    /// # Panics
    /// When there is no such place.
    ///
    /// ```
    /// use fozzy_sdk::cluster::{KeyDistribution, KeyPool};
    ///
    /// let mut pool = KeyPool::new(2, KeyDistribution::Zipf, 9);
    /// assert_eq!([pool.write_at(1), pool.write_at(1)], [(1, 1), (1, 2)]);
    /// ```
    pub fn write_at(&mut self, place: usize) -> (i64, u32) {
        let (key, written) = &mut self.keys[place];
        *written += 1;
        let write = (*key, *written);
        if *written >= self.writes_max {
            (*key, *written) = (self.next, 0);
            self.next += 1;
        }
        write
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_was_written_often_enough_makes_room() {
        let mut pool = KeyPool::new(2, KeyDistribution::Uniform, 2);
        assert_eq!([pool.write_at(0), pool.write_at(0), pool.write_at(0)], [(0, 1), (0, 2), (2, 1)]);
        assert_eq!((pool.keys(), pool.all()), (vec![2, 1], 3));
    }

    #[test]
    fn later_keys_are_likelier_but_in_a_uniform_pool() {
        let drawn = |distribution| {
            let pool = KeyPool::new(3, distribution, 9);
            let mut times = [0_u32; 3];
            (0..700).for_each(|_| times[pool.place()] += 1);
            times
        };
        let [first, second, last] = drawn(KeyDistribution::Exponential);
        assert!(last > second && second > first && last > 300, "{first} {second} {last}");
        let [first, second, last] = drawn(KeyDistribution::Zipf);
        assert!(last > second && second > first && last > 300, "{first} {second} {last}");
        assert!(drawn(KeyDistribution::Uniform).iter().all(|times| *times > 180));
    }
}
