package main

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/sr"
)

// governanceCases set levels and modes, refer, import, and look into contexts.
func governanceCases(s *suite, c *sr.Client) {
	s.run("levels", func() error {
		unset := c.Compatibility(ctx, "franz-level")[0]
		inherited := c.Compatibility(sr.WithParams(ctx, sr.DefaultToGlobal), "franz-level")[0]
		set := c.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatFullTransitive, Normalize: true, Group: "major"}, "franz-level")[0]
		got := c.Compatibility(ctx, "franz-level")[0]
		reset := c.ResetCompatibility(ctx, "franz-level")[0]
		gone := c.Compatibility(ctx, "franz-level")[0]
		want := sr.CompatibilityResult{Subject: "franz-level", Level: sr.CompatFullTransitive, Normalize: true, Group: "major"}
		return all(refused(unset.Err, sr.ErrSubjectLevelCompatibilityNotConfigured), inherited.Err, equal("inherited", inherited.Level, sr.CompatBackward),
			equal("set", set, want), equal("got", got, want), reset.Err, equal("reset", reset.Level, sr.CompatFullTransitive), refused(gone.Err, sr.ErrSubjectLevelCompatibilityNotConfigured))
	})
	s.run("global level", func() error {
		set := c.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatNone})[0]
		got := c.Compatibility(ctx)[0]
		reset := c.ResetCompatibility(ctx)[0]
		back := c.Compatibility(ctx)[0]
		return all(set.Err, got.Err, reset.Err, back.Err, equal("got", got.Level, sr.CompatNone), equal("reset", reset.Level, sr.CompatNone), equal("back", back.Level, sr.CompatBackward))
	})
	s.run("modes", func() error {
		unset := c.Mode(ctx, "franz-mode")[0]
		inherited := c.Mode(sr.WithParams(ctx, sr.DefaultToGlobal), "franz-mode")[0]
		set := c.SetMode(ctx, sr.ModeReadOnly, "franz-mode")[0]
		_, e1 := c.RegisterSchema(ctx, "franz-mode", avro(userV1), -1, -1)
		got := c.Mode(ctx, "franz-mode")[0]
		reset := c.ResetMode(ctx, "franz-mode")[0]
		_, e2 := c.RegisterSchema(ctx, "franz-mode", avro(userV1), -1, -1)
		return all(refused(unset.Err, sr.ErrSubjectLevelModeNotConfigured), inherited.Err, equal("inherited", inherited.Mode, sr.ModeReadWrite), set.Err, refused(e1, sr.ErrOperationNotPermitted),
			got.Err, equal("got", got.Mode, sr.ModeReadOnly), reset.Err, equal("reset", reset.Mode, sr.ModeReadOnly), e2)
	})
	s.run("import with an id and a version", func() error {
		set := c.SetMode(ctx, sr.ModeImport, "franz-import")[0]
		m, e1 := c.CreateSchemaWithIDAndVersion(ctx, "franz-import", avro(`{"type":"fixed","name":"F","size":7}`), 4711, 5)
		back := c.SetMode(ctx, sr.ModeReadWrite, "franz-import")[0]
		_, e2 := c.CreateSchemaWithIDAndVersion(ctx, "franz-import", avro(`{"type":"fixed","name":"F","size":8}`), 4712, 6)
		return all(set.Err, e1, back.Err, equal("id", m.ID, 4711), equal("version", m.Version, 5), refused(e2, sr.ErrOperationNotPermitted))
	})
	s.run("references", func() error {
		user, e0 := c.CreateSchema(ctx, "franz-ref-user", avro(userV1))
		refs := []sr.SchemaReference{{Name: "suite.franz.User", Subject: "franz-ref-user", Version: user.Version}}
		m, e1 := c.CreateSchema(ctx, "franz-ref-wrapper", sr.Schema{Schema: wrapper, References: refs})
		by, e2 := c.SchemaReferences(ctx, "franz-ref-user", user.Version)
		flat, e3 := c.SchemaByVersion(sr.WithParams(ctx, sr.Format("resolved")), "franz-ref-wrapper", 1)
		e4 := c.DeleteSchema(ctx, "franz-ref-user", user.Version, sr.SoftDelete)
		_, e5 := c.RegisterSchema(ctx, "franz-ref-none", sr.Schema{Schema: wrapper, References: []sr.SchemaReference{{Name: "suite.franz.User", Subject: "franz-nothing", Version: 1}}}, -1, -1)
		return all(e0, e1, e2, e3, equal("references", m.References, refs), equal("referenced by", by, []sr.SubjectSchema{m}), equal("resolved", flat.Schema.Schema, resolved),
			refused(e4, sr.ErrReferenceExists), refused(e5, sr.ErrInvalidSchema))
	})
	s.run("metadata and rules", func() error {
		in := avro(userV1)
		in.SchemaMetadata = &sr.SchemaMetadata{Properties: map[string]string{"owner": "payments"}}
		in.SchemaRuleSet = &sr.SchemaRuleSet{DomainRules: []sr.SchemaRule{{Name: "positiveId", Kind: sr.SchemaRuleKindCondition, Mode: sr.SchemaRuleModeWrite, Type: "CEL", Expr: "message.id > 0"}}}
		m, err := c.CreateSchema(ctx, "franz-meta", in)
		return all(err, equal("metadata", m.SchemaMetadata, in.SchemaMetadata), equal("rules", m.SchemaRuleSet, in.SchemaRuleSet))
	})
	s.run("contexts", func() error {
		inside := sr.InContext(ctx, ".franz")
		m, e1 := c.CreateSchema(inside, "user-value", avro(userV1))
		contexts, e2 := c.Contexts(ctx)
		subjects, e3 := c.Subjects(inside)
		e4 := c.DeleteContext(ctx, ".franz")
		_, e5 := c.DeleteSubject(inside, "user-value", sr.SoftDelete)
		_, e6 := c.DeleteSubject(inside, "user-value", sr.HardDelete)
		e7 := c.DeleteContext(ctx, ".franz")
		after, e8 := c.Contexts(ctx)
		if err := all(e1, e2, e3, refused(e4, sr.ErrContextNotEmpty), e5, e6, e7, e8, equal("subject", m.Subject, ":.franz:user-value"), equal("subjects", subjects, []string{":.franz:user-value"})); err != nil {
			return err
		}
		if !slices.Contains(contexts, ".franz") || slices.Contains(after, ".franz") {
			return fmt.Errorf("contexts before %v, after %v", contexts, after)
		}
		return nil
	})
}

