//! A library: some flows keep memory, some give it back, and one forgets where it is.

use fozzy_sdk::prelude::*;

#[derive(Default)]
struct Library {
    lent: Vec<Box<[u8; 100]>>,
}

#[scenario]
impl Library {
    #[flow]
    fn lend(&mut self) {
        self.lent.push(Box::new([1; 100]));
    }

    #[flow]
    fn give_back(&mut self) {
        self.lent.pop();
    }

    #[flow]
    fn copy(&mut self) {
        let copied = vec![self.lent.len() as u8; 50];
        always!(std::hint::black_box(&copied).len() == 50, "a copy is whole");
    }

    #[flow]
    fn lose(&mut self) {
        std::mem::forget(std::hint::black_box(vec![0_u8; 700]));
    }
}
