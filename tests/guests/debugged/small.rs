//! A program whose debug information is small, so that tests can damage each part of it.

#![no_std]

pub enum Shape {
    Empty,
    Circle(f32),
    Rect { w: u32, h: u32 },
}

static LIMIT: u32 = 3;

#[unsafe(no_mangle)]
pub extern "C" fn _start() {
    area(2, 5);
}

#[unsafe(no_mangle)]
pub extern "C" fn area(kind: u32, size: u32) -> u32 {
    let shape = match kind {
        0 => Shape::Empty,
        1 => Shape::Circle(1.5),
        _ => Shape::Rect { w: size, h: LIMIT },
    };
    let list = [size, kind, 3];
    let all = &list[..];
    measure(&shape) + all.len() as u32
}

#[inline(never)]
fn measure(shape: &Shape) -> u32 {
    match shape {
        Shape::Empty => 0,
        Shape::Circle(radius) => *radius as u32,
        Shape::Rect { w, h } => w * h,
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}
