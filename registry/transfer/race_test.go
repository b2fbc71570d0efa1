//go:build race

package transfer_test

// racing tells that the race detector watches: everything takes many times as
// long then, and times mean nothing.
const racing = true
