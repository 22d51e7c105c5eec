package main

// A small library for nodes of the Maelstrom protocol: one JSON object a line, standard input in, standard output out. Each message is
// handled by a goroutine of its own, so a handler may wait for an answer. It needs nothing but Go's standard library, and works the same
// natively under Maelstrom itself and as a WASI module under `fozzy maelstrom`.
//
//	node := NewNode()
//	node.Handle("echo", func(message Message) error {
//		return node.Reply(message, map[string]any{"type": "echo_ok", "echo": message.Body["echo"]})
//	})
//	log.Fatal(node.Run())

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"sync"
	"time"
)

// LineBytes is what a line may have, at most.
const LineBytes = 64 << 20

// Body is what a message says. Numbers stay as they are written.
type Body map[string]any

// Message is one line.
type Message struct {
	Src  string `json:"src"`
	Dest string `json:"dest"`
	Body Body   `json:"body"`
}

// Type is the type of a message.
func (m Message) Type() string {
	name, _ := m.Body["type"].(string)
	return name
}

// Error codes of the protocol that nodes look at.
const (
	Timeout            = 0
	NotSupported       = 10
	Crash              = 13
	Abort              = 14
	KeyDoesNotExist    = 20
	PreconditionFailed = 22
	TxnConflict        = 30
)

// RPCError is an answer that says what went wrong.
type RPCError struct {
	Code int
	Text string
}

func (e *RPCError) Error() string { return fmt.Sprintf("error %d: %s", e.Code, e.Text) }

// Code is that of an error: of one that is no RPCError, Crash, as nothing is known of what it left behind.
func Code(err error) int {
	if of, ok := err.(*RPCError); ok {
		return of.Code
	}
	return Crash
}

// Node speaks for one node.
type Node struct {
	mutex    sync.Mutex
	id       string
	ids      []string
	next     int64
	handlers map[string]func(Message) error
	started  []func()
	waiting  map[int64]chan Message

	write sync.Mutex
}

// NewNode makes a node that knows `init` alone.
func NewNode() *Node {
	return &Node{handlers: map[string]func(Message) error{}, waiting: map[int64]chan Message{}}
}

// ID is its name; empty before `init`.
func (n *Node) ID() string {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.id
}

// Others are the names of all other nodes.
func (n *Node) Others() []string {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	var others []string
	for _, id := range n.ids {
		if id != n.id {
			others = append(others, id)
		}
	}
	return others
}

// Handle says what answers messages of a type. An error that it returns is sent as one.
func (n *Node) Handle(name string, handler func(Message) error) { n.handlers[name] = handler }

// OnInit says what is done when the node knows its name, in a goroutine of its own.
func (n *Node) OnInit(start func()) { n.started = append(n.started, start) }

// Send sends a message that expects no answer.
func (n *Node) Send(dest string, body Body) error {
	line, err := json.Marshal(Message{Src: n.ID(), Dest: dest, Body: body})
	if err != nil {
		return err
	}
	n.write.Lock()
	defer n.write.Unlock()
	_, err = os.Stdout.Write(append(line, '\n'))
	return err
}

// Reply answers a message.
func (n *Node) Reply(message Message, body Body) error {
	reply := Body{"in_reply_to": message.Body["msg_id"]}
	for key, value := range body {
		reply[key] = value
	}
	return n.Send(message.Src, reply)
}

// RPC sends a request, and waits for its answer or for the end of the context. An answer of type `error` is an error.
func (n *Node) RPC(ctx context.Context, dest string, body Body) (Message, error) {
	answer := make(chan Message, 1)
	n.mutex.Lock()
	n.next++
	id := n.next
	n.waiting[id] = answer
	n.mutex.Unlock()
	defer func() {
		n.mutex.Lock()
		delete(n.waiting, id)
		n.mutex.Unlock()
	}()
	request := Body{"msg_id": id}
	for key, value := range body {
		request[key] = value
	}
	if err := n.Send(dest, request); err != nil {
		return Message{}, err
	}
	select {
	case <-ctx.Done():
		return Message{}, &RPCError{Timeout, "no answer of " + dest}
	case message := <-answer:
		if message.Type() != "error" {
			return message, nil
		}
		text, _ := message.Body["text"].(string)
		return message, &RPCError{int(Int(message.Body["code"])), text}
	}
}

// Run handles messages until there are none.
func (n *Node) Run() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<16), LineBytes)
	for lines.Scan() {
		var message Message
		if err := json.Unmarshal(lines.Bytes(), &message); err != nil {
			return fmt.Errorf("not a message: %w: %s", err, lines.Text())
		}
		if id, ok := message.Body["in_reply_to"]; ok {
			n.mutex.Lock()
			answer := n.waiting[Int(id)]
			delete(n.waiting, Int(id))
			n.mutex.Unlock()
			if answer != nil {
				answer <- message
			}
			continue
		}
		if message.Type() == "init" {
			if err := n.begin(message); err != nil {
				return err
			}
			continue
		}
		go n.handle(message)
	}
	return lines.Err()
}

func (n *Node) begin(message Message) error {
	n.mutex.Lock()
	n.id, _ = message.Body["node_id"].(string)
	ids, _ := message.Body["node_ids"].([]any)
	for _, id := range ids {
		if name, ok := id.(string); ok {
			n.ids = append(n.ids, name)
		}
	}
	n.mutex.Unlock()
	for _, start := range n.started {
		go start()
	}
	return n.Reply(message, Body{"type": "init_ok"})
}

func (n *Node) handle(message Message) {
	handler := n.handlers[message.Type()]
	var err error = &RPCError{NotSupported, "no handler for " + message.Type()}
	if handler != nil {
		err = handler(message)
	}
	if err == nil {
		return
	}
	log.Printf("%s of %s: %v", message.Type(), message.Src, err)
	if message.Body["msg_id"] == nil {
		return
	}
	_ = n.Reply(message, Body{"type": "error", "code": Code(err), "text": err.Error()})
}

// Int is the integer of a value, 0 if it is none.
func Int(value any) int64 {
	switch number := value.(type) {
	case float64:
		return int64(number)
	case int64:
		return number
	case int:
		return int64(number)
	}
	return 0
}

// KV is one of the services that store keys: lin-kv, seq-kv, lww-kv.
type KV struct {
	node *Node
	name string
}

// NewKV is the service of that name.
func NewKV(node *Node, name string) KV { return KV{node, name} }

// How long a service may take.
const patience = time.Second

func (kv KV) ask(body Body) (Message, error) {
	ctx, done := context.WithTimeout(context.Background(), patience)
	defer done()
	return kv.node.RPC(ctx, kv.name, body)
}

// Read is what stands under a key; `missing` where there is nothing.
func (kv KV) Read(key string, missing any) (any, error) {
	answer, err := kv.ask(Body{"type": "read", "key": key})
	if err != nil {
		if Code(err) == KeyDoesNotExist {
			return missing, nil
		}
		return nil, err
	}
	return answer.Body["value"], nil
}

// Write puts a value under a key.
func (kv KV) Write(key string, value any) error {
	_, err := kv.ask(Body{"type": "write", "key": key, "value": value})
	return err
}

// Swap puts `to` under a key that has `from`, or nothing.
func (kv KV) Swap(key string, from, to any) error {
	_, err := kv.ask(Body{"type": "cas", "key": key, "from": from, "to": to, "create_if_not_exists": true})
	return err
}
