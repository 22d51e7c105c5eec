//! Memory holds across calls of the host: see `holds.c`. WASI's functions as they are, and the allocators of the standard library.
const std = @import("std");
const wasi = std.os.wasi;

const block_count = 48;
const full_count = 12;
const rounds = 72;
const root: wasi.fd_t = 3;

const Block = struct {
    bytes: []u8 = &.{},
    seed: u8 = 0,

    fn pattern(self: Block, at: usize) u8 {
        return self.seed +% @as(u8, @truncate(at *% 31 +% (at >> 8)));
    }

    fn fill(self: Block) void {
        for (self.bytes, 0..) |*byte, at| byte.* = self.pattern(at);
    }

    fn check(self: Block, from: usize, to: usize) void {
        for (self.bytes[from..to], from..) |byte, at| {
            if (byte != self.pattern(at)) {
                say(2, "corrupt: a block has another byte\n");
                wasi.proc_exit(3);
            }
        }
    }
};

var blocks: [block_count + full_count]Block = @splat(.{});
var state: u64 = 1;
var calls: u32 = 0;

fn draw(below: usize) usize {
    state = state *% 6364136223846793005 +% 1442695040888963407;
    return @intCast((state >> 33) % below);
}

fn say(fd: wasi.fd_t, text: []const u8) void {
    var written: usize = 0;
    const buffers = [_]std.posix.iovec_const{.{ .base = text.ptr, .len = text.len }};
    _ = wasi.fd_write(fd, &buffers, 1, &written);
}

/// Another size, of the allocator that gives pages or the one that gives slots.
fn change(number: usize, size: usize) void {
    const allocator = if (number % 2 == 0) std.heap.page_allocator else std.heap.wasm_allocator;
    const block = &blocks[number];
    const kept = @min(block.bytes.len, size);
    block.bytes = allocator.realloc(block.bytes, size) catch return;
    block.check(0, kept);
    block.seed = @intCast(draw(256));
    block.fill();
}

/// A buffer for what the host writes, with a border that it must not touch.
fn room(size: usize) Block {
    const block = Block{ .bytes = std.heap.wasm_allocator.alloc(u8, size + 128) catch wasi.proc_exit(4), .seed = 7 };
    block.fill();
    return block;
}

fn leave(block: Block) void {
    block.check(0, 64);
    block.check(block.bytes.len - 64, block.bytes.len);
    std.heap.wasm_allocator.free(block.bytes);
}

fn inner(block: Block) []u8 {
    return block.bytes[64 .. block.bytes.len - 64];
}

fn open(name: []const u8, flags: wasi.oflags_t) ?wasi.fd_t {
    var rights: wasi.rights_t = .{};
    inline for (.{ "FD_READ", "FD_WRITE", "FD_SEEK", "FD_SYNC", "FD_READDIR", "FD_FILESTAT_GET", "FD_FILESTAT_SET_SIZE" }) |right| @field(rights, right) = true;
    if (flags.DIRECTORY) rights.FD_WRITE = false;
    var fd: wasi.fd_t = undefined;
    const errno = wasi.path_open(root, .{}, name.ptr, name.len, flags, rights, rights, .{}, &fd);
    return if (errno == .SUCCESS) fd else null;
}

fn files() void {
    const fd = open("held", .{ .CREAT = true, .TRUNC = true }) orelse return;
    const held = room(1 + draw(20000));
    defer leave(held);
    const bytes = inner(held);
    var done: usize = 0;
    var position: wasi.filesize_t = 0;
    const out = [_]std.posix.iovec_const{.{ .base = bytes.ptr, .len = bytes.len }};
    const in = [_]std.posix.iovec{.{ .base = bytes.ptr, .len = bytes.len }};
    _ = wasi.fd_write(fd, &out, 1, &done);
    _ = wasi.fd_pwrite(fd, &out, 1, draw(100), &done);
    _ = wasi.fd_seek(fd, @intCast(draw(50)), .SET, &position);
    _ = wasi.fd_read(fd, &in, 1, &done);
    _ = wasi.fd_pread(fd, &in, 1, draw(50), &done);
    _ = wasi.fd_tell(fd, &position);
    _ = wasi.fd_sync(fd);
    _ = wasi.fd_filestat_set_size(fd, draw(30000));
    var stat: wasi.filestat_t = undefined;
    _ = wasi.fd_filestat_get(fd, &stat);
    _ = wasi.fd_close(fd);
}

