//go:build fixed

package main

const fixed = true
