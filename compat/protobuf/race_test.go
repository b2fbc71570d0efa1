//go:build race

package protobuf_test

// slower is how many times longer work takes under the race detector.
const slower = 10
