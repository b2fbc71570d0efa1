//go:build race

package jsonschema_test

// slower is how many times longer work takes under the race detector.
const slower = 10
