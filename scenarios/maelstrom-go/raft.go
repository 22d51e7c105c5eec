//go:build raft

// A key-value store for the workload lin-kv, whose nodes agree by etcd's raft package as it is published:
//
//	client ── write, cas ──▶ n0 ── propose ────▶ the log of a majority ── applied ────────▶ n0 ── write_ok ──▶ client
//	       ── read ────────▶ n0 ── read index ─▶ the leader is one still ── applied so far ─▶ n0 ── read_ok ──▶
//
// What the package wants to be durable is written to a file and synchronised before a message goes out that relies on it.
//
// A fault is planted by the program's argument: `lost-vote` forgets at a restart in which term it is, and whom it has voted for; `stale-read` has
// a leader answer reads without asking whether it is one still; `no-fsync` does not synchronise.
package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"

	"go.etcd.io/etcd/raft"
	"go.etcd.io/etcd/raft/raftpb"
)

const (
	// The unit of Raft's time.
	tick = 50 * time.Millisecond
	// After how many ticks a leader is asked again for a read, and when a read is given up.
	askedAgain = 10
	givenUp    = 40

	temporarilyUnavailable = 11
)

// A read is one that has no answer yet.
type read struct {
	message Message
	// In ticks.
	waited int
	// What must be applied before it is answered, once a majority has confirmed the leader.
	index     uint64
	confirmed bool
}

// A change is what stands in an entry: done once, however often it is proposed.
type change struct {
	Ticket string
	Body   Body
}

// A replica is one node's part in it.
type replica struct {
	mutex   sync.Mutex
	planted string
	raft    *raft.RawNode
	storage *raft.MemoryStorage
	disk    *os.File
	// Names by number: n0 is 1.
	names map[uint64]string
	// What no other start of a node has.
	start string
	asked int
	// Requests that wait, by ticket.
	changes map[string]Message
	reads   map[string]*read
	applied uint64
	done    map[string]bool
	values  map[string]any
}

// A record of the log: length (u32), checksum (u32), kind (u8), and an entry or a state.
const (
	entryRecord = 1
	stateRecord = 2
	recordHead  = 9
)

// open reads what the disk knows. A record that is torn was never synchronised.
func (r *replica) open() (entries []raftpb.Entry, state raftpb.HardState, err error) {
	r.disk, err = os.OpenFile("/raft.log", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return
	}
	bytes, err := io.ReadAll(r.disk)
	if err != nil {
		return
	}
	whole := 0
	for len(bytes)-whole >= recordHead {
		head := bytes[whole : whole+recordHead]
		end := whole + recordHead + int(binary.LittleEndian.Uint32(head))
		if end > len(bytes) || crc32.ChecksumIEEE(bytes[whole+recordHead-1:end]) != binary.LittleEndian.Uint32(head[4:]) {
			break
		}
		body := bytes[whole+recordHead : end]
		if head[8] == entryRecord {
			var entry raftpb.Entry
			if err = entry.Unmarshal(body); err != nil {
				return
			}
			// An entry replaces those of its index and above.
			from := sort.Search(len(entries), func(at int) bool { return entries[at].Index >= entry.Index })
			entries = append(entries[:from], entry)
		} else if err = state.Unmarshal(body); err != nil {
			return
		}
		whole = end
	}
	if err = r.disk.Truncate(int64(whole)); err != nil {
		return
	}
	_, err = r.disk.Seek(int64(whole), io.SeekStart)
	return
}

// keep has entries and a state on the disk.
func (r *replica) keep(entries []raftpb.Entry, state raftpb.HardState) error {
	var bytes []byte
	record := func(kind byte, body []byte, err error) {
		if err != nil {
			panic(err)
		}
		checked := append([]byte{kind}, body...)
		bytes = binary.LittleEndian.AppendUint32(bytes, uint32(len(body)))
		bytes = binary.LittleEndian.AppendUint32(bytes, crc32.ChecksumIEEE(checked))
		bytes = append(bytes, checked...)
	}
	for _, entry := range entries {
		body, err := entry.Marshal()
		record(entryRecord, body, err)
	}
	if !raft.IsEmptyHardState(state) {
		body, err := state.Marshal()
		record(stateRecord, body, err)
	}
	if len(bytes) == 0 {
		return nil
	}
	if _, err := r.disk.Write(bytes); err != nil || r.planted == "no-fsync" {
		return err
	}
	return r.disk.Sync()
}

