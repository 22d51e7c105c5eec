//! scratch
fn main() {
    let bytes = std::fs::read(std::env::args().nth(1).unwrap()).unwrap();
    let history = fozzy_check::OperationHistory::read(&bytes).unwrap();
    let calls = fozzy_check::pair_calls(&history).unwrap();
    println!(
        "{} operations {} calls {} MB input {} MB history",
        history.operations.len(),
        calls.len(),
        bytes.len() >> 20,
        history.bytes() >> 20
    );
}
