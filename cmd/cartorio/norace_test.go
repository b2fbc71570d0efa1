//go:build !race

package main

// slower is how many times longer work takes than limits say.
const slower = 1
