//go:build !race

package costtest

// Slower is how many times longer work takes under the race detector.
const Slower = 1
