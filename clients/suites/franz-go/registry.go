package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/sr"
)

const (
	userV1   = `{"type":"record","name":"User","namespace":"suite.franz","fields":[{"name":"id","type":"long"}]}`
	userV2   = `{"type":"record","name":"User","namespace":"suite.franz","fields":[{"name":"id","type":"long"},{"name":"mail","type":"string","default":""}]}`
	userBad  = `{"type":"record","name":"User","namespace":"suite.franz","fields":[{"name":"id","type":"long"},{"name":"mail","type":"string"}]}`
	userOdd  = `{ "namespace" : "suite.franz", "name":"User","type":"record",  "fields":[{"type":"long","name":"id"}]}`
	wrapper  = `{"type":"record","name":"Wrapper","namespace":"suite.franz","fields":[{"name":"user","type":"User"}]}`
	resolved = `{"type":"record","name":"Wrapper","namespace":"suite.franz","fields":[{"name":"user","type":{"type":"record","name":"User","fields":[{"name":"id","type":"long"}]}}]}`
	jsonV1   = `{"type":"object","properties":{"id":{"type":"integer"}},"additionalProperties":false}`
	jsonBad  = `{"type":"object","properties":{"id":{"type":"string"}},"additionalProperties":false}`
	protoV1  = "syntax = \"proto3\";\npackage suite.franz;\n\nmessage User {\n  int64 id = 1;\n}\n"
	protoBad = "syntax = \"proto3\";\npackage suite.franz;\n\nmessage User {\n  string id = 1;\n}\n"
)

var ctx = context.Background()

func avro(text string) sr.Schema { return sr.Schema{Schema: text} }

