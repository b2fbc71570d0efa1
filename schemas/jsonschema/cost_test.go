package jsonschema_test

import (
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/schemas/costtest"
)

// within holds f to the limits of a text: 1 s and 256 MB.
func within(t *testing.T, f func()) {
	t.Helper()
	costtest.Within(t, time.Second, 256<<20, f)
}
