package avro_test

import (
	"testing"

	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
	"github.com/cartorio-registry/cartorio/compat/checktest"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

func TestChecker(t *testing.T) {
	t.Parallel()
	checktest.Run(t, avro.Format, compatavro.Checker, generatePair)
}
