// Timers in a heap, and the scenario that finds one that fires late.
//
//	heap      [3 ✓ | 7 | 5 | 9]        the earliest is at the front
//	move      9 becomes 1, in its place [3 | 7 | 5 | 1]: the next to fire is 3, not 1
//
// The planted fault: a timer that is moved keeps its place in the heap. With the tag `fixed` the heap is mended.
package main

import (
	"container/heap"
	"fmt"
)

type timer struct {
	at    int64
	place int
}

// timers is a heap.Interface.
type timers []*timer

func (t timers) Len() int           { return len(t) }
func (t timers) Less(i, j int) bool { return t[i].at < t[j].at }
func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].place, t[j].place = i, j
}
func (t *timers) Push(x any) {
	x.(*timer).place = len(*t)
	*t = append(*t, x.(*timer))
}
func (t *timers) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

// move gives a timer another time.
func (t *timers) move(of *timer, at int64) {
	of.at = at
	if fixed {
		heap.Fix(t, of.place)
	}
}

var queue timers

// earliest looks at every timer: the model.
func earliest() int64 {
	first := queue[0].at
	for _, timer := range queue {
		first = min(first, timer.at)
	}
	return first
}

func somethingWaits() bool { return len(queue) > 0 }

// What must hold.
var (
	earliestFires = Always("the earliest timer fires")
	knowsItsPlace = Always("every timer knows its place")
)

func init() {
	scenario.Name = "timers"
	scenario.Flows = []Flow{
		{Name: "set", Weight: 50, Run: func() { heap.Push(&queue, &timer{at: drawInt("at", 0, 1000)}) }},
		{Name: "move", Weight: 20, Valid: somethingWaits, Run: func() {
			which := drawInt("which", 0, int64(len(queue)-1))
			queue.move(queue[which], drawInt("to", 0, 1000))
		}},
		{Name: "fire", Weight: 30, Valid: somethingWaits, Run: func() {
			expected := earliest()
			fired := heap.Pop(&queue).(*timer).at
			earliestFires.Check(fired == expected, fmt.Sprintf("%d before %d", fired, expected))
		}},
	}
	scenario.Invariants = []Invariant{{Name: "places", Period: 10, Check: func() {
		for place, timer := range queue {
			knowsItsPlace.Check(timer.place == place, fmt.Sprint(timer.place, " is at ", place))
		}
	}}}
}

// A scenario is called from outside; Go wants a main.
func main() {}
