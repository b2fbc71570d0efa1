//go:build race

package report_test

// The race detector looks at order, not at size.
const many = 500
