// SPDX-License-Identifier: BSD-3-Clause
// The protocol of test/bench/suite/suite.h in Go.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

type work struct {
	name, streams string
	run           func()
}

var (
	streams int
	budget  time.Duration
	quick   = os.Getenv("BENCH_QUICK") != ""
)

func expect(got, expected int, what string) {
	if got != expected {
		fmt.Fprintf(os.Stderr, "wrong answer: %s is %d, not %d\n", what, got, expected)
		os.Exit(1)
	}
}

// samples calls batch again and again within the budget; the figures are ns per operation.
func samples(least int, operations float64, batch func()) []float64 {
	var figures []float64
	for start := time.Now(); len(figures) < least || time.Since(start) < budget; {
		before := time.Now()
		batch()
		figures = append(figures, float64(time.Since(before).Nanoseconds())/operations)
	}
	return figures
}

func report(figures []float64) {
	sort.Float64s(figures)
	sum := 0.0
	for _, f := range figures {
		sum += f
	}
	n := len(figures)
	fmt.Printf("{\"ns\": %.4f, \"min\": %.4f, \"avg\": %.4f, \"max\": %.4f, \"batches\": %d}\n", figures[n/2],
		figures[0], sum/float64(n), figures[n-1], n)
}

func measure(operations float64, batch func()) {
	batch()
	report(samples(3, operations, batch))
}

// steps measures what one creator needs: to make so many goroutines, to wait for them, or both.
func steps(which int, operations float64, create, join func()) {
	var figures []float64
	for start := time.Now(); len(figures) <= 3 || time.Since(start) < budget; {
		begin := time.Now()
		create()
		made := time.Now()
		join()
		end := time.Now()
		times := []time.Duration{made.Sub(begin), end.Sub(made), end.Sub(begin)}
		figures = append(figures, float64(times[which].Nanoseconds())/operations)
	}
	report(figures[1:])
}

func measureLong(operations float64, batch func()) {
	report(samples(1, operations, batch))
}

// everywhere measures with one creator per stream.
func everywhere(operations float64, batch func()) {
	var group sync.WaitGroup
	all := make([][]float64, streams)
	for s := range all {
		group.Add(1)
		go func(s int) {
			defer group.Done()
			batch()
			all[s] = samples(3, operations, batch)
		}(s)
	}
	group.Wait()
	var figures []float64
	for _, f := range all {
		figures = append(figures, f...)
	}
	report(figures)
}

// resident is the memory that the process holds.
func resident() int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		panic(err)
	}
	pages, _ := strconv.Atoi(strings.Fields(string(text))[1])
	return pages * os.Getpagesize()
}

func main() {
	args := os.Args
	if len(args) == 2 && args[1] == "list" {
		for _, w := range works {
			fmt.Printf("%s\t\t%s\n", w.name, w.streams)
		}
		return
	}
	if len(args) != 6 || args[1] != "run" {
		fmt.Fprintln(os.Stderr, "usage: go list | run WORK SERIES STREAMS MILLISECONDS")
		os.Exit(2)
	}
	streams, _ = strconv.Atoi(args[4])
	ms, _ := strconv.ParseFloat(args[5], 64)
	budget = time.Duration(ms * 1e6)
	runtime.GOMAXPROCS(streams)
	for _, w := range works {
		if w.name == args[2] {
			w.run()
			return
		}
	}
	os.Exit(2)
}
