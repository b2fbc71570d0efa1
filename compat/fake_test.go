package compat_test

import (
	"crypto/sha256"
	"fmt"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// fake is a schema that is nothing but its text.
type fake struct {
	format schemas.Type
	text   string
}

func (f fake) Source() schemas.Source { return schemas.Source{Type: f.format, Text: f.text} }
func (f fake) Canonical() string      { return f.text }
func (f fake) Normalized() (string, []schemas.Reference) {
	return f.text, nil
}
func (f fake) Fingerprint() schemas.Fingerprint { return sha256.Sum256([]byte(f.text)) }
func (f fake) Equivalent(o schemas.Schema) bool { return o.Canonical() == f.text }
func (f fake) Names() []string                  { return nil }
func (f fake) Weight() int                      { return len(f.text) }
func (f fake) Reads(schemas.Schema, schemas.Payload, schemas.ReadOptions) schemas.Reading {
	return schemas.Reading{}
}

func avro(text string) schemas.Schema { return fake{schemas.Avro, text} }

// script is a checker that answers as told: the reference per "reader<writer",
// the truth per "old>new".
type script struct {
	reference map[string][]compat.Difference
	failing   map[string]error
	effects   map[string]compat.Effect
	changes   map[string][]compat.Change
	same      bool
	asked     []string
}

func (s *script) checker() compat.Checker {
	return compat.Checker{
		Format: schemas.Avro,
		Reference: func(reader, writer schemas.Schema, _ compat.Policy, _ compat.Budget) ([]compat.Difference, error) {
			key := reader.Canonical() + "<" + writer.Canonical()
			s.asked = append(s.asked, key)
			return s.reference[key], s.failing[key]
		},
		Truth: func(old, next schemas.Schema, _ compat.Budget) (map[compat.Layer]compat.Effect, []compat.Change) {
			key := old.Canonical() + ">" + next.Canonical()
			effect, ok := s.effects[key]
			if !ok {
				effect = compat.Effect{NewReadsOld: compat.Reads, OldReadsNew: compat.Reads}
			}
			return map[compat.Layer]compat.Effect{compat.Data: effect}, s.changes[key]
		},
		Rules: []compat.Rule{
			{ID: "avro.gone", Mirror: "avro.come", Peers: []string{"MISSING"}, Example: compat.Example{Title: "gone", Why: "because", Fix: "put it back"}},
			{ID: "avro.come", Mirror: "avro.gone", Peers: []string{"MISSING"}},
			{ID: "avro.lost", Mirror: "avro.lost"},
		},
		SameWhenEqual: s.same,
	}
}

// ask is a question about the script's schemas, the history newest first.
func (s *script) ask(level compat.Level, next string, history ...string) compat.Question {
	q := compat.Question{Checkers: []compat.Checker{s.checker()}, Subject: "orders", Label: "new.avsc", Level: level, Next: avro(next)}
	for i, text := range history {
		version := schemas.Version(len(history) - i)
		q.History = append(q.History, compat.Old{Label: fmt.Sprint(version), Version: version, Schema: avro(text)})
	}
	return q
}

func missing(path string) compat.Difference {
	return compat.Difference{Type: "MISSING", Path: path, Info: "x"}
}

func place(pointer schemas.Pointer, offset int) schemas.Place {
	return schemas.Place{Pointer: pointer, Position: schemas.Position{Line: 1, Column: offset + 1, Offset: offset}, End: schemas.Position{Line: 1, Column: offset + 5, Offset: offset + 4}}
}
