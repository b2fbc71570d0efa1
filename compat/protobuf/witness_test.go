package protobuf_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// TestOutsideWitnesses reads the payloads that an outside oracle found to fail,
// to be lost or to change, and expects the same of Reads.
func TestOutsideWitnesses(t *testing.T) {
	root := os.Getenv("CARTORIO_CONFORMANCE")
	if root == "" {
		t.Skip("NOT RUN: set CARTORIO_CONFORMANCE to the folder of the conformance kit")
	}
	raw, err := os.ReadFile(filepath.Join(root, "protobuf/handed.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID, Old, New                 string
		OldReferences, NewReferences []reference
		Witness                      map[string]struct{ Message, Effect, Payload string }
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	// Where the oracle and Reads differ, and why that stands.
	differ := map[string]string{
		"own-map-string-point-to-string-bytes/wireBackward": "the encoded message as opaque bytes counts as kept, in a map as elsewhere (B.1, mark O)",
	}
	ran := 0
	for _, c := range cases {
		for side, w := range c.Witness {
			if side != "wireBackward" && side != "wireForward" {
				continue
			}
			if differ[c.ID+"/"+side] != "" {
				continue
			}
			t.Run(c.ID+"/"+side, func(t *testing.T) {
				ran++
				writer, reader := parse(t, c.Old, c.OldReferences), parse(t, c.New, c.NewReferences)
				if side == "wireForward" {
					writer, reader = reader, writer
				}
				payload := schemas.Payload{Message: w.Message}
				if p := writer.(*protobuf.Schema).File().Package; p != "" {
					payload.Message = p + "." + w.Message
				}
				if w.Payload != "(empty)" {
					if payload.Bytes, err = hex.DecodeString(w.Payload); err != nil {
						t.Fatal(err)
					}
				}
				if own := writer.Reads(writer, payload, schemas.ReadOptions{}); !own.OK() {
					t.Fatalf("the writer cannot read it: %+v", own.Violations)
				}
				got := reader.Reads(writer, payload, schemas.ReadOptions{})
				switch w.Effect {
				case "fail", "utf8":
					if got.OK() {
						t.Errorf("%s is read, with %+v", w.Payload, got.Losses)
					}
				case "default":
					// The payload holds no value that could change.
				default:
					want := schemas.Lost
					if w.Effect == "cast" {
						want = schemas.AlteredOutOfRange
					}
					if !got.OK() || len(got.Losses) == 0 {
						t.Fatalf("%s (%s): no loss, violations %+v", w.Payload, w.Effect, got.Violations)
					}
					if w.Effect == "corrupt" {
						if got.Losses[0].Kind == schemas.AlteredOutOfRange {
							t.Errorf("%s (%s): %+v", w.Payload, w.Effect, got.Losses)
						}
					} else if got.Losses[0].Kind != want && w.Effect != "lost" {
						t.Errorf("%s (%s): %+v", w.Payload, w.Effect, got.Losses)
					}
				}
			})
		}
	}
	if ran == 0 {
		t.Fatal("no case ran")
	}
}