// number is that of a node: n0 is 1.
func number(name string) uint64 {
	at, err := strconv.ParseUint(name[1:], 10, 32)
	if err != nil {
		panic(err)
	}
	return at + 1
}

func (r *replica) begin() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	entries, state, err := r.open()
	if err != nil {
		return err
	}
	if r.planted == "lost-vote" {
		state.Term, state.Vote = 0, 0
	}
	id := number(node.ID())
	r.names = map[uint64]string{id: node.ID()}
	for _, name := range node.Others() {
		r.names[number(name)] = name
	}
	var voters []uint64
	for id := range r.names {
		voters = append(voters, id)
	}
	sort.Slice(voters, func(a, b int) bool { return voters[a] < voters[b] })
	// All begin with the same nodes, as if each had this snapshot.
	r.storage = raft.NewMemoryStorage()
	first := raftpb.SnapshotMetadata{Index: 1, Term: 1, ConfState: raftpb.ConfState{Voters: voters}}
	if err := r.storage.ApplySnapshot(raftpb.Snapshot{Metadata: first}); err != nil {
		return err
	}
	if err := r.storage.Append(entries); err != nil {
		return err
	}
	last, err := r.storage.LastIndex()
	if err != nil {
		return err
	}
	state.Commit = max(1, min(state.Commit, last))
	if err := r.storage.SetHardState(state); err != nil {
		return err
	}
	r.applied = 1
	r.raft, err = raft.NewRawNode(&raft.Config{
		ID:              id,
		ElectionTick:    10,
		HeartbeatTick:   2,
		Storage:         r.storage,
		Applied:         1,
		MaxSizePerMsg:   1 << 16,
		MaxInflightMsgs: 64,
		// A leader that nobody confirms steps down, so that one that answers by itself is wrong for a while only.
		CheckQuorum:    r.planted != "stale-read",
		ReadOnlyOption: raft.ReadOnlySafe,
		Logger:         &raft.DefaultLogger{Logger: log.New(io.Discard, "", 0)},
	})
	return err
}

// run does something to the replica, and then all that is ready.
func (r *replica) run(with func() error) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.raft == nil {
		return &RPCError{temporarilyUnavailable, "the node begins"}
	}
	err := with()
	for r.raft.HasReady() {
		ready := r.raft.Ready()
		if err := r.keep(ready.Entries, ready.HardState); err != nil {
			log.Fatal(err)
		}
		if err := r.storage.Append(ready.Entries); err != nil {
			log.Fatal(err)
		}
		if !raft.IsEmptyHardState(ready.HardState) {
			if err := r.storage.SetHardState(ready.HardState); err != nil {
				log.Fatal(err)
			}
		}
		for _, message := range ready.Messages {
			r.send(message)
		}
		for _, state := range ready.ReadStates {
			if of := r.reads[string(state.RequestCtx)]; of != nil {
				of.index, of.confirmed = state.Index, true
			}
		}
		for _, entry := range ready.CommittedEntries {
			r.apply(entry)
		}
		r.raft.Advance(ready)
	}
	for _, ticket := range r.tickets() {
		if of := r.reads[ticket]; of.confirmed && of.index <= r.applied {
			delete(r.reads, ticket)
			r.answer(of.message)
		}
	}
	return err
}

// tickets are those of the reads, the first one first: a map has no order.
func (r *replica) tickets() []string {
	all := make([]string, 0, len(r.reads))
	for ticket := range r.reads {
		all = append(all, ticket)
	}
	sort.Strings(all)
	return all
}

func (r *replica) ticket() string {
	r.asked++
	return fmt.Sprintf("%s %09d", r.start, r.asked)
}

func (r *replica) send(message raftpb.Message) {
	bytes, err := message.Marshal()
	if err != nil {
		panic(err)
	}
	_ = node.Send(r.names[message.To], Body{"type": "raft", "message": base64.StdEncoding.EncodeToString(bytes)})
}