// deletionCases walk a subject to its end.
func deletionCases(s *suite, c *sr.Client) {
	const subject = "franz-user-value"
	s.run("delete a version", func() error {
		e0 := c.DeleteSchema(ctx, subject, 2, sr.HardDelete)
		e1 := c.DeleteSchema(ctx, subject, -1, sr.SoftDelete)
		_, e2 := c.SchemaByVersion(ctx, subject, 2)
		hidden, e3 := c.SchemaByVersion(sr.WithParams(ctx, sr.ShowDeleted), subject, 2)
		only, e4 := c.SubjectVersions(sr.WithParams(ctx, sr.DeletedOnly), subject)
		e5 := c.DeleteSchema(ctx, subject, 2, sr.SoftDelete)
		e6 := c.DeleteSchema(ctx, subject, 2, sr.HardDelete)
		_, e7 := c.SchemaByVersion(sr.WithParams(ctx, sr.ShowDeleted), subject, 2)
		return all(refused(e0, sr.ErrSchemaVersionNotSoftDeleted), e1, refused(e2, sr.ErrVersionNotFound), e3, equal("hidden", hidden.Schema.Schema, userV2), e4, equal("deleted only", only, []int{2}),
			refused(e5, sr.ErrSchemaVersionSoftDeleted), e6, refused(e7, sr.ErrVersionNotFound))
	})
	s.run("delete a subject", func() error {
		_, e0 := c.DeleteSubject(ctx, subject, sr.HardDelete)
		soft, e1 := c.DeleteSubject(ctx, subject, sr.SoftDelete)
		_, e2 := c.DeleteSubject(ctx, subject, sr.SoftDelete)
		_, e3 := c.SubjectVersions(ctx, subject)
		hidden, e4 := c.Subjects(sr.WithParams(ctx, sr.DeletedOnly, sr.SubjectPrefix(subject)))
		hard, e5 := c.DeleteSubject(ctx, subject, sr.HardDelete)
		_, e6 := c.DeleteSubject(ctx, subject, sr.SoftDelete)
		return all(refused(e0, sr.ErrSubjectNotSoftDeleted), e1, refused(e2, sr.ErrSubjectSoftDeleted), refused(e3, sr.ErrSubjectNotFound), e4, e5, refused(e6, sr.ErrSubjectNotFound),
			equal("soft", soft, []int{1}), equal("hidden", hidden, []string{subject}), equal("hard", hard, []int{1}))
	})
}
