// A counter, and the scenario that judges it. fozzy.go is all that it needs of Fozzy.
package main

import "fmt"

// Counter is the program under test.
type Counter struct{ value int64 }

func (c *Counter) Add(amount int64) { c.value += amount }
func (c *Counter) Reset()           { c.value = 0 }

var (
	counter Counter
	// What it must show.
	model int64
)

var showsTheSum = Always("the counter shows the sum")

func init() {
	scenario.Name = "counter"
	scenario.Flows = []Flow{
		{Name: "add", Weight: 100, Run: func() {
			amount := drawInt("amount", 0, 9)
			counter.Add(amount)
			model += amount
		}},
		{Name: "reset", Weight: 5, Valid: func() bool { return model > 0 }, Run: func() {
			counter.Reset()
			model = 0
		}},
	}
	scenario.Invariants = []Invariant{{Name: "sum", Period: 1, Check: func() {
		showsTheSum.Check(counter.value == model, fmt.Sprint(counter.value, ", not ", model))
	}}}
}

// A scenario is called from outside; Go wants a main.
func main() {}
