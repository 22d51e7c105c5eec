package main

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"go.etcd.io/etcd/raft"
	"go.etcd.io/etcd/raft/raftpb"
)

// In the directory that the node was started in.
const logPath = "raft.log"

// A record: length (u32), checksum (u32), kind (u8), and an entry or a hard state.
const (
	recordHead  = 9
	entryRecord = 1
	stateRecord = 2
)

// A diskLog is the log of a node on its disk: entries, and what it has voted.
//
// Records are appended only: an entry replaces those of its index and above. What a power loss has torn off at the end was never
// synchronised, and is left out. Invariant: what append has returned from is there after a power loss, unless the node is told to forget
// that.
type diskLog struct {
	file  *os.File
	syncs bool
}

// openDiskLog opens the log at its end, and reads what is in it.
func openDiskLog(syncs bool) (disk *diskLog, entries []raftpb.Entry, state raftpb.HardState, err error) {
	file, err := os.OpenFile(logPath, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return
	}
	bytes, err := io.ReadAll(file)
	if err != nil {
		return
	}
	whole := 0
	for {
		kind, body := nextRecord(bytes[whole:])
		if kind == 0 {
			break
		}
		if kind == entryRecord {
			var entry raftpb.Entry
			if err = entry.Unmarshal(body); err != nil {
				return
			}
			replaced := slices.IndexFunc(entries, func(known raftpb.Entry) bool { return known.Index >= entry.Index })
			if replaced >= 0 {
				entries = entries[:replaced]
			}
			entries = append(entries, entry)
		} else {
			state.Reset()
			if err = state.Unmarshal(body); err != nil {
				return
			}
		}
		whole += recordHead + len(body)
	}
	if err = file.Truncate(int64(whole)); err != nil {
		return
	}
	if _, err = file.Seek(int64(whole), io.SeekStart); err != nil {
		return
	}
	// A node that was killed may have written what it has not synchronised, and relies on it from here on.
	if syncs {
		if err = file.Sync(); err != nil {
			return
		}
	}
	// The name of a new file is durable once its directory is.
	if syncs && whole == 0 {
		err = syncDirectory()
	}
	return &diskLog{file, syncs}, entries, state, err
}

func syncDirectory() error {
	directory, err := os.Open(".")
	if err != nil {
		return err
	}
	defer directory.Close()
	return directory.Sync()
}

// append appends entries and a state, and waits until they are on the disk.
func (d *diskLog) append(entries []raftpb.Entry, state raftpb.HardState) error {
	var bytes []byte
	for _, entry := range entries {
		body, err := entry.Marshal()
		if err != nil {
			return err
		}
		bytes = appendRecord(bytes, entryRecord, body)
	}
	if !raft.IsEmptyHardState(state) {
		body, err := state.Marshal()
		if err != nil {
			return err
		}
		bytes = appendRecord(bytes, stateRecord, body)
	}
	if len(bytes) == 0 {
		return nil
	}
	if _, err := d.file.Write(bytes); err != nil || !d.syncs {
		return err
	}
	return d.file.Sync()
}

func appendRecord(bytes []byte, kind byte, body []byte) []byte {
	bytes = binary.LittleEndian.AppendUint32(bytes, uint32(len(body)))
	bytes = binary.LittleEndian.AppendUint32(bytes, checksum(kind, body))
	bytes = append(bytes, kind)
	return append(bytes, body...)
}

// nextRecord is the first record of these bytes, of kind 0 where it is torn.
func nextRecord(bytes []byte) (kind byte, body []byte) {
	if len(bytes) < recordHead {
		return 0, nil
	}
	length, sum := binary.LittleEndian.Uint32(bytes), binary.LittleEndian.Uint32(bytes[4:])
	kind, body = bytes[8], bytes[recordHead:]
	if uint64(length) > uint64(len(body)) || checksum(kind, body[:length]) != sum {
		return 0, nil
	}
	return kind, body[:length]
}

func checksum(kind byte, body []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte{kind}), crc32.IEEETable, body)
}
