// Sockets for Go in a module of WASI preview 1, which can use a socket and make none. The sockets extension of WasmEdge makes them, and the
// standard library takes over from there: what listen and dial return is as on any other system.
//
// Invariant: what the host is given lives on the heap, since stacks of goroutines move.

package main

import (
	"net"
	"os"
	"strconv"
	"structs"
	"syscall"
	"time"
	"unsafe"
)

// Numbers of the extension.
const (
	familyIPv4         = 1
	typeStream         = 2
	protocolTCP        = 1
	levelSocket        = 0
	optionReuseAddress = 0
	optionError        = 2
)

// How many connections may wait to be accepted.
const backlog = 64

// A hostBuffer is where bytes are, as the host reads it.
type hostBuffer struct {
	_          structs.HostLayout
	at, length uint32
}

// An ipv4 address, as the host reads it.
type ipv4 struct {
	_     structs.HostLayout
	where hostBuffer
	bytes [4]byte
}

// A hostAddressInfo is what a name is looked up by, and what it is.
type hostAddressInfo struct {
	_             structs.HostLayout
	flags         uint16
	family        uint8
	socketType    uint8
	protocol      uint32
	addressLength uint32
	address       uint32
	name          uint32
	nameLength    uint32
	next          uint32
}

// A hostAddress is the address in it.
type hostAddress struct {
	_      structs.HostLayout
	family uint32
	length uint32
	data   uint32
	_      uint32
}

// A found address, with all that it points to.
type found struct {
	_ structs.HostLayout
	// Where info is: the host takes a pointer to the pointer.
	first   uint32
	info    hostAddressInfo
	address hostAddress
	// The port, most significant byte first, and the address.
	data [26]byte
	name [30]byte
}

//go:wasmimport wasi_snapshot_preview1 sock_open
func sockOpen(family, socketType int32, descriptor *int32) syscall.Errno

//go:wasmimport wasi_snapshot_preview1 sock_bind
func sockBind(descriptor int32, address *hostBuffer, port uint32) syscall.Errno

//go:wasmimport wasi_snapshot_preview1 sock_listen
func sockListen(descriptor, backlog int32) syscall.Errno

//go:wasmimport wasi_snapshot_preview1 sock_connect
func sockConnect(descriptor int32, address *hostBuffer, port uint32) syscall.Errno

//go:wasmimport wasi_snapshot_preview1 sock_getsockopt
func sockGetOption(descriptor int32, level, name uint32, value *int32, length uint32) syscall.Errno

//go:wasmimport wasi_snapshot_preview1 sock_setsockopt
func sockSetOption(descriptor int32, level, name uint32, value *int32, length uint32) syscall.Errno

//go:wasmimport wasi_snapshot_preview1 sock_getpeeraddr
func sockPeer(descriptor int32, address *hostBuffer, port *uint32) syscall.Errno

//go:wasmimport wasi_snapshot_preview1 sock_getaddrinfo
func sockLookUp(node, service string, hints *hostAddressInfo, results *uint32, resultsMax uint32, count *uint32) syscall.Errno

// at is the address of something on the heap.
func at(pointer unsafe.Pointer) uint32 {
	return uint32(uintptr(pointer))
}

// openSocket is a socket that keeps nobody waiting.
func openSocket() (int32, error) {
	descriptor := new(int32)
	if errno := sockOpen(familyIPv4, typeStream, descriptor); errno != 0 {
		return -1, os.NewSyscallError("sock_open", errno)
	}
	if err := syscall.SetNonblock(int(*descriptor), true); err != nil {
		_ = syscall.Close(int(*descriptor))
		return -1, os.NewSyscallError("fd_fdstat_set_flags", err)
	}
	return *descriptor, nil
}

// lookUp is what an address of the form HOST:PORT stands for; of none, all of this machine's.
func lookUp(address string) (*ipv4, uint32, error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, 0, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, 0, err
	}
	ip := new(ipv4)
	ip.where = hostBuffer{at: at(unsafe.Pointer(&ip.bytes)), length: uint32(len(ip.bytes))}
	if host == "" {
		return ip, uint32(port), nil
	}
	hints := &hostAddressInfo{family: familyIPv4, socketType: typeStream, protocol: protocolTCP}
	result := new(found)
	result.first = at(unsafe.Pointer(&result.info))
	result.info.addressLength = uint32(unsafe.Sizeof(result.address))
	result.info.address = at(unsafe.Pointer(&result.address))
	result.info.name, result.info.nameLength = at(unsafe.Pointer(&result.name)), uint32(len(result.name))
	result.address.length, result.address.data = uint32(len(result.data)), at(unsafe.Pointer(&result.data))
	count := new(uint32)
	// The host wants strings to end as those of C.
	errno := sockLookUp(host+"\x00", service+"\x00", hints, &result.first, 1, count)
	if errno != 0 || *count == 0 || result.address.family != familyIPv4 {
		return nil, 0, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	copy(ip.bytes[:], result.data[2:])
	return ip, uint32(port), nil
}

func listen(address string) (net.Listener, error) {
	ip, port, err := lookUp(address)
	if err != nil {
		return nil, err
	}
	descriptor, err := openSocket()
	if err != nil {
		return nil, err
	}
	// From here on it is closed with the file.
	file := os.NewFile(uintptr(descriptor), address)
	defer file.Close()
	yes := new(int32)
	*yes = 1
	if errno := sockSetOption(descriptor, levelSocket, optionReuseAddress, yes, 4); errno != 0 {
		return nil, os.NewSyscallError("sock_setsockopt", errno)
	}
	if errno := sockBind(descriptor, &ip.where, port); errno != 0 {
		return nil, os.NewSyscallError("sock_bind", errno)
	}
	if errno := sockListen(descriptor, backlog); errno != 0 {
		return nil, os.NewSyscallError("sock_listen", errno)
	}
	return net.FileListener(file)
}

func dial(address string, patience time.Duration) (net.Conn, error) {
	ip, port, err := lookUp(address)
	if err != nil {
		return nil, err
	}
	descriptor, err := openSocket()
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(descriptor), address)
	defer file.Close()
	switch errno := sockConnect(descriptor, &ip.where, port); errno {
	case 0:
	case syscall.EINPROGRESS:
		if err := connected(file, patience); err != nil {
			return nil, os.NewSyscallError("sock_connect", err)
		}
	default:
		return nil, os.NewSyscallError("sock_connect", errno)
	}
	return net.FileConn(file)
}

// connected waits until a connection is made.
func connected(file *os.File, patience time.Duration) error {
	if err := file.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Write(func(descriptor uintptr) bool {
		value := new(int32)
		if errno := sockGetOption(int32(descriptor), levelSocket, optionError, value, 4); errno != 0 {
			failed = errno
			return true
		}
		switch errno := syscall.Errno(*value); errno {
		case 0:
			// It may be that nothing has happened yet.
			return isConnected(int32(descriptor))
		case syscall.EINPROGRESS:
			return false
		case syscall.EISCONN:
			return true
		default:
			failed = errno
			return true
		}
	})
	if err != nil {
		return err
	}
	return failed
}

// isConnected asks who is at the other end.
func isConnected(descriptor int32) bool {
	// A family (u16), and an address.
	peer := new(struct {
		_     structs.HostLayout
		where hostBuffer
		bytes [128]byte
	})
	peer.where = hostBuffer{at: at(unsafe.Pointer(&peer.bytes)), length: uint32(len(peer.bytes))}
	return sockPeer(descriptor, &peer.where, new(uint32)) == 0
}
