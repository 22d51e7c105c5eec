//! Options, results, tuples, arrays and collections.

use super::{Draw, DrawLength, length, length_of, repeated};
use crate::host;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque};
use alloc::rc::Rc;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

impl Draw for () {
    fn draw(_: &str) {}
}

impl<T: Draw> Draw for Option<T> {
    fn draw(site: &str) -> Option<T> {
        (host::weighted(site, &[1, 3]) == 1).then(|| T::draw(site))
    }
}

impl<T: Draw, E: Draw> Draw for Result<T, E> {
    fn draw(site: &str) -> Result<T, E> {
        if host::weighted(site, &[3, 1]) == 0 { Ok(T::draw(site)) } else { Err(E::draw(site)) }
    }
}

macro_rules! pointers {
    ($($pointer:ident),*) => {$(
        impl<T: Draw> Draw for $pointer<T> {
            fn draw(site: &str) -> $pointer<T> {
                $pointer::new(T::draw(site))
            }
        }
    )*};
}
pointers!(Box, Rc, Arc);

macro_rules! tuples {
    ($(($($element:ident),+))*) => {$(
        impl<$($element: Draw),+> Draw for ($($element,)+) {
            fn draw(site: &str) -> ($($element,)+) {
                ($($element::draw(site),)+)
            }
        }
    )*};
}
tuples!((A)(A, B)(A, B, C)(A, B, C, D)(A, B, C, D, E)(A, B, C, D, E, F));

impl<T: Draw, const N: usize> Draw for [T; N] {
    fn draw(site: &str) -> [T; N] {
        core::array::from_fn(|_| T::draw(site))
    }
}

/// So many elements as are drawn.
pub(super) fn elements<T: Draw, C: FromIterator<T>>(site: &str) -> C {
    repeated(length(site), || T::draw(site))
}

/// As many elements as the range allows.
pub(super) fn elements_of<T: Draw, C: FromIterator<T>>(site: &str, lengths: RangeInclusive<usize>) -> C {
    repeated(length_of(site, lengths), || T::draw(site))
}

impl<T: Draw> Draw for Vec<T> {
    fn draw(site: &str) -> Vec<T> {
        elements(site)
    }
}

impl<T: Draw> Draw for VecDeque<T> {
    fn draw(site: &str) -> VecDeque<T> {
        elements(site)
    }
}

impl<T: Draw> Draw for LinkedList<T> {
    fn draw(site: &str) -> LinkedList<T> {
        elements(site)
    }
}

impl<T: Draw + Ord> Draw for BinaryHeap<T> {
    fn draw(site: &str) -> BinaryHeap<T> {
        elements(site)
    }
}

impl<T: Draw> Draw for Box<[T]> {
    fn draw(site: &str) -> Box<[T]> {
        elements(site)
    }
}

impl<T: Draw + Ord> Draw for BTreeSet<T> {
    /// Equal elements count once, so there may be fewer than were drawn.
    fn draw(site: &str) -> BTreeSet<T> {
        elements(site)
    }
}

impl<K: Draw + Ord, V: Draw> Draw for BTreeMap<K, V> {
    /// Equal keys count once, so there may be fewer than were drawn.
    fn draw(site: &str) -> BTreeMap<K, V> {
        elements::<(K, V), _>(site)
    }
}

macro_rules! with_length {
    ($(<$($parameter:ident: $($bound:ident)+),+> $collection:ty = $element:ty;)+) => {$(
        impl<$($parameter: $($bound +)+),+> DrawLength for $collection {
            fn draw_length(site: &str, lengths: RangeInclusive<usize>) -> $collection {
                elements_of::<$element, _>(site, lengths)
            }
        }
    )+};
}
with_length! {
    <T: Draw> Vec<T> = T;
    <T: Draw> VecDeque<T> = T;
    <T: Draw> LinkedList<T> = T;
    <T: Draw Ord> BinaryHeap<T> = T;
    <T: Draw> Box<[T]> = T;
    <T: Draw Ord> BTreeSet<T> = T;
    <K: Draw Ord, V: Draw> BTreeMap<K, V> = (K, V);
}
