package protobuf_test

import (
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
)

// TestValueInAnotherField: a field is gone and its number is another field's, which
// the writer had elsewhere. What the writer put there hurts only where it shows.
func TestValueInAnotherField(t *testing.T) {
	t.Parallel()
	const (
		writer   = `syntax = "proto3"; message M { Tag tag = 2; string commit = 3; } message Tag { string name = 1; }`
		implicit = `syntax = "proto3"; message M { string commit = 2; }`
		explicit = `syntax = "proto3"; message M { optional string commit = 2; }`
		list     = `syntax = "proto3"; message M { repeated string commit = 2; }`
	)
	for _, c := range []struct {
		name, reader string
		payload      []byte
		losses       int
	}{
		{"an empty message, read as an empty text", implicit, []byte{0x12, 0}, 0},
		{"an empty message, read as a text that is there", explicit, []byte{0x12, 0}, 1},
		{"an empty message, read as an element", list, []byte{0x12, 0}, 1},
		{"a message, read as a text", implicit, []byte{0x12, 3, 0x0a, 1, 'a'}, 1},
		{"nothing", implicit, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := tree{"w": writer}.parse(t, "w", schemas.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := tree{"r": c.reader}.parse(t, "r", schemas.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := r.Reads(w, schemas.Payload{Bytes: c.payload}, schemas.ReadOptions{})
			if !got.OK() || len(got.Losses) != c.losses {
				t.Errorf("%d losses are wanted: %+v", c.losses, got)
			}
		})
	}
}
