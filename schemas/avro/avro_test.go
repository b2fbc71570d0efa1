package avro_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	s, err := avro.Format.Parse(context.Background(), schemas.Source{Type: schemas.Avro, Text: `{"type":"int"}`}, nil, schemas.ParseOptions{})
	if err != nil || s.Canonical() != `"int"` || s.Source().Text != `{"type":"int"}` {
		t.Errorf("%v, %v", s, err)
	}
	if s, err := avro.Format.Parse(context.Background(), schemas.Source{Text: `x`}, nil, schemas.ParseOptions{}); s != nil || err == nil {
		t.Errorf("a fault is answered by the schema %v and the error %v", s, err)
	}
	words := avro.Format.Vocabulary()
	if slices.Sort(words); len(slices.Compact(words)) != len(words) || len(words) < 20 {
		t.Errorf("the vocabulary has doubles or gaps: %v", words)
	}
}

func TestReferenceErrors(t *testing.T) {
	t.Parallel()
	resolver := schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		got := schemas.Resolved{Subject: schemas.Subject{Context: in, Name: ref.Subject}, Version: ref.Version}
		switch ref.Subject {
		case "proto":
			got.Source = schemas.Source{Type: schemas.Protobuf, Text: `syntax = "proto3";`}
		case "broken":
			got.Source = schemas.Source{Type: schemas.Avro, Text: `{"type":"nothing"}`}
		default:
			return got, schemas.ErrVersionUnknown
		}
		return got, nil
	})
	for _, subject := range []string{"proto", "broken", "unknown"} {
		source := schemas.Source{Text: `"int"`, References: []schemas.Reference{{Name: "x", Subject: subject, Version: 3}}}
		_, err := avro.Parse(context.Background(), source, resolver, schemas.ParseOptions{})
		var reference *schemas.ReferenceError
		if !errors.As(err, &reference) || reference.Reference.Subject != subject {
			t.Errorf("%s is answered by %v", subject, err)
		}
		if unknown := errors.Is(err, schemas.ErrVersionUnknown); unknown != (subject == "unknown") {
			t.Errorf("%s: unknown is %v: %v", subject, unknown, err)
		}
	}
	if _, err := avro.Parse(context.Background(), schemas.Source{Text: `"int"`, References: []schemas.Reference{{Name: "x", Subject: "s", Version: 1}}}, nil, schemas.ParseOptions{}); err == nil {
		t.Error("a reference without a resolver is accepted")
	}
}

// TestSchemaIsShared uses one schema from many goroutines, for the race detector.
func TestSchemaIsShared(t *testing.T) {
	t.Parallel()
	reader, payload := mustParse(t, eventSchema), eventPayload(2)
	writers := []*avro.Schema{mustParse(t, eventSchema), mustParse(t, " "+eventSchema), mustParse(t, wideSchema(3))}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 50 {
				reader.Reads(writers[i%3], schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: i%2 == 0})
				reader.Normalized()
				reader.Equivalent(writers[i%3])
				reader.ParsingForm()
				reader.Root().Named.Fields[i%3].Place()
				reader.JSONOf(payload, schemas.ReadOptions{})
			}
		})
	}
	group.Wait()
}

func TestWeightIsNearTheHeap(t *testing.T) {
	for name, text := range map[string]string{"wide": wideSchema(200), "event": eventSchema} {
		var before, after runtime.MemStats
		payload, _ := randomPayload(rand.New(rand.NewPCG(1, 1)), mustParse(t, text).Root(), nil, 0)
		runtime.GC()
		runtime.ReadMemStats(&before)
		list := make([]*avro.Schema, 100)
		for i := range list {
			// A text of its own, as a message or a database gives it.
			list[i] = mustParse(t, strings.Clone(text))
			list[i].Reads(list[i], schemas.Payload{Bytes: payload}, schemas.ReadOptions{})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		held := int(after.HeapAlloc-before.HeapAlloc) / len(list)
		if w := list[0].Weight(); w < held/2 || w > 2*held {
			t.Errorf("%s: a schema holds about %d bytes and says %d", name, held, w)
		}
		t.Logf("%s: text %d, held %d, weight %d", name, len(text), held, list[0].Weight())
		runtime.KeepAlive(list)
	}
}
