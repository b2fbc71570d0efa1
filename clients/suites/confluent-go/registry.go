package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry"
)

const (
	userV1   = `{"type":"record","name":"User","namespace":"suite.go","fields":[{"name":"id","type":"long"}]}`
	userV2   = `{"type":"record","name":"User","namespace":"suite.go","fields":[{"name":"id","type":"long"},{"name":"mail","type":"string","default":""}]}`
	userBad  = `{"type":"record","name":"User","namespace":"suite.go","fields":[{"name":"id","type":"long"},{"name":"mail","type":"string"}]}`
	userOdd  = `{ "namespace" : "suite.go", "name":"User","type":"record",  "fields":[{"type":"long","name":"id"}]}`
	wrapper  = `{"type":"record","name":"Wrapper","namespace":"suite.go","fields":[{"name":"user","type":"User"}]}`
	jsonV1   = `{"type":"object","properties":{"id":{"type":"integer"}},"additionalProperties":false}`
	jsonBad  = `{"type":"object","properties":{"id":{"type":"string"}},"additionalProperties":false}`
	protoV1  = "syntax = \"proto3\";\npackage suite.go;\n\nmessage User {\n  int64 id = 1;\n}\n"
	protoV2  = "syntax = \"proto3\";\npackage suite.go;\n\nmessage User {\n  int64 id = 1;\n  string mail = 2;\n}\n"
	protoBad = "syntax = \"proto3\";\npackage suite.go;\n\nmessage User {\n  string id = 1;\n}\n"
)

func avro(text string) schemaregistry.SchemaInfo { return schemaregistry.SchemaInfo{Schema: text} }

func typed(kind, text string) schemaregistry.SchemaInfo {
	return schemaregistry.SchemaInfo{Schema: text, SchemaType: kind}
}

