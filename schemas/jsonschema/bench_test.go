package jsonschema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	v5 "github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
)

// order is a schema with types, required names, closed objects, an enum, a
// pattern, lengths and bounds.
const order = `{"type":"object","additionalProperties":false,"required":["id","status","items"],"properties":{
	"id":{"type":"string","pattern":"^[A-Z]{2}-[0-9]{6}$"},"status":{"enum":["new","paid","sent"]},"note":{"type":["string","null"],"maxLength":200},
	"items":{"type":"array","minItems":1,"items":{"$ref":"#/definitions/item"}},"address":{"$ref":"#/definitions/address"}},"definitions":{
	"address":{"type":"object","additionalProperties":false,"required":["city"],"properties":{"city":{"type":"string","minLength":1},"zip":{"type":"string"}}},
	"item":{"type":"object","additionalProperties":false,"required":["sku","count","price"],"properties":{
		"sku":{"type":"string","minLength":1,"maxLength":40},"count":{"type":"integer","minimum":1,"maximum":1000},"price":{"type":"number","exclusiveMinimum":0},
		"tags":{"type":"array","items":{"type":"string"}}}}}}`

func orderOf(items int) []byte {
	return fmt.Appendf(nil, `{"id":"AB-123456","status":"paid","note":"déjà vu","address":{"city":"São Paulo","zip":"01000"},"items":[%s]}`,
		repeat(items, func(i int) string {
			return fmt.Sprintf(`{"sku":"sku-%d","count":%d,"price":%d.99,"tags":["red","größe","x%d"]}`, i, i%99+1, i, i)
		}))
}

func BenchmarkReads(b *testing.B) {
	s := mustParse(b, order)
	for _, c := range []struct {
		name  string
		items int
	}{{"small", 1}, {"medium", 20}, {"large", 500}} {
		payload := orderOf(c.items)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				if got := s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{}); !got.OK() {
					b.Fatal(got.Violations)
				}
			}
		})
	}
	b.Run("referee, medium", func(b *testing.B) {
		theirs, err := referee(order)
		if err != nil {
			b.Fatal(err)
		}
		payload := orderOf(20)
		b.SetBytes(int64(len(payload)))
		b.ReportAllocs()
		defer costtest.Processor(b)()
		for b.Loop() {
			d := json.NewDecoder(bytes.NewReader(payload))
			d.UseNumber()
			var v any
			if err := d.Decode(&v); err != nil {
				b.Fatal(err)
			}
			if err := theirs.Validate(v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkReadsRefused is the order of 20 items, valid and with its last item
// wrong: the verdict alone, and explained; beside v5 with its detailed output.
func BenchmarkReadsRefused(b *testing.B) {
	s := mustParse(b, order)
	valid := orderOf(20)
	wrong := bytes.Replace(valid, []byte(`"count":20,`), []byte(`"count":0,`), 1)
	for _, c := range []struct {
		name    string
		payload []byte
		options schemas.ReadOptions
		ok      bool
	}{{"valid", valid, schemas.ReadOptions{}, true}, {"verdict", wrong, schemas.ReadOptions{Verdict: true}, false}, {"explained", wrong, schemas.ReadOptions{}, false}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				if got := s.Reads(s, schemas.Payload{Bytes: c.payload}, c.options); got.OK() != c.ok {
					b.Fatal(got.Violations)
				}
			}
		})
	}
	b.Run("referee", func(b *testing.B) {
		theirs, err := referee(order)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		defer costtest.Processor(b)()
		for b.Loop() {
			d := json.NewDecoder(bytes.NewReader(wrong))
			d.UseNumber()
			var v any
			if err := d.Decode(&v); err != nil {
				b.Fatal(err)
			}
			var refused *v5.ValidationError
			if !errors.As(theirs.Validate(v), &refused) || refused.DetailedOutput().Valid {
				b.Fatal("it is taken")
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	wide := func(n int) string {
		return `{"type":"object","properties":{` + repeat(n, func(i int) string {
			return fmt.Sprintf(`"field%d":{"type":"string","maxLength":%d,"description":"the field %d"}`, i, i+1, i)
		}) + `}}`
	}
	for _, n := range []int{10, 100, 1000} {
		text := wide(n)
		b.Run(fmt.Sprintf("%d properties", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			defer costtest.Processor(b)()
			for b.Loop() {
				if _, err := parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("referee, 100 properties", func(b *testing.B) {
		text := wide(100)
		b.ReportAllocs()
		defer costtest.Processor(b)()
		for b.Loop() {
			if _, err := referee(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
