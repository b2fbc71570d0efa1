//go:build race

package main

// slower is how many times longer work takes under the race detector.
const slower = 10
