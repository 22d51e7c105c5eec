// Parser: reads records with escapes from a file in blocks, and counts them. An ordinary program: nothing here knows that it is searched.
//
//	parser FILE [mended]
//
// Each record is a line; `\n` and `\\` in it are escapes of two bytes. The planted fault: an escape is two bytes of one block, so that one whose
// bytes come in two reads is lost. Blocks end at no escape unless a read is short.
package main

import (
	"fmt"
	"io"
	"os"
)

const block = 64

func main() {
	path, mended := os.Args[1], len(os.Args) > 2 && os.Args[2] == "mended"
	file, err := os.Open(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	records, escapes, pending := 0, 0, false
	buffer := make([]byte, block)
	for {
		count, err := file.Read(buffer)
		if !mended {
			pending = false
		}
		for _, c := range buffer[:count] {
			switch {
			case pending:
				escapes++
				pending = false
			case c == '\\':
				pending = true
			case c == '\n':
				records++
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	fmt.Printf("%d records, %d escapes\n", records, escapes)
	if records != 40 || escapes != 8 {
		fmt.Fprintf(os.Stderr, "the parser lost its place: %d records, %d escapes\n", records, escapes)
		os.Exit(1)
	}
}
