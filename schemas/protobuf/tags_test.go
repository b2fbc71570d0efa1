package protobuf_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

func parseTags(t *testing.T, text string) schemas.Schema {
	t.Helper()
	s, err := protobuf.Format.Parse(context.Background(), schemas.Source{Type: schemas.Protobuf, Text: text}, nil, schemas.ParseOptions{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return s
}

func TestTags(t *testing.T) {
	t.Parallel()
	s := parseTags(t, `syntax = "proto3"; package acme; import "confluent/meta.proto";
		message User {
			option (confluent.message_meta) = { tags: ["B", "A"] };
			int64 id = 1 [(confluent.field_meta).tags = "Y", (.confluent.field_meta).tags = "X"];
			oneof way { string mail = 2 [(confluent.field_meta) = { doc: "d", tags: "PII" }]; }
			message Inner { string at = 1; }
		}`)
	want := []schemas.Tagged{
		{Path: ".acme.User", Short: "User", Tags: []string{"A", "B"}},
		{Path: ".acme.User.id", Short: "User.id", Field: true, Top: "id", Tags: []string{"X", "Y"}},
		{Path: ".acme.User.mail", Short: "User.mail", Field: true, Top: "mail", Tags: []string{"PII"}},
		{Path: ".acme.User.Inner", Short: "User.Inner"},
		{Path: ".acme.User.Inner.at", Short: "User.Inner.at", Field: true},
	}
	if diff := cmp.Diff(want, protobuf.Format.Tags(s)); diff != "" {
		t.Error(diff)
	}
	// Every part can get every number of tags, whatever stood there before.
	for _, part := range want {
		for _, list := range [][]string{nil, {"T"}, {"T", "U"}} {
			part.Tags = list
			text, err := protobuf.Format.Retag(s, []schemas.Tagged{part})
			if err != nil {
				t.Fatal(err)
			}
			again := protobuf.Format.Tags(parseTags(t, text))
			changed := slices.Clone(want)
			for i := range changed {
				if changed[i].Path == part.Path {
					changed[i] = part
				}
			}
			if diff := cmp.Diff(changed, again); diff != "" {
				t.Errorf("%s with %v:\n%s\n%s", part.Path, list, diff, text)
			}
		}
	}
	if got := protobuf.Format.Tags(s); !cmp.Equal(got, want) {
		t.Error("a schema that was tagged has changed itself")
	}
	if _, err := protobuf.Format.Retag(s, []schemas.Tagged{{Path: ".acme.User.none", Field: true}}); err == nil {
		t.Error("a field that is not there was tagged")
	}
}

func TestRetagImports(t *testing.T) {
	t.Parallel()
	s := parseTags(t, `syntax = "proto3"; message A { map<string, int32> m = 1; }`)
	text, err := protobuf.Format.Retag(s, []schemas.Tagged{{Path: ".A.m", Field: true, Tags: []string{"T"}}})
	if err != nil || !strings.Contains(text, `import "confluent/meta.proto";`) {
		t.Fatalf("%v\n%s", err, text)
	}
	if got := parseTags(t, text).Canonical(); got != text {
		t.Errorf("the tagged text is not canonical:\n%s", got)
	}
}
