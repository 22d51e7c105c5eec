// Memory holds across calls of the host: see holds.c. Go's allocator owns all of the memory, and its collector moves nothing.
package main

import (
	"crypto/rand"
	"io"
	"os"
	"runtime"
	"strconv"
	"time"
)

const (
	blockCount = 64
	rounds     = 60
	fullBytes  = 2 << 20
)

type block struct {
	bytes []byte
	seed  byte
}

var (
	blocks [blockCount]block
	full   []block
	state  uint64
	folder = "/"
	calls  int
)

func draw(below int) int {
	state = state*6364136223846793005 + 1442695040888963407
	return int(state>>33) % below
}

func newBlock(size int) block {
	b := block{make([]byte, size), byte(draw(256))}
	for at := range b.bytes {
		b.bytes[at] = b.pattern(at)
	}
	return b
}

func (b *block) pattern(at int) byte { return b.seed + byte(at*31+at>>8) }

func corrupt(what string, at, size int, after string) {
	os.Stderr.WriteString("corrupt: " + what + " at " + strconv.Itoa(at) + " of " + strconv.Itoa(size) + ", after " + after + "\n")
	os.Exit(3)
}

func (b *block) check(number int, after string) {
	for at, found := range b.bytes {
		if found != b.pattern(at) {
			corrupt("block "+strconv.Itoa(number), at, len(b.bytes), after)
		}
	}
}

func check(after string) {
	for number := range blocks {
		blocks[number].check(number, after)
	}
	for number := range full {
		full[number].check(blockCount+number, after)
	}
}

// A buffer for what the host writes, with a border that it must not touch.
func room(size int, use func([]byte), after string) {
	border := newBlock(size + 128)
	use(border.bytes[64 : 64+size])
	for at, found := range border.bytes {
		if (at < 64 || at >= 64+size) && found != border.pattern(at) {
			corrupt("border", at, size, after)
		}
	}
}

func files() {
	size := 1 + draw(20000)
	file, err := os.OpenFile(folder+"/held", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return
	}
	defer file.Close()
	room(size, func(b []byte) { file.Write(b) }, "write")
	room(size, func(b []byte) { file.WriteAt(b, int64(draw(100))) }, "pwrite")
	file.Seek(int64(draw(50)), io.SeekStart)
	room(size, func(b []byte) { file.Read(b) }, "read")
	room(size, func(b []byte) { file.ReadAt(b, int64(draw(50))) }, "pread")
	file.Sync()
	file.Truncate(int64(draw(30000)))
	file.Stat()
}

func paths() {
	name := func(name string) string { return folder + "/" + name }
	os.Mkdir(name("under"), 0o755)
	os.Stat(name("held"))
	os.Lstat(name("none"))
	os.Rename(name("held"), name("moved"))
	os.Symlink("moved", name("link"))
	os.Link(name("moved"), name("hard"))
	os.Readlink(name("link"))
	os.Chtimes(name("moved"), time.Unix(1, 0), time.Unix(2, 0))
	for _, gone := range []string{"link", "hard", "moved", "under"} {
		os.Remove(name(gone))
	}
}

var kinds = []struct {
	name string
	call func()
}{
	{"readdir", func() { os.ReadDir(folder) }},
	{"files", files},
	{"paths", paths},
	{"clocks", func() { time.Sleep(time.Duration(draw(2000000))); time.Now() }},
	{"random", func() { room(1+draw(256), func(b []byte) { rand.Read(b) }, "random_get") }},
	{"args", func() { os.Environ(); os.Getenv("HOME") }},
	{"collection", runtime.GC},
	// Timers of several goroutines end in one poll.
	{"poll", func() {
		done := make(chan int)
		for n := 0; n < 20; n++ {
			go func() { time.Sleep(time.Duration(1 + n%3)); done <- n }()
		}
		for n := 0; n < 20; n++ {
			<-done
		}
	}},
	{"output", func() { os.Stdout.WriteString(".") }},
}

func call(kind int) {
	kind %= len(kinds)
	kinds[kind].call()
	calls++
	check(kinds[kind].name)
}

func main() {
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	var seed [8]byte
	rand.Read(seed[:])
	for _, part := range seed {
		state = state<<8 | uint64(part)
	}
	for round := 0; round < rounds; round++ {
		place := &blocks[draw(blockCount)]
		*place = newBlock(1 + draw(16<<draw(10)) + len(place.bytes)/2)
		call(round)
	}
	// More than there was.
	for held := 0; held < fullBytes; held += len(full[len(full)-1].bytes) {
		full = append(full, newBlock([]int{65520, 200 << 10, 400 << 10}[draw(3)]))
		if len(full)%3 == 0 {
			call(len(full) / 3)
		}
	}
	for kind := range kinds {
		call(kind)
	}
	os.Stdout.WriteString("\nheld " + strconv.Itoa(calls) + " calls\n")
}
