package jsonschema_test

import (
	"testing"

	compatjsonschema "github.com/cartorio-registry/cartorio/compat/jsonschema"
	lintjsonschema "github.com/cartorio-registry/cartorio/lint/jsonschema"
	"github.com/cartorio-registry/cartorio/lint/linttest"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

func TestLinter(t *testing.T) {
	t.Parallel()
	linttest.Run(t, jsonschema.Format, compatjsonschema.Checker, lintjsonschema.Linter)
}