// registryCases asks everything that the REST client offers. Every answer is
// read past the client's caches where the case is about the server.
func registryCases(s *suite, c schemaregistry.Client) {
	const subject = "go-user-value"
	var first schemaregistry.SchemaMetadata
	s.run("register", func() (err error) {
		first, err = c.RegisterFullResponse(subject, avro(userV1), false)
		return all(err, equal("version", first.Version, 1), positive(first.ID), guid(first.GUID))
	})
	s.run("register again in another layout", func() error {
		again, err := newClient(c.Config().SchemaRegistryURL).RegisterFullResponse(subject, avro(userOdd), false)
		return all(err, equal("id", again.ID, first.ID), equal("version", again.Version, 1))
	})
	s.run("register elsewhere shares the id", func() error {
		id, err := c.Register("go-user-copy", avro(userV1), false)
		return all(err, equal("id", id, first.ID))
	})
	s.run("register with normalization", func() error {
		id, err := c.Register("go-user-normal", avro(userOdd), true)
		return all(err, equal("id", id, first.ID))
	})
	s.run("look up by id", func() error {
		got, err := newClient(c.Config().SchemaRegistryURL).GetBySubjectAndID(subject, first.ID)
		return all(err, equal("text", got.Schema, userV1), equal("type", got.SchemaType, "AVRO"))
	})
	s.run("look up by GUID", func() error {
		got, err := newClient(c.Config().SchemaRegistryURL).GetByGUID(first.GUID)
		return all(err, equal("text", got.Schema, userV1))
	})
	s.run("look up by text", func() error {
		id, err := c.GetID(subject, avro(userV1), false)
		version, err2 := c.GetVersion(subject, avro(userV1), false)
		full, err3 := newClient(c.Config().SchemaRegistryURL).GetIDFullResponse(subject, avro(userOdd), true)
		return all(err, err2, err3, equal("id", id, first.ID), equal("version", version, 1), equal("full id", full.ID, first.ID), equal("GUID", full.GUID, first.GUID))
	})
	s.run("look up by version and latest", func() error {
		one, err := c.GetSchemaMetadata(subject, 1)
		latest, err2 := c.GetLatestSchemaMetadata(subject)
		return all(err, err2, equal("text", one.Schema, userV1), equal("id", one.ID, first.ID), equal("latest", latest.Version, 1), equal("subject", latest.Subject, subject))
	})
	s.run("unknown things have their codes", func() error {
		_, e1 := c.GetBySubjectAndID("", 99999)
		_, e2 := c.GetLatestSchemaMetadata("go-nothing")
		_, e3 := c.GetSchemaMetadata(subject, 77)
		_, e4 := c.GetID(subject, avro(`"bytes"`), false)
		_, e5 := c.GetID("go-nothing", avro(userV1), false)
		_, e6 := c.GetByGUID("00000000-0000-0000-0000-000000000000")
		return all(refused(e1, 40403), refused(e2, 40401), refused(e3, 40402), refused(e4, 40403), refused(e5, 40401), refused(e6, 40403))
	})
	s.run("uses of an id", func() error {
		uses, err := c.GetSubjectsAndVersionsByID(first.ID)
		want := []schemaregistry.SubjectAndVersion{{Subject: "go-user-copy", Version: 1}, {Subject: "go-user-normal", Version: 1}, {Subject: subject, Version: 1}}
		return all(err, equal("uses", uses, want))
	})
	s.run("invalid schema", func() error {
		_, err := c.Register("go-invalid", avro(`{"type":"record"}`), false)
		_, err2 := c.Register("go-invalid", typed("THRIFT", "struct A {}"), false)
		return all(refused(err, 42201), refused(err2, 42201))
	})
	s.run("compatibility", func() error {
		good, e1 := c.TestCompatibility(subject, 1, avro(userV2))
		bad, e2 := c.TestCompatibility(subject, -1, avro(userBad))
		good2, e3 := c.TestSubjectCompatibility(subject, avro(userV2))
		bad2, e4 := c.TestSubjectCompatibility(subject, avro(userBad))
		return all(e1, e2, e3, e4, equal("compatible", []bool{good, bad, good2, bad2}, []bool{true, false, true, false}))
	})
	s.run("breaking registration is refused", func() error {
		_, err := c.Register(subject, avro(userBad), false)
		if err2 := refused(err, 409); err2 != nil {
			return err2
		}
		if !strings.Contains(err.Error(), "READER_FIELD_MISSING_DEFAULT_VALUE") {
			return fmt.Errorf("the message does not name the rule: %w", err)
		}
		return nil
	})
	s.run("second version", func() error {
		m, err := c.RegisterFullResponse(subject, avro(userV2), false)
		versions, err2 := c.GetAllVersions(subject)
		latest, err3 := newClient(c.Config().SchemaRegistryURL).GetLatestSchemaMetadata(subject)
		return all(err, err2, err3, equal("version", m.Version, 2), equal("versions", versions, []int{1, 2}), equal("latest", latest.Version, 2))
	})
	s.run("subjects", func() error {
		subjects, err := c.GetAllSubjects()
		if err == nil && !slices.Contains(subjects, subject) {
			err = fmt.Errorf("%s is not in %v", subject, subjects)
		}
		return err
	})
	s.run("a bearer token is let pass", func() error {
		c, err := schemaregistry.NewClient(schemaregistry.NewConfigWithBearerAuthentication(c.Config().SchemaRegistryURL, "token", "lsrc-1", "pool-1"))
		if err != nil {
			return err
		}
		latest, err := c.GetLatestSchemaMetadata(subject)
		return all(err, equal("subject", latest.Subject, subject))
	})
	levelCases(s, c, subject)
	referenceCases(s, c)
	formatCases(s, c)
	deletionCases(s, c, subject)
}

