package jsonschema_test

import (
	"math/rand/v2"
	"testing"

	"github.com/cartorio-registry/cartorio/compat/checktest"
	jsoncompat "github.com/cartorio-registry/cartorio/compat/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

func TestChecker(t *testing.T) {
	t.Parallel()
	checktest.Run(t, jsonschema.Format, jsoncompat.Checker, func(r *rand.Rand, size int) (old, next string) {
		for {
			old, next = grower{Rand: r}.pair(1 + size/4)
			if _, err := parseWith(old, nil); err != nil {
				continue
			}
			if _, err := parseWith(next, nil); err == nil {
				return old, next
			}
		}
	})
}