fn paths() void {
    const text = room(1 + draw(12));
    defer leave(text);
    var stat: wasi.filestat_t = undefined;
    var used: usize = 0;
    _ = wasi.path_create_directory(root, "under", 5);
    _ = wasi.path_filestat_get(root, .{}, "held", 4, &stat);
    _ = wasi.path_rename(root, "held", 4, root, "moved", 5);
    _ = wasi.path_symlink("moved", 5, root, "link", 4);
    _ = wasi.path_link(root, .{}, "moved", 5, root, "hard", 4);
    _ = wasi.path_readlink(root, "link", 4, inner(text).ptr, inner(text).len, &used);
    for ([_][]const u8{ "link", "hard", "moved" }) |name| _ = wasi.path_unlink_file(root, name.ptr, name.len);
    _ = wasi.path_remove_directory(root, "under", 5);
}

fn list() void {
    const listed = room(1 + draw(400));
    defer leave(listed);
    var used: usize = 0;
    _ = wasi.fd_readdir(root, inner(listed).ptr, inner(listed).len, 0, &used);
}

fn clocks() void {
    var time: wasi.timestamp_t = 0;
    _ = wasi.clock_time_get(.REALTIME, 1, &time);
    _ = wasi.clock_res_get(.MONOTONIC, &time);
    _ = wasi.sched_yield();
}

fn poll() void {
    var asked: [100]wasi.subscription_t = undefined;
    var events: [100]wasi.event_t = undefined;
    for (&asked, 0..) |*subscription, at| subscription.* = .{
        .userdata = at,
        .u = .{ .tag = .CLOCK, .u = .{ .clock = .{ .id = .MONOTONIC, .timeout = 1000 * (1 + draw(3)), .precision = 0, .flags = 0 } } },
    };
    var ready: usize = 0;
    _ = wasi.poll_oneoff(&asked[0], &events[0], 1 + draw(100), &ready);
}

fn entropy() void {
    const drawn = room(1 + draw(256));
    defer leave(drawn);
    _ = wasi.random_get(inner(drawn).ptr, inner(drawn).len);
}

fn words() void {
    var count: usize = 0;
    var size: usize = 0;
    var list_of_words: [32][*:0]u8 = undefined;
    if (wasi.args_sizes_get(&count, &size) == .SUCCESS) {
        const texts = room(size);
        _ = wasi.args_get(&list_of_words, inner(texts).ptr);
        leave(texts);
    }
    if (wasi.environ_sizes_get(&count, &size) == .SUCCESS) {
        const texts = room(size);
        _ = wasi.environ_get(&list_of_words, inner(texts).ptr);
        leave(texts);
    }
}

fn output() void {
    say(1, ".");
}

const kinds = [_]*const fn () void{ list, files, paths, clocks, poll, entropy, words, output };

fn call(kind: usize) void {
    kinds[kind % kinds.len]();
    calls += 1;
    for (blocks) |block| block.check(0, block.bytes.len);
}

pub fn main() void {
    _ = wasi.random_get(@ptrCast(&state), 8);
    for (0..rounds) |round| {
        const number = draw(block_count);
        change(number, 1 + draw(@as(usize, 16) << @intCast(draw(10))) + blocks[number].bytes.len / 2);
        call(round);
    }
    // More than there was.
    for (0..full_count) |number| {
        change(block_count + number, if (draw(2) == 0) 65520 else 200 << 10);
        if (number % 3 == 0) call(number / 3);
    }
    for (0..kinds.len) |kind| call(kind);
    say(1, "\nheld\n");
}