func levelCases(s *suite, c schemaregistry.Client, subject string) {
	s.run("levels", func() error {
		_, e0 := c.GetCompatibility(subject)
		inherited, e1 := c.GetConfig(subject, true)
		set, e2 := c.UpdateCompatibility(subject, schemaregistry.Full)
		got, e3 := c.GetCompatibility(subject)
		return all(refused(e0, 40408), e1, e2, e3, equal("inherited", inherited.CompatibilityLevel, level(schemaregistry.Backward)),
			equal("set", set, level(schemaregistry.Full)), equal("got", got, level(schemaregistry.Full)))
	})
	s.run("global level", func() error {
		before, e1 := c.GetDefaultCompatibility()
		set, e2 := c.UpdateDefaultCompatibility(schemaregistry.ForwardTransitive)
		got, e3 := c.GetDefaultConfig()
		back, e4 := c.UpdateDefaultCompatibility(before)
		return all(e1, e2, e3, e4, equal("set", set, level(schemaregistry.ForwardTransitive)), equal("got", got.CompatibilityLevel, level(schemaregistry.ForwardTransitive)), equal("back", back, before))
	})
	s.run("config members", func() error {
		update := schemaregistry.ServerConfig{CompatibilityUpdate: schemaregistry.None, Normalize: true, CompatibilityGroup: "major"}
		set, e1 := c.UpdateConfig("go-config", update)
		got, e2 := c.GetConfig("go-config", false)
		return all(e1, e2, equal("set", set, update), equal("got", got, schemaregistry.ServerConfig{CompatibilityLevel: schemaregistry.None, Normalize: true, CompatibilityGroup: "major"}))
	})
	s.run("alias", func() error {
		_, e1 := c.UpdateConfig("go-alias", schemaregistry.ServerConfig{CompatibilityUpdate: schemaregistry.Backward, Alias: subject})
		latest, e2 := c.GetLatestSchemaMetadata("go-alias")
		return all(e1, e2, equal("subject", latest.Subject, subject))
	})
	s.run("contexts", func() error {
		_, e1 := c.Register(":.go:user-value", avro(userV1), false)
		contexts, e2 := c.GetAllContexts()
		if e2 == nil && !slices.Contains(contexts, ".go") {
			e2 = fmt.Errorf(".go is not in %v", contexts)
		}
		inside := newClient(c.Config().SchemaRegistryURL + "/contexts/.go")
		latest, e3 := inside.GetLatestSchemaMetadata("user-value")
		return all(e1, e2, e3, equal("text", latest.Schema, userV1), equal("subject", latest.Subject, ":.go:user-value"))
	})
}

func referenceCases(s *suite, c schemaregistry.Client) {
	refs := []schemaregistry.Reference{{Name: "suite.go.User", Subject: "go-ref-user", Version: 1}}
	s.run("references", func() error {
		_, e1 := c.Register("go-ref-user", avro(userV1), false)
		m, e2 := c.RegisterFullResponse("go-ref-wrapper", schemaregistry.SchemaInfo{Schema: wrapper, References: refs}, false)
		got, e3 := newClient(c.Config().SchemaRegistryURL).GetBySubjectAndID("go-ref-wrapper", m.ID)
		_, e4 := c.DeleteSubject("go-ref-user", false)
		return all(e1, e2, e3, equal("references", got.References, refs), equal("text", got.Schema, wrapper), refused(e4, 42206))
	})
	s.run("unresolved reference", func() error {
		_, err := c.Register("go-ref-none", schemaregistry.SchemaInfo{Schema: wrapper, References: []schemaregistry.Reference{{Name: "suite.go.User", Subject: "go-nothing", Version: 1}}}, false)
		return refused(err, 42201)
	})
	s.run("metadata and rules", func() error {
		info := avro(userV1)
		info.Metadata = &schemaregistry.Metadata{Properties: map[string]string{"owner": "payments"}}
		info.RuleSet = &schemaregistry.RuleSet{DomainRules: []schemaregistry.Rule{{Name: "positiveId", Kind: "CONDITION", Mode: "WRITE", Type: "CEL", Expr: "message.id > 0"}}}
		m, e1 := c.RegisterFullResponse("go-meta", info, false)
		got, e2 := c.GetLatestWithMetadata("go-meta", map[string]string{"owner": "payments"}, false)
		_, e3 := c.GetLatestWithMetadata("go-meta", map[string]string{"owner": "nobody"}, false)
		if err := all(e1, e2, refused(e3, 40403), equal("id", got.ID, m.ID)); err != nil {
			return err
		}
		return all(equal("metadata", got.Metadata, info.Metadata), equal("rules", got.RuleSet, info.RuleSet))
	})
}

