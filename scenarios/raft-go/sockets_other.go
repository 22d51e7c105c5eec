//go:build !wasip1

package main

import (
	"net"
	"time"
)

func listen(address string) (net.Listener, error) {
	return net.Listen("tcp", address)
}

func dial(address string, patience time.Duration) (net.Conn, error) {
	return net.DialTimeout("tcp", address, patience)
}
