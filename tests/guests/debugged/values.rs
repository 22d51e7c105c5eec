//! Values of every kind, for what a debugger shows of them; `tests/debug_info.rs` stops at the line that prints.

#![allow(dead_code)]

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
#[derive(Debug, Clone)]
enum Shape {
    Empty,
    Circle(f64),
    Rect { w: u32, h: u32 },
}
#[derive(Debug, Clone, Copy, PartialEq)]
enum Colour {
    Red,
    Green = 5,
    Blue,
}
static TOTAL: u64 = 42;
struct Point {
    x: i32,
    y: i32,
}
#[inline(never)]
fn show(shapes: &[Shape], name: &str, at: &Point) -> usize {
    let mut map: HashMap<String, u32> = HashMap::new();
    map.insert("one".to_string(), 1);
    map.insert("two".to_string(), 2);
    let tree: BTreeMap<u32, &str> = (0..20).map(|n| (n, "v")).collect();
    let owned = String::from("owned");
    let numbers = vec![1u16, 2, 3];
    let some: Option<u32> = Some(7);
    let none: Option<Box<u32>> = None;
    let boxed: Option<Box<u32>> = Some(Box::new(9));
    let colour = Colour::Blue;
    let pair = (1u8, -2i64, 'x', true, 1.5f32);
    let nested = [(some, String::from("in"))];
    let rc = Rc::new(Point { x: 1, y: 2 });
    let result: Result<u32, String> = Err("bad".into());
    let array = [[1i32, 2], [3, 4]];
    let sum = at.x + at.y + TOTAL as i32;
    let count = shapes.len() + name.len() + sum as usize;
    println!(
        "{count} {map:?} {tree:?} {owned} {numbers:?} {some:?} {none:?} {boxed:?} {colour:?} {pair:?} {nested:?} {} {result:?} {array:?}",
        rc.x + rc.y
    );
    count
}
fn main() {
    let shapes = vec![Shape::Empty, Shape::Circle(1.5), Shape::Rect { w: 2, h: 3 }];
    let n = show(&shapes, "name", &Point { x: 3, y: 4 });
    println!("{n} {:?} {:?}", Colour::Red, Colour::Green);
}
