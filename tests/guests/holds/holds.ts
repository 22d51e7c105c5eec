// Memory holds across calls of the host: see holds.c. AssemblyScript's allocator owns all of the memory, and collects garbage.
@external("wasi_snapshot_preview1", "fd_write") declare function fd_write(fd: u32, list: usize, count: u32, done: usize): u32;
@external("wasi_snapshot_preview1", "fd_read") declare function fd_read(fd: u32, list: usize, count: u32, done: usize): u32;
@external("wasi_snapshot_preview1", "fd_seek") declare function fd_seek(fd: u32, by: i64, whence: u32, at: usize): u32;
@external("wasi_snapshot_preview1", "fd_close") declare function fd_close(fd: u32): u32;
@external("wasi_snapshot_preview1", "fd_filestat_get") declare function fd_filestat_get(fd: u32, stat: usize): u32;
@external("wasi_snapshot_preview1", "fd_readdir")
declare function fd_readdir(fd: u32, at: usize, length: u32, cookie: u64, used: usize): u32;
@external("wasi_snapshot_preview1", "path_open")
declare function path_open(fd: u32, lookup: u32, path: usize, length: u32, open: u32, base: u64, inheriting: u64, flags: u32, opened: usize): u32;
@external("wasi_snapshot_preview1", "path_filestat_get")
declare function path_filestat_get(fd: u32, lookup: u32, path: usize, length: u32, stat: usize): u32;
@external("wasi_snapshot_preview1", "path_rename")
declare function path_rename(fd: u32, path: usize, length: u32, to: u32, name: usize, name_length: u32): u32;
@external("wasi_snapshot_preview1", "path_unlink_file") declare function path_unlink_file(fd: u32, path: usize, length: u32): u32;
@external("wasi_snapshot_preview1", "clock_time_get") declare function clock_time_get(id: u32, precision: u64, time: usize): u32;
@external("wasi_snapshot_preview1", "random_get") declare function random_get(at: usize, length: u32): u32;
@external("wasi_snapshot_preview1", "poll_oneoff") declare function poll_oneoff(asked: usize, events: usize, count: u32, ready: usize): u32;
@external("wasi_snapshot_preview1", "args_sizes_get") declare function args_sizes_get(count: usize, size: usize): u32;
@external("wasi_snapshot_preview1", "args_get") declare function args_get(list: usize, texts: usize): u32;
@external("wasi_snapshot_preview1", "environ_sizes_get") declare function environ_sizes_get(count: usize, size: usize): u32;
@external("wasi_snapshot_preview1", "environ_get") declare function environ_get(list: usize, texts: usize): u32;
@external("wasi_snapshot_preview1", "proc_exit") declare function proc_exit(code: u32): void;

const ROOT: u32 = 3;
const BLOCKS: i32 = 64;
const ROUNDS: i32 = 48;
const FULL: i32 = 12;
const KINDS: i32 = 8;

// Where the host writes numbers: outside of what is collected.
const scratch = memory.data(64);
let state: u64 = 1;

function draw(below: i32): i32 {
  state = state * 6364136223846793005 + 1442695040888963407;
  return <i32>((state >> 33) % <u64>below);
}

function say(fd: u32, text: string): void {
  const bytes = Uint8Array.wrap(String.UTF8.encode(text));
  store<usize>(scratch, bytes.dataStart);
  store<u32>(scratch + 4, bytes.length);
  fd_write(fd, scratch, 1, scratch + 8);
}

function corrupt(what: string): void {
  say(2, "corrupt: " + what + "\n");
  proc_exit(3);
}

class Block {
  bytes: Uint8Array;
  seed: u8;

  constructor(size: i32) {
    this.bytes = new Uint8Array(size);
    this.seed = <u8>draw(256);
    for (let at = 0; at < size; at++) unchecked((this.bytes[at] = this.pattern(at)));
  }

  pattern(at: i32): u8 {
    return <u8>(this.seed + at * 31 + (at >> 8));
  }

  check(from: i32, to: i32, after: string): void {
    for (let at = from; at < to; at++) {
      if (unchecked(this.bytes[at]) != this.pattern(at)) corrupt("block of " + this.bytes.length.toString() + " at " + at.toString() + " after " + after);
    }
  }

  // As a buffer for the host, with borders that it must not touch.
  get inner(): usize {
    return this.bytes.dataStart + 64;
  }

