package validate_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// No JSON text and no Protobuf message begins like a prefix, so Detect never
// takes a byte off one that has none.
func TestDetectNeverMisreads(t *testing.T) {
	t.Parallel()
	f := newFixture()
	v, _ := open(t, f.shelf, validate.Options{})
	e := &validate.Expect{Framing: validate.Detect}
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 50_000
	if os.Getenv("CARTORIO_HUNT") != "" {
		rounds = 500_000 // a million documents, as F7 asks
	}
	if testing.Short() {
		rounds = 5_000
	}
	for range rounds {
		doc, err := json.Marshal(map[string]any{"id": r.Int64(), "note": string(rune(r.IntN(0x10ffff)))})
		if err != nil {
			t.Fatal(err)
		}
		if o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(f.order2), Payload: doc}, e); o.Verdict != validate.Accept || len(o.Payload) != len(doc) {
			t.Fatalf("%q: %s %s, %d of %d bytes (%v)", doc, o.Verdict, o.Reason, len(o.Payload), len(doc), o.Err)
		}
		message := protowire.AppendVarint(protowire.AppendTag(nil, protowire.Number(1+r.IntN(1<<20)), protowire.VarintType), r.Uint64())
		m := &validate.Message{Headers: with(stamped(f.shop1), "schemaMessage", "acme.Refund"), Payload: message}
		if o := v.BeforeConsume(ctx, m, e); len(o.Payload) != len(message) {
			t.Fatalf("%x: %s %s, %d of %d bytes (%v)", message, o.Verdict, o.Reason, len(o.Payload), len(message), o.Err)
		}
	}
}