func formatCases(s *suite, c schemaregistry.Client) {
	for _, f := range []struct{ kind, subject, v1, next, bad string }{
		{"JSON", "go-json", jsonV1, "", jsonBad},
		{"PROTOBUF", "go-proto", protoV1, protoV2, protoBad},
	} {
		s.run("register and check "+f.kind, func() error {
			m, e1 := c.RegisterFullResponse(f.subject, typed(f.kind, f.v1), false)
			got, e2 := newClient(c.Config().SchemaRegistryURL).GetBySubjectAndID(f.subject, m.ID)
			bad, e3 := c.TestSubjectCompatibility(f.subject, typed(f.kind, f.bad))
			_, e4 := c.Register(f.subject, typed(f.kind, f.bad), false)
			if err := all(e1, e2, e3, refused(e4, 409), equal("type", got.SchemaType, f.kind), equal("text", got.Schema, f.v1), equal("breaking", bad, false)); err != nil {
				return err
			}
			if f.next == "" {
				return nil
			}
			good, e5 := c.TestSubjectCompatibility(f.subject, typed(f.kind, f.next))
			next, e6 := c.RegisterFullResponse(f.subject, typed(f.kind, f.next), false)
			return all(e5, e6, equal("compatible", good, true), equal("version", next.Version, 2))
		})
	}
}

func deletionCases(s *suite, c schemaregistry.Client, subject string) {
	s.run("delete a version", func() error {
		_, e0 := c.DeleteSubjectVersion(subject, 2, true)
		soft, e1 := c.DeleteSubjectVersion(subject, 2, false)
		_, e2 := newClient(c.Config().SchemaRegistryURL).GetSchemaMetadata(subject, 2)
		hidden, e3 := newClient(c.Config().SchemaRegistryURL).GetSchemaMetadataIncludeDeleted(subject, 2, true)
		_, e4 := c.DeleteSubjectVersion(subject, 2, false)
		hard, e5 := c.DeleteSubjectVersion(subject, 2, true)
		_, e6 := newClient(c.Config().SchemaRegistryURL).GetSchemaMetadataIncludeDeleted(subject, 2, true)
		return all(refused(e0, 40407), e1, refused(e2, 40402), e3, refused(e4, 40406), e5, refused(e6, 40402),
			equal("soft", soft, 2), equal("hidden", hidden.Schema, userV2), equal("hard", hard, 2))
	})
	s.run("delete a subject", func() error {
		_, e0 := c.DeleteSubject(subject, true)
		soft, e1 := c.DeleteSubject(subject, false)
		_, e2 := c.DeleteSubject(subject, false)
		_, e3 := c.GetAllVersions(subject)
		hard, e4 := c.DeleteSubject(subject, true)
		_, e5 := c.DeleteSubject(subject, false)
		return all(refused(e0, 40405), e1, refused(e2, 40404), refused(e3, 40401), e4, refused(e5, 40401), equal("soft", soft, []int{1}), equal("hard", hard, []int{1}))
	})
	s.run("a number is never used twice", func() error {
		m, err := newClient(c.Config().SchemaRegistryURL).RegisterFullResponse(subject, avro(userV1), false)
		return all(err, equal("version", m.Version, 3))
	})
}

// level gives the client's untyped constants their type.
func level(l int) schemaregistry.Compatibility { return schemaregistry.Compatibility(l) }

func positive(id int) error {
	if id <= 0 {
		return fmt.Errorf("the id is %d", id)
	}
	return nil
}

func guid(text string) error {
	if len(text) != 36 {
		return fmt.Errorf("%q is no GUID", text)
	}
	return nil
}