  checkBorders(after: string): void {
    this.check(0, 64, after);
    this.check(this.bytes.length - 64, this.bytes.length, after);
  }
}

const blocks = new Array<Block>();

function path(name: string): ArrayBuffer {
  return String.UTF8.encode(name);
}

function files(): void {
  const name = path("held");
  // Created and truncated; every right of files.
  if (path_open(ROOT, 0, changetype<usize>(name), name.byteLength, 9, 0x0600066, 0, 0, scratch)) return;
  const fd = load<u32>(scratch);
  const size = 1 + draw(20000);
  const held = new Block(size + 128);
  store<usize>(scratch, held.inner);
  store<u32>(scratch + 4, size);
  fd_write(fd, scratch, 1, scratch + 8);
  fd_seek(fd, draw(50), 0, scratch + 8);
  fd_read(fd, scratch, 1, scratch + 8);
  held.checkBorders("fd_read");
  const stat = new Block(64 + 128);
  fd_filestat_get(fd, stat.inner);
  stat.checkBorders("fd_filestat_get");
  fd_close(fd);
}

function paths(): void {
  const held = path("held"), moved = path("moved");
  const stat = new Block(64 + 128);
  path_filestat_get(ROOT, 0, changetype<usize>(held), held.byteLength, stat.inner);
  stat.checkBorders("path_filestat_get");
  path_rename(ROOT, changetype<usize>(held), held.byteLength, ROOT, changetype<usize>(moved), moved.byteLength);
  path_unlink_file(ROOT, changetype<usize>(moved), moved.byteLength);
}

function list(): void {
  const size = 1 + draw(400);
  const listed = new Block(size + 128);
  fd_readdir(ROOT, listed.inner, size, 0, scratch);
  listed.checkBorders("fd_readdir");
}

function poll(): void {
  const count = 1 + draw(200);
  // `subscription` has 48 bytes, `event` 32; of a clock, the deadline is at 24.
  const asked = new StaticArray<u64>(count * 6);
  for (let at = 0; at < count; at++) {
    asked[at * 6 + 2] = 1;
    asked[at * 6 + 3] = 1000 * (1 + draw(3));
  }
  const events = new Block(count * 32 + 128 + 8);
  poll_oneoff(changetype<usize>(asked), (events.inner + 7) & ~7, count, scratch);
  events.checkBorders("poll_oneoff");
}

function entropy(): void {
  const size = 1 + draw(256);
  const drawn = new Block(size + 128);
  random_get(drawn.inner, size);
  drawn.checkBorders("random_get");
}

function words(isArguments: bool): void {
  if (isArguments ? args_sizes_get(scratch, scratch + 4) : environ_sizes_get(scratch, scratch + 4)) return;
  const addresses = new StaticArray<u32>(load<i32>(scratch));
  const texts = new Block(load<i32>(scratch + 4) + 128);
  if (isArguments) args_get(changetype<usize>(addresses), texts.inner);
  else environ_get(changetype<usize>(addresses), texts.inner);
  texts.checkBorders("args and environment");
}

function call(number: i32): void {
  const kind = number % KINDS;
  if (kind == 0) list();
  else if (kind == 1) files();
  else if (kind == 2) paths();
  else if (kind == 3) clock_time_get(1, 0, scratch);
  else if (kind == 4) poll();
  else if (kind == 5) entropy();
  else if (kind == 6) words(true), words(false);
  else say(1, ".");
  for (let at = 0; at < blocks.length; at++) blocks[at].check(0, blocks[at].bytes.length, "kind " + kind.toString());
}

random_get(scratch, 8);
state = load<u64>(scratch);
for (let round = 0; round < ROUNDS; round++) {
  const place = draw(BLOCKS);
  const old = place < blocks.length ? blocks[place].bytes.length : 0;
  const block = new Block(1 + draw(16 << draw(10)) + old / 2);
  if (place < blocks.length) blocks[place] = block;
  else blocks.push(block);
  call(round);
}
// More than there was.
for (let number = 0; number < FULL; number++) {
  blocks.push(new Block(draw(2) ? 65520 : 200 << 10));
  if (number % 3 == 0) call(number / 3);
}
for (let kind = 0; kind < KINDS; kind++) call(kind);
say(1, "\nheld " + memory.size().toString() + " pages\n");
