//go:build !race

package transfer_test

// racing tells that the race detector watches.
const racing = false
