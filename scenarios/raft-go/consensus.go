package main

import (
	"cmp"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"go.etcd.io/etcd/raft"
	"go.etcd.io/etcd/raft/raftpb"
)

// In ticks: after how many a leader is asked again for a read, and when a client is told that nobody answers.
const (
	askedAgain = 10
	givenUp    = 35
)

// A ticket is a request of a client: the start of the node that was asked, and a number. It is done once, however often it is proposed.
type ticket struct {
	start, number uint64
}

// A pending request has no answer yet. It gets one, which its channel has room for.
type pending struct {
	answer chan<- string
	// Of a read.
	key string
	// In ticks.
	waited int
}

// A confirmation is a read that may be answered once so much is applied.
type confirmation struct {
	index uint64
	read  ticket
}

// A storage is what the package reads. All nodes begin with the same voters.
type storage struct {
	*raft.MemoryStorage
	voters []uint64
}

func (s storage) InitialState() (raftpb.HardState, raftpb.ConfState, error) {
	state, _, err := s.MemoryStorage.InitialState()
	return state, raftpb.ConfState{Voters: s.voters}, err
}

// A consensus is the raft package, with the disk below it and the values on top. One goroutine has it.
type consensus struct {
	node    *raft.RawNode
	storage storage
	disk    *diskLog
	planted string
	// To another node.
	send func(raftpb.Message)
	// A number that no other start of a node has.
	start uint64
	asked uint64
	// What clients wait for.
	changes   map[ticket]*pending
	reads     map[ticket]*pending
	confirmed []confirmation
	values    map[string]string
	applied   uint64
	done      map[ticket]bool
}

// beginConsensus is the node of a number, of `count`, with what its disk knows.
func beginConsensus(id, count uint64, planted string, send func(raftpb.Message)) (*consensus, error) {
	disk, entries, state, err := openDiskLog(planted != noFsync)
	if err != nil {
		return nil, err
	}
	if planted == lostVote {
		state.Term, state.Vote = 0, 0
	}
	storage := storage{MemoryStorage: raft.NewMemoryStorage()}
	for voter := uint64(1); voter <= count; voter++ {
		storage.voters = append(storage.voters, voter)
	}
	if err := storage.Append(entries); err != nil {
		return nil, err
	}
	last, err := storage.LastIndex()
	if err != nil {
		return nil, err
	}
	state.Commit = min(state.Commit, last)
	if err := storage.SetHardState(state); err != nil {
		return nil, err
	}
	node, err := raft.NewRawNode(&raft.Config{
		ID:              id,
		ElectionTick:    10,
		HeartbeatTick:   2,
		Storage:         storage,
		MaxSizePerMsg:   1 << 16,
		MaxInflightMsgs: 64,
		// A leader that nobody confirms steps down, so that one that answers by itself is wrong for a while only.
		CheckQuorum:    planted != staleRead,
		ReadOnlyOption: raft.ReadOnlySafe,
		Logger:         &raft.DefaultLogger{Logger: log.New(io.Discard, "", 0)},
	})
	if err != nil {
		return nil, err
	}
	return &consensus{
		node:    node,
		storage: storage,
		disk:    disk,
		planted: planted,
		send:    send,
		start:   rand.Uint64(),
		changes: map[ticket]*pending{},
		reads:   map[ticket]*pending{},
		values:  map[string]string{},
		done:    map[ticket]bool{},
	}, nil
}

// tick has a unit of time pass.
func (c *consensus) tick() {
	c.node.Tick()
	for _, ticket := range inOrder(c.reads) {
		read := c.reads[ticket]
		read.waited++
		if read.waited == givenUp {
			delete(c.reads, ticket)
			read.answer <- "fail no leader has confirmed it"
		} else if read.waited%askedAgain == 0 {
			c.node.ReadIndex([]byte(ticket.String()))
		}
	}
	for _, ticket := range inOrder(c.changes) {
		change := c.changes[ticket]
		change.waited++
		if change.waited == givenUp {
			delete(c.changes, ticket)
			// It may be in the log of a leader that will be heard again.
			change.answer <- "info no majority has confirmed it"
		}
	}
}

