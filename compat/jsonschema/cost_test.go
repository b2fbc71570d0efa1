package jsonschema_test

import (
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/schemas/costtest"
)

// within holds f to the limits of a pair: 2 s and 512 MB.
func within(t *testing.T, f func()) {
	t.Helper()
	costtest.Within(t, 2*time.Second, 512<<20, f)
}
