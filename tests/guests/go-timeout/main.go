// Timeout: a worker appends jobs to a file, and whoever gave it a job waits for a time. An ordinary program: nothing here knows that it is searched.
//
//	timeout FILE [mended]
//
// The planted fault: a job that is done in the very time at which the patience for it ends is given a second time; `mended` looks once more.
package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

const (
	jobs     = 24
	patience = 8 * time.Millisecond
)

func main() {
	path := os.Args[1]
	mended := len(os.Args) > 2 && os.Args[2] == "mended"
	given, done := make(chan int), make(chan int, jobs*4)
	go work(path, given, done)
	for job := 1; job <= jobs; job++ {
		for attempt := 0; ; attempt++ {
			given <- job
			if wait(job, done, mended && attempt == 0) || attempt == 3 {
				break
			}
			fmt.Println("no answer to job", job)
		}
	}
	close(given)
	time.Sleep(time.Second)
	text, err := os.ReadFile(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	lines := strings.Count(string(text), "\n")
	fmt.Printf("%d jobs\n", lines)
	if lines != jobs {
		fmt.Fprintf(os.Stderr, "a job was done twice: %d of %d\n", lines, jobs)
		os.Exit(1)
	}
}

// Whether the job was done in time.
func wait(job int, done chan int, again bool) bool {
	end := time.After(patience)
	for {
		select {
		case found := <-done:
			if found == job {
				return true
			}
		case <-end:
			if again {
				for found := range done {
					if found == job {
						return true
					}
				}
			}
			return false
		}
	}
}

func work(path string, given, done chan int) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	for job := range given {
		// The work takes its time.
		time.Sleep(2 * time.Millisecond)
		if _, err := fmt.Fprintf(file, "job %d\n", job); err != nil {
			panic(err)
		}
		time.Sleep(time.Millisecond)
		done <- job
	}
}