func (r *replica) hear(message Message) error {
	text, _ := message.Body["message"].(string)
	bytes, err := base64.StdEncoding.DecodeString(text)
	var heard raftpb.Message
	if err == nil {
		err = heard.Unmarshal(bytes)
	}
	if err != nil {
		return err
	}
	err = r.run(func() error {
		// One of an older term is refused, and that is all.
		_ = r.raft.Step(heard)
		return nil
	})
	if Code(err) == temporarilyUnavailable {
		// Raft sends it again.
		return nil
	}
	return err
}

func (r *replica) tick() {
	_ = r.run(func() error {
		r.raft.Tick()
		for _, ticket := range r.tickets() {
			of := r.reads[ticket]
			of.waited++
			if of.waited == givenUp {
				delete(r.reads, ticket)
				text := "no leader has confirmed it"
				_ = node.Reply(of.message, Body{"type": "error", "code": temporarilyUnavailable, "text": text})
			} else if of.waited%askedAgain == 0 {
				r.raft.ReadIndex([]byte(ticket))
			}
		}
		return nil
	})
}

func (r *replica) read(message Message) error {
	return r.run(func() error {
		if r.planted == "stale-read" && r.raft.Status().RaftState == raft.StateLeader {
			r.answer(message)
			return nil
		}
		ticket := r.ticket()
		r.reads[ticket] = &read{message: message}
		r.raft.ReadIndex([]byte(ticket))
		return nil
	})
}

func (r *replica) answer(message Message) {
	value, ok := r.values[fmt.Sprint(message.Body["key"])]
	if !ok {
		_ = node.Reply(message, Body{"type": "error", "code": KeyDoesNotExist, "text": "no such key"})
		return
	}
	_ = node.Reply(message, Body{"type": "read_ok", "value": value})
}

func (r *replica) change(message Message) error {
	return r.run(func() error {
		ticket := r.ticket()
		data, err := json.Marshal(change{ticket, message.Body})
		if err != nil {
			return err
		}
		if err := r.raft.Propose(data); err != nil {
			return &RPCError{temporarilyUnavailable, err.Error()}
		}
		// Who is not answered takes it as not known: it may be in the log of a leader that will be heard again.
		r.changes[ticket] = message
		return nil
	})
}

func (r *replica) apply(entry raftpb.Entry) {
	r.applied = entry.Index
	var of change
	// A leader begins its term with an entry of nothing.
	if len(entry.Data) == 0 || json.Unmarshal(entry.Data, &of) != nil || r.done[of.Ticket] {
		return
	}
	r.done[of.Ticket] = true
	reply := r.execute(of.Body)
	if message, ok := r.changes[of.Ticket]; ok {
		delete(r.changes, of.Ticket)
		_ = node.Reply(message, reply)
	}
}

func (r *replica) execute(body Body) Body {
	key := fmt.Sprint(body["key"])
	if body["type"] == "write" {
		r.values[key] = body["value"]
		return Body{"type": "write_ok"}
	}
	value, ok := r.values[key]
	if !ok {
		return Body{"type": "error", "code": KeyDoesNotExist, "text": "no such key"}
	}
	if value != body["from"] {
		return Body{"type": "error", "code": PreconditionFailed, "text": fmt.Sprintf("the value is %v", value)}
	}
	r.values[key] = body["to"]
	return Body{"type": "cas_ok"}
}

var node = NewNode()

func main() {
	r := &replica{
		start:   fmt.Sprint(rand.Int63()),
		changes: map[string]Message{},
		reads:   map[string]*read{},
		done:    map[string]bool{},
		values:  map[string]any{},
	}
	if len(os.Args) > 1 {
		r.planted = os.Args[1]
	}
	node.OnInit(func() {
		if err := r.begin(); err != nil {
			log.Fatal(err)
		}
		for range time.Tick(tick) {
			r.tick()
		}
	})
	node.Handle("read", r.read)
	node.Handle("write", r.change)
	node.Handle("cas", r.change)
	node.Handle("raft", r.hear)
	log.Fatal(node.Run())
}
