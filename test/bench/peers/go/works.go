// SPDX-License-Identifier: BSD-3-Clause
// Goroutines on the same work as the C programs.
package main

import (
	"crypto/sha1"
	"encoding/binary"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	tasks      = 1000
	operations = 20000
	blocked    = 10000
)

var works = []work{
	{"create-256", "*", func() { runCreate(256) }},
	{"create-16384", "*", func() { runCreate(16384) }},
	{"yield-2", "1", func() { runYield(2) }},
	{"yield-256", "1", func() { runYield(256) }},
	{"mutex", "1", func() { runMutex(1) }},
	{"mutex-8", "*", func() { runMutex(8) }},
	{"eventual", "*", runChannels},
	{"cond", "*", runCond},
	{"for-loop", "*", func() { runLoop(forLoop, 1) }},
	{"tasks-single", "*", func() { runLoop(tasksSingle, 1) }},
	{"tasks-parallel", "*", func() { runLoop(tasksParallel, 1) }},
	{"nested", "*", func() { runLoop(nested, tasks) }},
	{"nested-tasks", "*", func() { runLoop(nestedTasks, 1) }},
	{"step-create", "*", func() { runSteps(0) }},
	{"step-join", "*", func() { runSteps(1) }},
	{"step-both", "*", func() { runSteps(2) }},
	{"fib", "*", runFib},
	{"nqueens", "*", runQueens},
	{"uts-t1", "*", func() { runUTS(false, 4130071) }},
	{"uts-t3", "*", func() { runUTS(true, 4112897) }},
	{"memory-blocked", "1", runMemory},
}

// ---- Creation and yield ----

func runCreate(num int) {
	everywhere(float64(num), func() {
		var group sync.WaitGroup
		group.Add(num)
		for i := 0; i < num; i++ {
			go group.Done()
		}
		group.Wait()
	})
}

func runSteps(which int) {
	const num = 256
	var group sync.WaitGroup
	steps(which, num, func() {
		group.Add(num)
		for i := 0; i < num; i++ {
			go group.Done()
		}
	}, group.Wait)
}

// together runs body(0) to body(num - 1) as goroutines.
func together(num int, body func(i int)) {
	var group sync.WaitGroup
	group.Add(num)
	for i := 0; i < num; i++ {
		go func(i int) {
			body(i)
			group.Done()
		}(i)
	}
	group.Wait()
}

func runYield(num int) {
	each := operations / num
	measure(float64(each*num), func() {
		together(num, func(int) {
			for n := each; n > 0; n-- {
				runtime.Gosched()
			}
		})
	})
}

// ---- Synchronisation ----

func runMutex(num int) {
	each := operations / num
	measure(float64(each*num), func() {
		var mutex sync.Mutex
		count := 0
		together(num, func(int) {
			for n := each; n > 0; n-- {
				mutex.Lock()
				before := count
				if num > 1 {
					runtime.Gosched()
				}
				count = before + 1
				mutex.Unlock()
			}
		})
		expect(count, each*num, "the number of operations")
	})
}

func runChannels() {
	each := operations / 2
	measure(float64(2*each), func() {
		ping, pong := make(chan int, 1), make(chan int, 1)
		count := 0
		together(2, func(i int) {
			for n := each; n > 0; n-- {
				if i == 0 {
					ping <- n
					count += <-pong - n + 1
				} else {
					pong <- <-ping
				}
			}
		})
		expect(count, each, "the number of round trips")
	})
}

func runCond() {
	each := operations / 2
	measure(float64(2*each), func() {
		var mutex sync.Mutex
		cond := sync.NewCond(&mutex)
		turn, count := 0, 0
		together(2, func(me int) {
			mutex.Lock()
			for n := each; n > 0; n-- {
				for turn != me {
					cond.Wait()
				}
				turn = 1 - me
				count++
				cond.Signal()
			}
			mutex.Unlock()
		})
		expect(count, 2*each, "the number of turns")
	})
}

// ---- Loops ----

var (
	matrix [tasks][tasks]float32
	factor float32 = 2
)

func scal(v []float32) {
	for i := range v {
		v[i] *= factor
	}
}

func runLoop(batch func(), rows int) {
	for i := range matrix {
		for k := range matrix[i] {
			matrix[i][k] = float32(k % 7)
		}
	}
	measure(1, func() {
		batch()
		factor = 2.5 - factor
	})
	scale := 1
	if factor != 2 {
		scale = 2
	}
	for i := 0; i < rows; i++ {
		for k, v := range matrix[i] {
			expect(int(v), k%7*scale, "an element")
		}
	}
}

