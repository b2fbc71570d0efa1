package protobuf_test

import (
	"testing"

	compatprotobuf "github.com/cartorio-registry/cartorio/compat/protobuf"
	"github.com/cartorio-registry/cartorio/lint/linttest"
	lintprotobuf "github.com/cartorio-registry/cartorio/lint/protobuf"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

func TestLinter(t *testing.T) {
	t.Parallel()
	linttest.Run(t, protobuf.Format, compatprotobuf.Checker, lintprotobuf.Linter)
}