// registryCases register schemas and look them up in every way.
func registryCases(s *suite, c *sr.Client) {
	const subject = "franz-user-value"
	var first sr.SubjectSchema
	s.run("register", func() (err error) {
		first, err = c.CreateSchema(ctx, subject, avro(userV1))
		want := sr.SubjectSchema{Subject: subject, Version: 1, ID: first.ID, GUID: first.GUID, Schema: avro(userV1)}
		if err == nil && (first.ID <= 0 || len(first.GUID) != 36) {
			err = fmt.Errorf("id %d, GUID %q", first.ID, first.GUID)
		}
		return all(err, equal("schema", first, want))
	})
	s.run("register again and elsewhere", func() error {
		again, e1 := c.CreateSchema(ctx, subject, avro(userOdd))
		normal, e2 := c.CreateSchema(sr.WithParams(ctx, sr.Normalize), "franz-user-normal", avro(userOdd))
		return all(e1, e2, equal("again", again, first), equal("id", normal.ID, first.ID), equal("GUID", normal.GUID, first.GUID))
	})
	s.run("look up by id", func() error {
		got, e1 := c.SchemaByID(ctx, first.ID)
		text, e2 := c.SchemaTextByID(ctx, first.ID)
		subjects, e3 := c.SubjectsByID(ctx, first.ID)
		versions, e4 := c.SchemaVersionsByID(ctx, first.ID)
		return all(e1, e2, e3, e4, equal("schema", got, avro(userV1)), equal("text", text, userV1), equal("subjects", subjects, []string{"franz-user-normal", subject}),
			equal("versions", versions, []sr.SubjectVersion{{Subject: "franz-user-normal", Version: 1}, {Subject: subject, Version: 1}}))
	})
	s.run("look up by GUID", func() error {
		got, e1 := c.SchemaByGUID(ctx, first.GUID)
		ids, e2 := c.SchemaIDsByGUID(ctx, first.GUID)
		return all(e1, e2, equal("text", got.Schema.Schema, userV1), equal("ids", ids, []sr.ContextID{{Context: ".", ID: first.ID}}))
	})
	s.run("look up by version and latest", func() error {
		one, e1 := c.SchemaByVersion(ctx, subject, 1)
		latest, e2 := c.SchemaByVersion(ctx, subject, -1)
		text, e3 := c.SchemaTextByVersion(ctx, subject, 1)
		return all(e1, e2, e3, equal("version", one, first), equal("latest", latest, first), equal("text", text, userV1))
	})
	s.run("look up by text", func() error {
		got, err := c.LookupSchema(ctx, subject, avro(userOdd))
		return all(err, equal("schema", got, first))
	})
	s.run("lists", func() error {
		_, e0 := c.CreateSchema(ctx, subject, avro(userV2))
		subjects, e1 := c.Subjects(sr.WithParams(ctx, sr.SubjectPrefix("franz-user")))
		versions, e2 := c.SubjectVersions(ctx, subject)
		everything, e3 := c.AllSchemas(sr.WithParams(ctx, sr.SubjectPrefix(subject)))
		latest, e4 := c.AllSchemas(sr.WithParams(ctx, sr.SubjectPrefix(subject), sr.LatestOnly))
		page, e5 := c.SubjectVersions(sr.WithParams(ctx, sr.Offset(1), sr.Limit(1)), subject)
		types, e6 := c.SupportedTypes(ctx)
		slices.Sort(types)
		return all(e0, e1, e2, e3, e4, e5, e6, equal("subjects", subjects, []string{"franz-user-normal", subject}), equal("versions", versions, []int{1, 2}),
			equal("schemas", len(everything), 2), equal("latest", len(latest), 1), equal("page", page, []int{2}),
			equal("types", types, []sr.SchemaType{sr.TypeAvro, sr.TypeProtobuf, sr.TypeJSON}))
	})
	s.run("a bearer token is let pass", func() error {
		c := must(sr.NewClient(sr.URLs(c.OptValues(sr.URLs)[0].([]string)...), sr.BearerToken("token")))
		got, err := c.SchemaByVersion(ctx, subject, 1)
		return all(err, equal("schema", got, first))
	})
	s.run("unknown things have their errors", func() error {
		_, e1 := c.SchemaByID(ctx, 99999)
		_, e2 := c.SchemaByVersion(ctx, "franz-nothing", 1)
		_, e3 := c.SchemaByVersion(ctx, subject, 77)
		_, e4 := c.SchemaByVersion(ctx, subject, 0)
		_, e5 := c.LookupSchema(ctx, subject, avro(`"bytes"`))
		_, e6 := c.SchemaByGUID(ctx, "not-a-guid")
		_, e7 := c.RegisterSchema(ctx, "franz-invalid", avro(`{"type":"record"}`), -1, -1)
		return all(refused(e1, sr.ErrSchemaNotFound), refused(e2, sr.ErrSubjectNotFound), refused(e3, sr.ErrVersionNotFound), refused(e4, sr.ErrInvalidVersion),
			refused(e5, sr.ErrSchemaNotFound), refused(e6, sr.ErrSchemaNotFound), refused(e7, sr.ErrInvalidSchema))
	})
	s.run("compatibility", func() error {
		good, e1 := c.CheckCompatibility(ctx, subject, 1, avro(userV2))
		bad, e2 := c.CheckCompatibility(ctx, subject, -1, avro(userV1[:len(userV1)-2]+`,{"name":"mail","type":"long"}]}`))
		every, e3 := c.CheckCompatibility(ctx, subject, -2, avro(userV2))
		plain := must(sr.NewClient(sr.URLs(c.OptValues(sr.URLs)[0].([]string)...)))
		quiet, e4 := plain.CheckCompatibility(ctx, subject, 1, avro(userBad))
		if err := all(e1, e2, e3, e4, equal("compatible", []bool{good.Is, bad.Is, every.Is, quiet.Is}, []bool{true, false, true, false}), equal("without verbose", len(quiet.Messages), 0), equal("no messages", len(good.Messages), 0)); err != nil {
			return err
		}
		if !strings.Contains(strings.Join(bad.Messages, "\n"), "errorType:'TYPE_MISMATCH'") {
			return fmt.Errorf("the messages do not name the rule: %q", bad.Messages)
		}
		return nil
	})
	s.run("breaking registration is refused", func() error {
		_, err := c.RegisterSchema(ctx, "franz-user-normal", avro(userBad), -1, -1)
		return refused(err, sr.ErrIncompatibleSchema)
	})
	for _, f := range []struct {
		kind          sr.SchemaType
		subject       string
		text, notText string
	}{{sr.TypeJSON, "franz-json", jsonV1, jsonBad}, {sr.TypeProtobuf, "franz-proto", protoV1, protoBad}} {
		s.run("register and check "+f.kind.String(), func() error {
			m, e1 := c.CreateSchema(ctx, f.subject, sr.Schema{Schema: f.text, Type: f.kind})
			text, e2 := c.SchemaTextByVersion(ctx, f.subject, m.Version)
			is, e3 := c.CheckCompatibility(ctx, f.subject, -2, sr.Schema{Schema: f.notText, Type: f.kind})
			_, e4 := c.RegisterSchema(ctx, f.subject, sr.Schema{Schema: f.notText, Type: f.kind}, -1, -1)
			return all(e1, e2, e3, refused(e4, sr.ErrIncompatibleSchema), equal("type", m.Type, f.kind), equal("text", text, f.text), equal("breaking", is.Is, false))
		})
	}
}
