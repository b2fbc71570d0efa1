//go:build !race

package report_test

// many findings must still fit where platforms take them.
const many = 10_000
