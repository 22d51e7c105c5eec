package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/raft/raftpb"
)

const (
	// Of a node whose name has none.
	port = "7000"
	// In ticks. TCP repeats after twice as long each time: after an outage a new connection is sooner there.
	silence = 20
	// How long a node waits for a connection to be made, or to take what is sent.
	patience = silence * tick
	// How long a connection of others may say nothing.
	idle = 30 * time.Second
	// What waits for a peer at most, in messages; further ones are dropped.
	queued = 128
	// The longest line of a client and the longest message of a node, in bytes.
	lineMax    = 1 << 14
	messageMax = 1 << 20
	// The line by which a connection becomes one for messages: their length (u32), and the message.
	messagesFollow = "raft"
)

// A request is a line of a client. Its channel has room for the answer.
type request struct {
	line   string
	answer chan<- string
}

// A network is lines of clients and messages of nodes over connections. None keeps the node waiting: goroutines read and write them.
//
// A client has a connection for each request. A node keeps one to each other node, and makes another when it fails: what was lost with it,
// Raft sends again.
type network struct {
	requests chan request
	messages chan raftpb.Message
	// By their number, from one.
	peers map[uint64]*peer
}

// openNetwork listens, as the node of a number.
func openNetwork(id uint64, names []string) (*network, error) {
	n := &network{requests: make(chan request), messages: make(chan raftpb.Message), peers: map[uint64]*peer{}}
	for at, name := range names {
		if number := uint64(at + 1); number != id {
			n.peers[number] = &peer{address: addressOf(name), queue: make(chan []byte, queued)}
		}
	}
	_, port, err := net.SplitHostPort(addressOf(names[id-1]))
	if err != nil {
		return nil, err
	}
	listener, err := listen(":" + port)
	if err != nil {
		return nil, err
	}
	go n.accept(listener)
	for _, peer := range n.peers {
		go peer.run()
	}
	return n, nil
}

func addressOf(name string) string {
	if strings.Contains(name, ":") {
		return name
	}
	return net.JoinHostPort(name, port)
}

func (n *network) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			// A client that is gone already is no reason to stop.
			time.Sleep(tick)
			continue
		}
		go n.serve(conn)
	}
}

// serve answers the lines of a client, or hears the messages of a node.
func (n *network) serve(conn net.Conn) {
	defer conn.Close()
	reader := bufio.NewReaderSize(conn, lineMax)
	for {
		_ = conn.SetReadDeadline(time.Now().Add(idle))
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return
		}
		text := string(line[:len(line)-1])
		if text == messagesFollow {
			n.hear(conn, reader)
			return
		}
		answer := make(chan string, 1)
		n.requests <- request{text, answer}
		said := <-answer
		_ = conn.SetWriteDeadline(time.Now().Add(patience))
		if _, err := fmt.Fprintln(conn, said); err != nil {
			return
		}
	}
}

func (n *network) hear(conn net.Conn, reader io.Reader) {
	for {
		_ = conn.SetReadDeadline(time.Now().Add(idle))
		var head [4]byte
		if _, err := io.ReadFull(reader, head[:]); err != nil {
			return
		}
		length := binary.LittleEndian.Uint32(head[:])
		if length > messageMax {
			return
		}
		bytes := make([]byte, length)
		if _, err := io.ReadFull(reader, bytes); err != nil {
			return
		}
		var message raftpb.Message
		if err := message.Unmarshal(bytes); err != nil {
			return
		}
		n.messages <- message
	}
}

// heard says that something has come from a node.
func (n *network) heard(node uint64) {
	if peer := n.peers[node]; peer != nil {
		peer.mutex.Lock()
		defer peer.mutex.Unlock()
		peer.silent = 0
	}
}

// tick gives up connections to nodes that say nothing.
func (n *network) tick() {
	for _, peer := range n.peers {
		peer.tick()
	}
}

// send sends a message to its node, if that can be reached.
func (n *network) send(message raftpb.Message) {
	peer := n.peers[message.To]
	body, err := message.Marshal()
	if peer == nil || err != nil {
		return
	}
	frame := binary.LittleEndian.AppendUint32(nil, uint32(len(body)))
	select {
	case peer.queue <- append(frame, body...):
	default:
	}
}

// A peer is another node, and the connection to it.
type peer struct {
	address string
	queue   chan []byte
	mutex   sync.Mutex
	// None before the first message, and after it has failed.
	conn net.Conn
	// For how many ticks nothing has come from the node.
	silent int
}

// run writes what is sent to the node.
func (p *peer) run() {
	for frame := range p.queue {
		conn := p.connection()
		if conn == nil {
			continue
		}
		_ = conn.SetWriteDeadline(time.Now().Add(patience))
		if _, err := conn.Write(frame); err != nil {
			p.close(conn)
		}
	}
}

// connection is the one that is there, or another one.
func (p *peer) connection() net.Conn {
	p.mutex.Lock()
	known := p.conn
	p.mutex.Unlock()
	if known != nil {
		return known
	}
	conn, err := dial(p.address, patience)
	if err != nil {
		// What has waited meanwhile is old.
		for len(p.queue) > 0 {
			<-p.queue
		}
		return nil
	}
	p.mutex.Lock()
	p.conn, p.silent = conn, 0
	p.mutex.Unlock()
	go func() {
		// Nothing comes on it but its end.
		_, _ = io.Copy(io.Discard, conn)
		p.close(conn)
	}()
	_ = conn.SetWriteDeadline(time.Now().Add(patience))
	if _, err := fmt.Fprintln(conn, messagesFollow); err != nil {
		p.close(conn)
		return nil
	}
	return conn
}

// close gives up a connection.
func (p *peer) close(conn net.Conn) {
	_ = conn.Close()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.conn == conn {
		p.conn = nil
	}
}

func (p *peer) tick() {
	p.mutex.Lock()
	conn := p.conn
	if conn != nil {
		p.silent++
	}
	isSilent := p.silent >= silence
	p.mutex.Unlock()
	if conn != nil && isSilent {
		p.close(conn)
	}
}