func parallel(v []float32, parts int) {
	var group sync.WaitGroup
	group.Add(parts - 1)
	for p := 1; p < parts; p++ {
		go func(p int) {
			scal(v[len(v)*p/parts : len(v)*(p+1)/parts])
			group.Done()
		}(p)
	}
	scal(v[:len(v)/parts])
	group.Wait()
}

func forLoop() { parallel(matrix[0][:], streams) }

func tasksSingle() { together(tasks, func(i int) { scal(matrix[0][i : i+1]) }) }

func tasksParallel() {
	together(streams, func(s int) {
		first, end := tasks*s/streams, tasks*(s+1)/streams
		together(end-first, func(i int) { scal(matrix[0][first+i : first+i+1]) })
	})
}

func nested() {
	parts := streams
	if parts < 2 {
		parts = 2
	}
	together(streams, func(s int) {
		for row := tasks * s / streams; row < tasks*(s+1)/streams; row++ {
			parallel(matrix[row][:], parts)
		}
	})
}

func nestedTasks() {
	const parents = 100
	together(parents, func(p int) {
		first := p * tasks / parents
		together(tasks/parents, func(i int) { scal(matrix[0][first+i : first+i+1]) })
	})
}

// ---- Trees ----

func fib(n int) int {
	if n < 2 {
		return n
	}
	other := make(chan int, 1)
	go func() { other <- fib(n - 1) }()
	b := fib(n - 2)
	return <-other + b
}

func runFib() {
	n, answer, spawns := 24, 46368, 75024.0
	if quick {
		n, answer, spawns = 20, 6765, 10945.0
	}
	measure(spawns, func() { expect(fib(n), answer, "fib") })
}

func placeQueens(queens int, row int, columns, left, right uint32) int {
	if row == queens {
		return 1
	}
	var group sync.WaitGroup
	var found [16]int
	free, num := ^(columns|left|right)&(1<<queens-1), 0
	for ; free != 0; free &= free - 1 {
		group.Add(1)
		go func(column uint32, num int) {
			found[num] = placeQueens(queens, row+1, columns|column, (left|column)<<1, (right|column)>>1)
			group.Done()
		}(free&-free, num)
		num++
	}
	group.Wait()
	sum := 0
	for _, f := range found {
		sum += f
	}
	return sum
}

func runQueens() {
	queens, solutions, placements := 12, 14200, 856188.0
	if quick {
		queens, solutions, placements = 8, 92, 2056.0
	}
	measure(placements, func() { expect(placeQueens(queens, 0, 0, 0, 0), solutions, "the number of solutions") })
}

type node struct {
	state           [20]byte
	depth, children int
}

func makeNode(t3 bool, state []byte, number, depth int) *node {
	var text [24]byte
	size := copy(text[:], state)
	binary.BigEndian.PutUint32(text[size:], uint32(number))
	n := &node{state: sha1.Sum(text[:size+4]), depth: depth}
	u := float64(binary.BigEndian.Uint32(n.state[16:])&0x7fffffff) / 2147483648.0
	switch {
	case t3 && depth == 0:
		n.children = 2000
	case t3 && u < 0.124875:
		n.children = 8
	case !t3 && depth < 10:
		n.children = int(math.Min(100, math.Floor(math.Log(1-u)/math.Log(1-1/5.0))))
	}
	return n
}

func runUTS(t3 bool, nodes int) {
	seed := 19
	if t3 {
		seed = 42
	}
	measureLong(float64(nodes), func() {
		var group sync.WaitGroup
		var found int64 = 1
		var search func(n *node)
		search = func(n *node) {
			for i := 0; i < n.children; i++ {
				if child := makeNode(t3, n.state[:], i, n.depth+1); child.children > 0 {
					group.Add(1)
					go search(child)
				}
			}
			atomic.AddInt64(&found, int64(n.children))
			group.Done()
		}
		group.Add(1)
		go search(makeNode(t3, make([]byte, 16), seed, 0))
		group.Wait()
		expect(int(found), nodes, "the number of nodes")
	})
}

// ---- Memory of a goroutine that waits ----

func runMemory() {
	var waiting, over sync.WaitGroup
	release := make(chan bool)
	before := resident()
	waiting.Add(blocked)
	over.Add(blocked)
	for i := 0; i < blocked; i++ {
		go func() {
			waiting.Done()
			<-release
			over.Done()
		}()
	}
	waiting.Wait()
	report([]float64{float64(resident()-before) / blocked})
	close(release)
	over.Wait()
}