// step takes a message of another node. One that makes no sense is refused, and that is all.
func (c *consensus) step(message raftpb.Message) {
	_ = c.node.Step(message)
}

func (c *consensus) ticket() ticket {
	c.asked++
	return ticket{c.start, c.asked}
}

func (c *consensus) put(answer chan<- string, key, value string) {
	ticket := c.ticket()
	if err := c.node.Propose(fmt.Appendf(nil, "%v %s %s", ticket, key, value)); err != nil {
		answer <- fmt.Sprintf("fail %v", err)
		return
	}
	c.changes[ticket] = &pending{answer: answer}
}

func (c *consensus) get(answer chan<- string, key string) {
	read := &pending{answer: answer, key: key}
	if c.planted == staleRead && c.node.BasicStatus().RaftState == raft.StateLeader {
		c.answerRead(read)
		return
	}
	ticket := c.ticket()
	c.reads[ticket] = read
	c.node.ReadIndex([]byte(ticket.String()))
}

func (c *consensus) answerRead(read *pending) {
	value, ok := c.values[read.key]
	if !ok {
		value = "nil"
	}
	read.answer <- "ok " + value
}

// advance does all that is ready: keeps it on the disk, sends what relies on that, and applies what a majority has.
func (c *consensus) advance() error {
	for c.node.HasReady() {
		ready := c.node.Ready()
		if err := c.disk.append(ready.Entries, ready.HardState); err != nil {
			return err
		}
		if err := c.storage.Append(ready.Entries); err != nil {
			return err
		}
		if !raft.IsEmptyHardState(ready.HardState) {
			if err := c.storage.SetHardState(ready.HardState); err != nil {
				return err
			}
		}
		for _, message := range ready.Messages {
			c.send(message)
		}
		for _, state := range ready.ReadStates {
			if read, _, ok := ticketOf(state.RequestCtx); ok {
				c.confirmed = append(c.confirmed, confirmation{state.Index, read})
			}
		}
		for _, entry := range ready.CommittedEntries {
			c.apply(entry)
		}
		c.node.Advance(ready)
	}
	c.confirmed = slices.DeleteFunc(c.confirmed, func(confirmed confirmation) bool {
		if confirmed.index > c.applied {
			return false
		}
		if read := c.reads[confirmed.read]; read != nil {
			delete(c.reads, confirmed.read)
			c.answerRead(read)
		}
		return true
	})
	return nil
}

func (c *consensus) apply(entry raftpb.Entry) {
	c.applied = entry.Index
	ticket, change, ok := ticketOf(entry.Data)
	// A leader begins its term with an entry of nothing.
	if !ok || c.done[ticket] {
		return
	}
	c.done[ticket] = true
	key, value, _ := strings.Cut(change, " ")
	c.values[key] = value
	if change := c.changes[ticket]; change != nil {
		delete(c.changes, ticket)
		change.answer <- "ok"
	}
}

func (t ticket) String() string {
	return fmt.Sprintf("%d %d", t.start, t.number)
}

// ticketOf is the ticket at the beginning of bytes, and what follows it.
func ticketOf(bytes []byte) (of ticket, rest string, ok bool) {
	words := strings.SplitN(string(bytes), " ", 3)
	if len(words) < 2 {
		return of, "", false
	}
	if len(words) == 3 {
		rest = words[2]
	}
	_, err := fmt.Sscan(words[0]+" "+words[1], &of.start, &of.number)
	return of, rest, err == nil
}

// inOrder are the tickets of requests, the oldest first: a map has no order.
func inOrder(requests map[ticket]*pending) []ticket {
	return slices.SortedFunc(maps.Keys(requests), func(a, b ticket) int { return cmp.Compare(a.number, b.number) })
}
