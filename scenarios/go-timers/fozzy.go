package main

// What this scenario uses of Fozzy, by the names in wit/deps/fozzy-*.wit and the flat signatures of the component model.
// `fozzy` knows these interfaces, and makes a component of the core module that Go writes.

import (
	"path/filepath"
	"runtime"
	"strconv"
	"unsafe"
)

//go:wasmimport fozzy:choices/draws@0.1.0 int
//go:noescape
func drawInt(site string, min, max int64) int64

//go:wasmimport fozzy:choices/draws@0.1.0 weighted
//go:noescape
func drawWeighted(site string, weights *uint32, count uint32) uint32

//go:wasmimport fozzy:properties/assertions@0.1.0 declare
//go:noescape
func declareProperties(properties unsafe.Pointer, count uint32)

//go:wasmimport fozzy:properties/assertions@0.1.0 always
//go:noescape
func assertAlways(name string, holds bool, hasDetails uint32, details string)

//go:wasmimport fozzy:properties/assertions@0.1.0 sometimes
//go:noescape
func assertSometimes(name string, holds bool, hasDetails uint32, details string)

//go:wasmimport fozzy:properties/assertions@0.1.0 reachable
//go:noescape
func assertReachable(name string)

//go:wasmimport fozzy:properties/assertions@0.1.0 unreachable
//go:noescape
func assertUnreachable(name string, hasDetails uint32, details string)

// A Property is made once, at the top level of a package, so that a report has it even when nothing comes by it.
type Property struct {
	kind        uint32
	name, place string
}

var properties []*Property

func property(kind uint32, name string) *Property {
	_, file, line, _ := runtime.Caller(2)
	of := &Property{kind, name, filepath.Base(file) + ":" + strconv.Itoa(line)}
	properties = append(properties, of)
	return of
}

// Always makes a property that must hold each time: when it does not, the run ends there, and details are shown.
func Always(name string) *Property { return property(0, name) }

// Sometimes makes a property that must hold at some time, over all runs.
func Sometimes(name string) *Property { return property(2, name) }

// Reachable makes a property of a place that must be come by at some time, over all runs.
func Reachable(name string) *Property { return property(3, name) }

// Unreachable makes a property of a place that must never be come by.
func Unreachable(name string) *Property { return property(4, name) }

// Check evaluates a property of Always or Sometimes.
func (p *Property) Check(holds bool, details string) {
	if p.kind == 2 {
		assertSometimes(p.name, holds, 0, "")
		return
	}
	assertAlways(p.name, holds, 1, details)
}

// Reach says that the program is at the place of a property of Reachable or Unreachable.
func (p *Property) Reach(details string) {
	if p.kind == 3 {
		assertReachable(p.name)
		return
	}
	assertUnreachable(p.name, 1, details)
}

// A Flow is one kind of step: how likely it is, what it does, and whether it is valid now.
type Flow struct {
	Name   string
	Weight uint32
	Run    func()
	Valid  func() bool
}

// An Invariant is checked after every Period steps.
type Invariant struct {
	Name   string
	Period uint32
	Check  func()
}

// A scenario of these; main.go fills it in.
var scenario struct {
	Name       string
	Flows      []Flow
	Invariants []Invariant
}

// What the component model wants to see in memory: addresses have four bytes there, and eight in Go's own values.
type (
	rawText struct{ address, length uint32 }
	rawProperty struct {
		kind        uint32
		name, place rawText
	}
	rawFlow struct {
		name        rawText
		weight      uint32
		hasMaxTimes uint32
		maxTimes    uint32
	}
	rawInvariant struct {
		name   rawText
		period uint32
	}
	rawInfo struct {
		name                       rawText
		flows, flowCount           uint32
		invariants, invariantCount uint32
	}
	rawStep struct {
		result  uint32
		payload [3]uint32
	}
)

// Kept here, so that they stay where they are until the caller has read them.
var (
	info       rawInfo
	declared   []rawProperty
	flows      []rawFlow
	invariants []rawInvariant
	weights    []uint32
	result     rawStep
)

const (
	ran   = 0
	stuck = 2
)

func address[T any](of *T) uint32 { return uint32(uintptr(unsafe.Pointer(of))) }

func text(of string) rawText {
	return rawText{uint32(uintptr(unsafe.Pointer(unsafe.StringData(of)))), uint32(len(of))}
}

//go:wasmexport fozzy:scenario/stateful@0.1.0#describe
func describe() unsafe.Pointer {
	for _, flow := range scenario.Flows {
		flows = append(flows, rawFlow{name: text(flow.Name), weight: flow.Weight})
	}
	for _, invariant := range scenario.Invariants {
		invariants = append(invariants, rawInvariant{text(invariant.Name), invariant.Period})
	}
	info = rawInfo{
		name:  text(scenario.Name),
		flows: address(unsafe.SliceData(flows)), flowCount: uint32(len(flows)),
		invariants: address(unsafe.SliceData(invariants)), invariantCount: uint32(len(invariants)),
	}
	return unsafe.Pointer(&info)
}

//go:wasmexport fozzy:scenario/stateful@0.1.0#begin-sequence
func beginSequence(sequence uint32) {
	declared = declared[:0]
	for _, of := range properties {
		declared = append(declared, rawProperty{of.kind, text(of.name), text(of.place)})
	}
	declareProperties(unsafe.Pointer(unsafe.SliceData(declared)), uint32(len(declared)))
}

//go:wasmexport fozzy:scenario/stateful@0.1.0#step
func step(number uint32) unsafe.Pointer {
	weights = weights[:0]
	valid := false
	for _, flow := range scenario.Flows {
		weight := flow.Weight
		if flow.Valid != nil && !flow.Valid() {
			weight = 0
		}
		weights = append(weights, weight)
		valid = valid || weight > 0
	}
	if !valid {
		why := text("none of the flows is valid now")
		result = rawStep{stuck, [3]uint32{why.address, why.length}}
		return unsafe.Pointer(&result)
	}
	drawn := drawWeighted("flow", unsafe.SliceData(weights), uint32(len(weights)))
	scenario.Flows[drawn].Run()
	for _, invariant := range scenario.Invariants {
		if (number+1)%invariant.Period == 0 {
			invariant.Check()
		}
	}
	result = rawStep{ran, [3]uint32{drawn}}
	return unsafe.Pointer(&result)
}

//go:wasmexport fozzy:scenario/stateful@0.1.0#end-sequence
func endSequence(sequence uint32) {}
