// A node of the Maelstrom protocol: echo, identifiers, and a broadcast that says everything again until all have heard it.
package main

import (
	"fmt"
	"log"
	"sync"
	"time"
)

// How often a node tells the others all that it knows.
const gossip = 200 * time.Millisecond

// A store is what goroutines share.
type store struct {
	mutex    sync.Mutex
	known    map[int64]bool
	messages []int64
}

func (s *store) learn(messages ...int64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, message := range messages {
		if !s.known[message] {
			s.known[message] = true
			s.messages = append(s.messages, message)
		}
	}
}

func (s *store) all() []int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([]int64{}, s.messages...)
}

func main() {
	node := NewNode()
	store := &store{known: map[int64]bool{}}
	node.OnInit(func() {
		for range time.Tick(gossip) {
			for _, other := range node.Others() {
				_ = node.Send(other, Body{"type": "gossip", "messages": store.all()})
			}
		}
	})
	node.Handle("echo", func(message Message) error {
		return node.Reply(message, Body{"type": "echo_ok", "echo": message.Body["echo"]})
	})
	node.Handle("generate", func(message Message) error {
		// No client has a request of this number twice, and no two clients have one name.
		id := fmt.Sprintf("%s-%s-%d", node.ID(), message.Src, Int(message.Body["msg_id"]))
		return node.Reply(message, Body{"type": "generate_ok", "id": id})
	})
	node.Handle("topology", func(message Message) error {
		return node.Reply(message, Body{"type": "topology_ok"})
	})
	node.Handle("broadcast", func(message Message) error {
		store.learn(Int(message.Body["message"]))
		return node.Reply(message, Body{"type": "broadcast_ok"})
	})
	node.Handle("gossip", func(message Message) error {
		messages, _ := message.Body["messages"].([]any)
		for _, message := range messages {
			store.learn(Int(message))
		}
		return nil
	})
	node.Handle("read", func(message Message) error {
		return node.Reply(message, Body{"type": "read_ok", "messages": store.all()})
	})
	log.Fatal(node.Run())
}
