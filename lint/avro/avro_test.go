package avro_test

import (
	"testing"

	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
	lintavro "github.com/cartorio-registry/cartorio/lint/avro"
	"github.com/cartorio-registry/cartorio/lint/linttest"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

func TestLinter(t *testing.T) {
	t.Parallel()
	linttest.Run(t, avro.Format, compatavro.Checker, lintavro.Linter)
}
