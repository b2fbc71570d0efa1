// Package journaltest is the suite that every registry.Journal must pass.
package journaltest

import (
	"testing"

	"github.com/cartorio-registry/cartorio/registry"
)

// Run proves a journal. Each call of open gives a new, empty one.
func Run(t *testing.T, open func(t *testing.T) registry.Journal) { t.Skip("not built yet") }
