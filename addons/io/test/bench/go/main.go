// SPDX-License-Identifier: BSD-3-Clause
// The echo server on Go's net: a goroutine per connection.
package main

import (
	"fmt"
	"net"
	"os"
)

func serve(conn net.Conn) {
	defer conn.Close()
	buffer := make([]byte, 1024)
	for {
		size, err := conn.Read(buffer)
		if err != nil {
			return
		}
		if _, err = conn.Write(buffer[:size]); err != nil {
			return
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	for {
		conn, err := listener.Accept() // Go sets TCP_NODELAY
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		go serve(conn)
	}
}
