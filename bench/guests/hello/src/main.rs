//! Prints one line: what a start costs when the program itself does nothing.

fn main() {
    println!("hello");
}
