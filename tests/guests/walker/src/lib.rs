//! Walker: each call of `step` changes one kind of state, and answers with what it saw.
//!
//! ```text
//! step(kind, value)   maps, files and sockets kept open, memory that grows, randomness, time, output
//! nop(n)              answers n + 1
//! host-calls(n)       reads the clock n times
//! reserve(mib)        makes an area of that size, every page of it written
//! dirty(pages, at)    writes one byte in each of so many pages of the area, from page `at` on
//! ```

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, UdpSocket};
use std::sync::Mutex;
use std::time::Instant;

wit_bindgen::generate!({
    inline: "
        package test:walker;
        world walker {
            export step: func(kind: u32, value: u32) -> string;
            export kinds: func() -> u32;
            export nop: func(n: u32) -> u32;
            export host-calls: func(n: u32) -> u64;
            export reserve: func(mib: u32);
            export dirty: func(pages: u32, at: u32) -> u32;
        }
    ",
});

const PAGE: usize = 4096;
/// Things kept open of each kind, at the most.
const OPEN_MAX: usize = 12;

#[derive(Default)]
struct State {
    map: HashMap<u32, Vec<u8>>,
    files: Vec<File>,
    listeners: Vec<TcpListener>,
    sockets: Vec<UdpSocket>,
    blocks: Vec<Vec<u8>>,
    area: Vec<u8>,
    started: Option<Instant>,
    steps: u64,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

fn with<R>(body: impl FnOnce(&mut State) -> R) -> R {
    body(STATE.lock().expect("one thread, and panics end it").get_or_insert_default())
}

type Kind = fn(&mut State, u32) -> String;

const KINDS: &[Kind] = &[
    |state, value| {
        state.map.insert(value, value.to_le_bytes().repeat(1 + value as usize % 700));
        let order: Vec<&u32> = state.map.keys().take(4).collect();
        format!("{} entries, {order:?}", state.map.len())
    },
    |state, value| {
        let gone = state.map.remove(&value).map(|bytes| bytes.len());
        format!("removed {gone:?} of {}", state.map.len())
    },
    |state, value| {
        println!("step {} with {value}", state.steps);
        format!("printed at {}", state.steps)
    },
    |state, value| {
        if state.files.len() == OPEN_MAX {
            state.files.remove(value as usize % OPEN_MAX);
        }
        let name = format!("/f{}", value % 5);
        let opened = fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&name);
        let shown = format!("{name}: {:?}", opened.as_ref().map(drop).map_err(|error| error.kind()));
        state.files.extend(opened.ok());
        shown
    },
    |state, value| {
        let Some(file) = pick(&mut state.files, value) else { return "no file".to_owned() };
        format!("wrote {:?}", file.write(&value.to_le_bytes().repeat(9)).map_err(|error| error.kind()))
    },
    |state, value| {
        let Some(file) = pick(&mut state.files, value) else { return "no file".to_owned() };
        let mut text = Vec::new();
        let read = file.seek(SeekFrom::Start(u64::from(value % 16))).and_then(|_| file.read_to_end(&mut text));
        format!("read {:?} {:?}", read.map_err(|error| error.kind()), &text[..text.len().min(8)])
    },
    |state, value| {
        if state.files.is_empty() {
            return "no file to close".to_owned();
        }
        let place = value as usize % state.files.len();
        state.files.remove(place);
        format!("closed, {} open", state.files.len())
    },
    |_, _| {
        let names = fs::read_dir("/").map(|entries| entries.flatten().map(|entry| entry.file_name()).collect::<Vec<_>>());
        format!("{:?}", names.map_err(|error| error.kind()))
    },
    |_, _| {
        let seen: HashMap<u8, u8> = (0..4).map(|n| (n, n)).collect();
        format!("random order {:?}", seen.keys().collect::<Vec<_>>())
    },
    |state, value| {
        std::thread::sleep(std::time::Duration::from_micros(u64::from(value % 5000)));
        let started = *state.started.get_or_insert_with(Instant::now);
        format!("{:?} since the first sleep", started.elapsed())
    },
    |state, value| {
        if state.listeners.len() == OPEN_MAX {
            state.listeners.remove(value as usize % OPEN_MAX);
        }
        let bound = TcpListener::bind(("127.0.0.1", 1000 + (value % 9) as u16));
        let shown = format!("{:?}", bound.as_ref().map(|_| ()).map_err(|error| error.kind()));
        state.listeners.extend(bound.ok());
        shown
    },
    |state, value| {
        if state.sockets.len() > 3 {
            let place = value as usize % state.sockets.len();
            state.sockets.swap_remove(place);
        }
        let bound = UdpSocket::bind("127.0.0.1:0");
        let shown = format!("{:?}", bound.as_ref().map(|_| ()).map_err(|error| error.kind()));
        state.sockets.extend(bound.ok());
        shown
    },
    |state, value| {
        state.blocks.push(vec![value as u8; 1 + value as usize % (300 << 10)]);
        format!("{} blocks", state.blocks.len())
    },
    |state, _| {
        let gone = state.blocks.pop().map(|block| block.iter().map(|byte| u64::from(*byte)).sum::<u64>());
        format!("sum {gone:?}")
    },
    |state, value| {
        for block in &mut state.blocks {
            let middle = block.len() / 2;
            block[middle..].fill(value as u8);
            block.rotate_left(value as usize % (middle + 1));
        }
        format!("filled {}", state.blocks.len())
    },
];

fn pick<T>(list: &mut [T], value: u32) -> Option<&mut T> {
    let place = (value as usize).checked_rem(list.len())?;
    list.get_mut(place)
}

struct Walker;

impl Guest for Walker {
    fn step(kind: u32, value: u32) -> String {
        with(|state| {
            state.steps += 1;
            match KINDS.get(kind as usize) {
                Some(body) => body(state, value),
                // Beyond the table: the ways to end.
                None if kind as usize == KINDS.len() => panic!("asked to panic with {value}"),
                None if kind as usize == KINDS.len() + 1 => core::arch::wasm32::unreachable(),
                None if kind as usize == KINDS.len() + 2 => std::process::exit(value as i32 % 256),
                None => loop {
                    state.steps = std::hint::black_box(state.steps + 1);
                },
            }
        })
    }

    fn kinds() -> u32 {
        KINDS.len() as u32
    }

    fn nop(n: u32) -> u32 {
        n.wrapping_add(1)
    }

    fn host_calls(n: u32) -> u64 {
        let clock = Instant::now();
        (0..n).map(|_| clock.elapsed().subsec_nanos() as u64).sum()
    }

    fn reserve(mib: u32) {
        with(|state| state.area = (0..(mib as usize) << 20).map(|at| (at / PAGE) as u8 | 1).collect());
    }

    fn dirty(pages: u32, at: u32) -> u32 {
        with(|state| {
            let count = state.area.len() / PAGE;
            let mut sum = 0_u32;
            for page in 0..pages as usize {
                let byte = &mut state.area[(at as usize + page) % count * PAGE + 17];
                *byte = byte.wrapping_add(1);
                sum = sum.wrapping_add(u32::from(*byte));
            }
            sum
        })
    }
}

export!(Walker);
