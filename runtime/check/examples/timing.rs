//! scratch
fn main() {
    let model = std::env::args().nth(1).unwrap();
    let rounds: u32 = std::env::args().nth(2).unwrap().parse().unwrap();
    let mut counts = [0; 3];
    let mut names = String::new();
    let files: Vec<String> = std::env::args().skip(3).collect();
    let read: Vec<_> =
        files.iter().map(|f| fozzy_check::OperationHistory::read(&std::fs::read(f).unwrap()).unwrap()).collect();
    let t = std::time::Instant::now();
    for _ in 0..rounds {
        counts = [0; 3];
        names.clear();
        for (f, history) in files.iter().zip(&read) {
            let row = fozzy_check::model(&model).unwrap();
            let v = fozzy_check::check_linearizability(history, row, &Default::default()).unwrap();
            counts[v.validity as usize] += 1;
            names += &format!(
                "{} {:?} {}\n",
                f.rsplit('/').next().unwrap(),
                v.validity,
                v.partitions.iter().map(|p| p.configurations).sum::<usize>()
            );
        }
    }
    println!("{} ms a round {counts:?}", t.elapsed().as_secs_f64() * 1e3 / f64::from(rounds));
    if std::env::var("NAMES").is_ok() {
        print!("{names}");
    }
}
