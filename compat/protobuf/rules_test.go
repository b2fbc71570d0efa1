package protobuf_test

import (
	"testing"

	"github.com/cartorio-registry/cartorio/compat/checktest"
	checker "github.com/cartorio-registry/cartorio/compat/protobuf"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

func TestChecker(t *testing.T) {
	t.Parallel()
	checktest.Run(t, protobuf.Format, checker.Checker, nil)
}
