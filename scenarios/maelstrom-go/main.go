//go:build !raft

// A node of the Maelstrom protocol in Go: echo, broadcast, a counter, and logs.
//
//	broadcast   a node tells the others what it learns      planted: once; mended: until each has said that it knows
//	add         the sum is a key of seq-kv                  planted: read, then write; mended: compare and set
//	send        each log is a key of lin-kv                 planted: read, then write, so that two messages get one offset
//
// With the tag `fixed` (`go build -tags fixed`) the faults are mended.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand"
	"sync"
	"time"
)

// The key of the sum.
const sum = "sum"

// How long a node waits before it tells another one again.
const again = 200 * time.Millisecond

// A store is what the goroutines of the workload broadcast share.
type store struct {
	mutex sync.Mutex
	known map[int64]bool
	order []int64
}

// add says whether a number is new.
func (s *store) add(number int64) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.known[number] {
		return false
	}
	s.known[number] = true
	s.order = append(s.order, number)
	return true
}

func (s *store) all() []int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([]int64{}, s.order...)
}

var node = NewNode()

// change has a value of a service become another one. What `with` answers goes to who asked.
func change(kv KV, key string, missing any, with func(any) (any, Body)) (Body, error) {
	for {
		before, err := kv.Read(key, missing)
		if err != nil {
			return nil, err
		}
		after, answer := with(before)
		if !fixed {
			return answer, kv.Write(key, after)
		}
		err = kv.Swap(key, before, after)
		if err == nil || Code(err) != PreconditionFailed {
			return answer, err
		}
	}
}

// tell has another node know a number.
func tell(dest string, number int64) {
	body := Body{"type": "gossip", "message": number}
	if !fixed {
		_ = node.Send(dest, body)
		return
	}
	for {
		ctx, done := context.WithTimeout(context.Background(), again)
		_, err := node.RPC(ctx, dest, body)
		done()
		if err == nil {
			return
		}
	}
}

func main() {
	numbers := store{known: map[int64]bool{}}
	isBroadcast := false
	seq, lin := NewKV(node, "seq-kv"), NewKV(node, "lin-kv")

	learn := func(number int64) {
		if numbers.add(number) {
			for _, other := range node.Others() {
				go tell(other, number)
			}
		}
	}
	node.Handle("echo", func(message Message) error {
		return node.Reply(message, Body{"type": "echo_ok", "echo": message.Body["echo"]})
	})
	node.Handle("topology", func(message Message) error {
		isBroadcast = true
		return node.Reply(message, Body{"type": "topology_ok"})
	})
	node.Handle("broadcast", func(message Message) error {
		learn(Int(message.Body["message"]))
		return node.Reply(message, Body{"type": "broadcast_ok"})
	})
	node.Handle("gossip", func(message Message) error {
		learn(Int(message.Body["message"]))
		if message.Body["msg_id"] == nil {
			return nil
		}
		return node.Reply(message, Body{"type": "gossip_ok"})
	})
	node.Handle("read", func(message Message) error {
		if isBroadcast {
			return node.Reply(message, Body{"type": "read_ok", "messages": numbers.all()})
		}
		// A read of seq-kv may be old; whoever has written sees what was before.
		if err := seq.Write(fmt.Sprintf("seen by %s", node.ID()), rand.Int63()); err != nil {
			return err
		}
		value, err := seq.Read(sum, 0)
		if err != nil {
			return err
		}
		return node.Reply(message, Body{"type": "read_ok", "value": Int(value)})
	})
	node.Handle("add", func(message Message) error {
		_, err := change(seq, sum, 0, func(before any) (any, Body) {
			return Int(before) + Int(message.Body["delta"]), nil
		})
		if err != nil {
			return err
		}
		return node.Reply(message, Body{"type": "add_ok"})
	})
	node.Handle("send", func(message Message) error {
		key, _ := message.Body["key"].(string)
		reply, err := change(lin, "log "+key, []any{}, func(before any) (any, Body) {
			messages, _ := before.([]any)
			after := append(append([]any{}, messages...), message.Body["msg"])
			return after, Body{"type": "send_ok", "offset": len(messages)}
		})
		if err != nil {
			return err
		}
		return node.Reply(message, reply)
	})
	node.Handle("poll", func(message Message) error {
		offsets, _ := message.Body["offsets"].(map[string]any)
		polled := map[string][][2]any{}
		for key, from := range offsets {
			value, err := lin.Read("log "+key, []any{})
			if err != nil {
				return err
			}
			messages, _ := value.([]any)
			polled[key] = [][2]any{}
			for offset := int(Int(from)); offset < len(messages); offset++ {
				polled[key] = append(polled[key], [2]any{offset, messages[offset]})
			}
		}
		return node.Reply(message, Body{"type": "poll_ok", "msgs": polled})
	})
	node.Handle("commit_offsets", func(message Message) error {
		offsets, _ := message.Body["offsets"].(map[string]any)
		for key, offset := range offsets {
			_, err := change(lin, "committed "+key, 0, func(before any) (any, Body) {
				return max(Int(before), Int(offset)), nil
			})
			if err != nil {
				return err
			}
		}
		return node.Reply(message, Body{"type": "commit_offsets_ok"})
	})
	node.Handle("list_committed_offsets", func(message Message) error {
		keys, _ := message.Body["keys"].([]any)
		committed := map[string]int64{}
		for _, key := range keys {
			name := fmt.Sprint(key)
			value, err := lin.Read("committed "+name, nil)
			if err != nil {
				return err
			}
			if value != nil {
				committed[name] = Int(value)
			}
		}
		return node.Reply(message, Body{"type": "list_committed_offsets_ok", "offsets": committed})
	})
	log.Fatal(node.Run())
}
