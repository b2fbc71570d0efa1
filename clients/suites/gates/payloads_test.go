package gates

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"buf.build/go/hyperpb"
	"github.com/hamba/avro/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// cached is where scripts/clients.sh keeps what other languages' package managers
// installed.
func cached(b *testing.B, name, path string) string {
	b.Helper()
	root := os.Getenv("CARTORIO_CACHE")
	if root == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			b.Skip("NOT RUN: there is no folder for caches: ", err)
		}
		root = filepath.Join(dir, "cartorio")
	}
	at := filepath.Join(root, "clients", name, filepath.FromSlash(path))
	if _, err := os.Stat(at); err != nil {
		b.Skipf("NOT RUN: %s is not installed: scripts/clients.sh install %s", filepath.Base(path), name)
	}
	return at
}

// elsewhere runs a program of another language, which warms up, measures itself and
// prints the processor time of one message in nanoseconds.
func elsewhere(b *testing.B, schema string, payload []byte, program string, args ...string) {
	b.Helper()
	if _, err := exec.LookPath(program); err != nil {
		b.Skipf("NOT RUN: %s is not installed", program)
	}
	dir := b.TempDir()
	for name, data := range map[string][]byte{"schema": []byte(schema), "payload": payload} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	args = append(args, filepath.Join(dir, "schema"), filepath.Join(dir, "payload"))
	var sum float64
	for b.Loop() {
		var complaint bytes.Buffer
		cmd := exec.CommandContext(b.Context(), program, args...)
		cmd.Stderr = &complaint
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("%s: %v\n%s", program, err, complaint.String())
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			b.Fatalf("%s says %q", program, out)
		}
		sum += n
	}
	b.ReportMetric(sum/float64(b.N), "cpu-ns/op")
}

// BenchmarkPayloads checks one medium event, beside what users of other languages
// and of the fastest Go library have: ajv behind JSON.parse, Java's generic Avro
// reader, hyperpb with its arena used again.
func BenchmarkPayloads(b *testing.B) {
	parsed := func(kind schemas.Type, text string) schemas.Schema {
		f, _ := formats.Named(kind)
		return must(f.Parse(b.Context(), schemas.Source{Type: kind, Text: text}, nil, schemas.ParseOptions{}))
	}
	ours := func(b *testing.B, s schemas.Schema, p schemas.Payload) {
		b.SetBytes(int64(len(p.Bytes)))
		b.ReportAllocs()
		defer costtest.Processor(b)()
		for b.Loop() {
			if r := s.Reads(s, p, schemas.ReadOptions{}); !r.OK() {
				b.Fatal(r.Violations)
			}
		}
	}
	medium := eventOf(10)
	b.Run("JSON", func(b *testing.B) {
		payload := must(json.Marshal(medium))
		s := parsed(schemas.JSON, eventJSON)
		b.Run("ours", func(b *testing.B) { ours(b, s, schemas.Payload{Bytes: payload}) })
		b.Run("ajv", func(b *testing.B) {
			elsewhere(b, eventJSON, payload, "node", filepath.Join("testdata", "ajv.cjs"), cached(b, "node", "node_modules/ajv"))
		})
	})
	b.Run("Avro", func(b *testing.B) {
		payload := must(avro.Marshal(avro.MustParse(eventAvro), medium))
		s := parsed(schemas.Avro, eventAvro)
		b.Run("ours", func(b *testing.B) { ours(b, s, schemas.Payload{Bytes: payload}) })
		b.Run("Java", func(b *testing.B) {
			elsewhere(b, eventAvro, payload, "java", "-cp", cached(b, "java", "target/lib")+"/*", filepath.Join("testdata", "Avro.java"))
		})
	})
	b.Run("Protobuf", func(b *testing.B) {
		s := parsed(schemas.Protobuf, eventProto)
		payload := must(proto.Marshal(medium.message()))
		event := medium.message().ProtoReflect().Descriptor()
		b.Run("ours", func(b *testing.B) {
			ours(b, s, schemas.Payload{Bytes: payload, Message: string(event.FullName())})
		})
		b.Run("hyperpb", func(b *testing.B) {
			kind, arena := hyperpb.CompileMessageDescriptor(event), new(hyperpb.Shared)
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				if err := proto.Unmarshal(payload, arena.NewMessage(kind)); err != nil {
					b.Fatal(err)
				}
				arena.Free()
			}
		})
		b.Run("dynamicpb", func(b *testing.B) {
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				if err := proto.Unmarshal(payload, dynamicpb.NewMessage(event)); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}
