package formats_test

import (
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

func TestEveryTypeHasOneWholeFormat(t *testing.T) {
	t.Parallel()
	for _, want := range []schemas.Type{schemas.Avro, schemas.JSON, schemas.Protobuf} {
		f, ok := formats.Named(want)
		if !ok || f.Type != want {
			t.Errorf("Named(%s) = %v, %v", want, f.Type, ok)
			continue
		}
		if f.Doc == "" || len(f.Extensions) == 0 || f.Parse == nil || f.Outline == nil || f.Vocabulary == nil {
			t.Errorf("%s lacks a part", want)
		}
	}
	if _, ok := formats.Named("THRIFT"); ok {
		t.Error("THRIFT is known")
	}
	if len(formats.All) != 3 {
		t.Errorf("All has %d formats", len(formats.All))
	}
}
