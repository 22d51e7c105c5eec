// A key-value store whose nodes agree by etcd's raft package, as it is published, on sockets and files of Go's standard library; nothing in
// it knows of Fozzy.
//
//	client ── put x 7 ─▶ n2 ── propose ───▶ the log of a majority ── applied ─────────▶ n2 ── ok ───▶ client
//	       ── get x ───▶ n2 ── read index ─▶ the leader is one still ── applied so far ─▶ n2 ── ok 7 ─▶
//
// What the package wants to be durable is written to the disk and synchronised before a message goes out that relies on it.
//
// `raft-go NAME ALL-NAMES [FAULT]`, where FAULT is one that is planted: `lost-vote` forgets at a restart in which term it is, and whom it
// has voted for; `stale-read` has a leader answer reads without asking whether it is one still; `no-fsync` does not synchronise. A name may
// have a port.
package main

import (
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

// The unit of Raft's time.
const tick = 50 * time.Millisecond

// Which fault is planted.
const (
	lostVote  = "lost-vote"
	staleRead = "stale-read"
	noFsync   = "no-fsync"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("raft-go NAME ALL-NAMES [lost-vote | stale-read | no-fsync]")
	}
	planted := ""
	if len(os.Args) > 3 {
		planted = os.Args[3]
		if !slices.Contains([]string{lostVote, staleRead, noFsync}, planted) {
			log.Fatalf("`%s` is no fault: lost-vote, stale-read, no-fsync", planted)
		}
	}
	name, names := os.Args[1], strings.Split(os.Args[2], ",")
	id := uint64(slices.Index(names, name) + 1)
	if id == 0 {
		log.Fatalf("%s is none of %s", name, os.Args[2])
	}
	network, err := openNetwork(id, names)
	if err != nil {
		log.Fatal(err)
	}
	consensus, err := beginConsensus(id, uint64(len(names)), planted, network.send)
	if err != nil {
		log.Fatal(err)
	}
	// The package draws its timeouts by the time at which it began. Nodes that begin at the same moment have the same ones, but not the
	// same ticks, so that one of them is the first to stand for election.
	time.Sleep(rand.N(tick))
	ticks := time.NewTicker(tick)
	for {
		select {
		case message := <-network.messages:
			network.heard(message.From)
			consensus.step(message)
		case request := <-network.requests:
			serve(consensus, request)
		case <-ticks.C:
			consensus.tick()
			network.tick()
		}
		if err := consensus.advance(); err != nil {
			log.Fatal(err)
		}
	}
}

func serve(consensus *consensus, request request) {
	words := strings.SplitN(request.line, " ", 3)
	switch {
	case len(words) == 2 && words[0] == "get":
		consensus.get(request.answer, words[1])
	case len(words) == 3 && words[0] == "put":
		consensus.put(request.answer, words[1], words[2])
	default:
		request.answer <- "fail what?"
	}
}
