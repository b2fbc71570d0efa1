package sr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/schemas"
)

// TestRequests holds every method against the request that the contract wants.
func TestRequests(t *testing.T) {
	t.Parallel()
	s := schemas.ParseSubject
	source := schemas.Source{Type: schemas.JSON, Text: `{"a":"<b>&\u2028"}`, References: []schemas.Reference{{Name: "n", Subject: "u", Version: 2}}}
	registered := `{"id":7,"version":2,"guid":"095d71cf-1255-6b9d-5e33-0ad575b3df5d","schema":"x"}`
	one := `{"subject":"a","version":2,"id":7,"schema":"x"}`
	on := true
	for _, tt := range []struct {
		name, answer string
		call         func(c *sr.Client) error
		want         string // method, URI and body
	}{
		{"list", `[]`, func(c *sr.Client) error {
			_, err := c.List(ctx, sr.ListOptions{Prefix: ":*:", Deleted: true, LatestOnly: true, RuleType: "CEL", Aliases: true, Page: sr.Page{Offset: 5, Limit: 10}})
			return err
		}, "GET /schemas?aliases=true&deleted=true&latestOnly=true&limit=10&offset=5&ruleType=CEL&subjectPrefix=%3A%2A%3A "},
		{"by id", one, func(c *sr.Client) error { _, err := c.ByID(ctx, schemas.ID{Number: 7}); return err }, "GET /schemas/ids/7 "},
		{"by id in a context", one, func(c *sr.Client) error { _, err := c.ByID(ctx, schemas.ID{Context: ".eu", Number: 7}); return err }, "GET /schemas/ids/7?subject=%3A.eu%3A "},
		{"by id, narrowed", one, func(c *sr.Client) error {
			a := s("a b")
			_, err := c.Schema(ctx, schemas.ID{Number: 7}, sr.IDOptions{Subject: &a, Format: "serialized", Qualified: true})
			return err
		}, "GET /schemas/ids/7?format=serialized&referenceFormat=qualified&subject=a+b "},
		{"text by id", "x", func(c *sr.Client) error {
			text, err := c.TextByID(ctx, schemas.ID{Number: 7}, sr.IDOptions{})
			return is(text, "x", err)
		}, "GET /schemas/ids/7/schema "},
		{"highest id", `{"schema":"x","maxId":9}`, func(c *sr.Client) error {
			id, err := c.MaxID(ctx, schemas.ID{Number: 7})
			return is(id.Number, 9, err)
		}, "GET /schemas/ids/7?fetchMaxId=true "},
		{"subjects of an id", `["a",":.eu:b"]`, func(c *sr.Client) error {
			got, err := c.SubjectsOf(ctx, schemas.ID{Number: 7}, sr.WithDeleted, sr.Page{})
			return is(fmt.Sprint(got), "[a :.eu:b]", err)
		}, "GET /schemas/ids/7/subjects?deleted=true "},
		{"versions of an id", `[{"subject":"a","version":2}]`, func(c *sr.Client) error {
			got, err := c.VersionsOf(ctx, schemas.ID{Number: 7}, sr.LiveOnly, sr.Page{})
			return is(fmt.Sprint(got), "[{a 2}]", err)
		}, "GET /schemas/ids/7/versions "},
		{"by guid", `{"schema":"x"}`, func(c *sr.Client) error { _, err := c.ByGUID(ctx, schemas.GUID{15: 1}); return err }, "GET /schemas/guids/00000000-0000-0000-0000-000000000001 "},
		{"ids of a guid", `[{"context":".","id":7}]`, func(c *sr.Client) error {
			got, err := c.IDsOf(ctx, schemas.GUID{})
			return is(fmt.Sprint(got), "[7]", err)
		}, "GET /schemas/guids/00000000-0000-0000-0000-000000000000/ids "},
		{"types", `["AVRO"]`, func(c *sr.Client) error { _, err := c.Types(ctx); return err }, "GET /schemas/types "},
		{"subjects", `[]`, func(c *sr.Client) error { _, err := c.Subjects(ctx, "", sr.DeletedOnly, sr.Page{}); return err }, "GET /subjects?deletedOnly=true "},
		{"look up", one, func(c *sr.Client) error {
			_, err := c.Lookup(ctx, s("a"), sr.Registration{Source: source, Normalize: true}, true)
			return err
		}, `POST /subjects/a?deleted=true&normalize=true {"schema":"{\"a\":\"<b>&\\u2028\"}","schemaType":"JSON","references":[{"name":"n","subject":"u","version":2}]}`},
		{"look up by source", one, func(c *sr.Client) error {
			_, err := c.BySource(ctx, s("a"), schemas.Source{Type: schemas.Avro, Text: `"int"`})
			return err
		}, `POST /subjects/a?deleted=true {"schema":"\"int\"","schemaType":"AVRO"}`},
		{"register", registered, func(c *sr.Client) error {
			id := int32(7)
			f, err := c.Register(ctx, s("a"), sr.Registration{
				Source: schemas.Source{Type: schemas.Avro, Text: `"int"`}, Version: 2, ID: &id, Force: true, Format: "resolved",
				Metadata: &schemas.Metadata{Properties: map[string]string{"owner": "me"}},
				RuleSet:  &schemas.RuleSet{Domain: []schemas.ContractRule{{Name: "r", Type: "CEL"}}},
			})
			return is(f.Version, 2, err)
		}, `POST /subjects/a/versions?force=true&format=resolved {"schema":"\"int\"","schemaType":"AVRO","metadata":{"properties":{"owner":"me"}},"ruleSet":{"domainRules":[{"name":"r","type":"CEL","disabled":false}]},"version":2,"id":7}`},
		{"register explicitly without metadata", registered, func(c *sr.Client) error {
			_, err := c.Register(ctx, s("a"), sr.Registration{Source: schemas.Source{Type: schemas.Avro, Text: `"int"`}, Metadata: &schemas.Metadata{}})
			return err
		}, `POST /subjects/a/versions {"schema":"\"int\"","schemaType":"AVRO","metadata":{}}`},
		{"delete a subject", `[1,2]`, func(c *sr.Client) error {
			got, err := c.DeleteSubject(ctx, s("a"), true)
			return is(len(got), 2, err)
		}, "DELETE /subjects/a?permanent=true "},
		{"by metadata", one, func(c *sr.Client) error {
			_, err := c.WithMetadata(ctx, s("a"), []sr.Property{{"k", "v"}, {"l", "w"}}, sr.VersionOptions{})
			return err
		}, "GET /subjects/a/metadata?key=k&key=l&value=v&value=w "},
		{"versions", `[1,-2]`, func(c *sr.Client) error {
			_, err := c.Versions(ctx, s("a"), sr.DeletedAsNegative, sr.Page{})
			return err
		}, "GET /subjects/a/versions?deletedAsNegative=true "},
		{"version", one, func(c *sr.Client) error { _, err := c.ByVersion(ctx, s("a/b c+d:e?f"), 2); return err }, "GET /subjects/a%2Fb%20c+d:e%3Ff/versions/2?deleted=true "},
		{"version of a subject in a context", one, func(c *sr.Client) error { _, err := c.ByVersion(ctx, s(":.eu:a"), 2); return err }, "GET /subjects/:.eu:a/versions/2?deleted=true "},
		{"version of the empty subject", one, func(c *sr.Client) error { _, err := c.Latest(ctx, schemas.Subject{Context: "."}); return err }, "GET /subjects/:.:/versions/latest "},
		{"version of a subject of dots", one, func(c *sr.Client) error { _, err := c.Latest(ctx, s("..")); return err }, "GET /subjects/%2E%2E/versions/latest "},
		{"text of a version", "x", func(c *sr.Client) error {
			text, err := c.TextByVersion(ctx, s("a"), 2, sr.VersionOptions{Deleted: true})
			return is(text, "x", err)
		}, "GET /subjects/a/versions/2/schema?deleted=true "},
		{"referenced by", `[3]`, func(c *sr.Client) error {
			_, err := c.ReferencedBy(ctx, s("a"), 2, false, sr.Page{Limit: 1})
			return err
		}, "GET /subjects/a/versions/2/referencedby?limit=1 "},
		{"delete a version", `2`, func(c *sr.Client) error {
			v, err := c.DeleteVersion(ctx, s("a"), schemas.Latest, false)
			return is(v, 2, err)
		}, "DELETE /subjects/a/versions/latest "},
		{"tags", registered, func(c *sr.Client) error {
			_, err := c.ChangeTags(ctx, s("a"), 2, sr.TagChange{Add: []sr.Tags{{Path: "User.mail", Field: true, Tags: []string{"PII"}}}})
			return err
		}, `POST /subjects/a/versions/2/tags {"tagsToAdd":[{"schemaEntity":{"entityPath":"User.mail","entityType":"sr_field"},"tags":["PII"]}]}`},
		{"check one", `{"is_compatible":false,"messages":["m"]}`, func(c *sr.Client) error {
			got, err := c.Check(ctx, s("a"), schemas.Latest, sr.Registration{Source: schemas.Source{Text: "x"}}, true)
			return is(fmt.Sprint(got), "{false [m]}", err)
		}, `POST /compatibility/subjects/a/versions/latest?verbose=true {"schema":"x"}`},
		{"check all", `{"is_compatible":true}`, func(c *sr.Client) error {
			got, err := c.CheckAll(ctx, s("a"), sr.Registration{Source: schemas.Source{Text: "x"}}, false)
			return is(got.Compatible, true, err)
		}, `POST /compatibility/subjects/a/versions {"schema":"x"}`},
		{"global config", `{"compatibilityLevel":"backward"}`, func(c *sr.Client) error {
			got, err := c.Config(ctx, sr.Global, false)
			return is(got.Level, "BACKWARD", err)
		}, "GET /config "},
		{"config in force", `{"compatibilityLevel":"FULL"}`, func(c *sr.Client) error { _, err := c.Config(ctx, s("a"), true); return err }, "GET /config/a?defaultToGlobal=true "},
		{"config of a context", `{"compatibilityLevel":"FULL"}`, func(c *sr.Client) error {
			_, err := c.Config(ctx, schemas.Subject{Context: ".eu"}, false)
			return err
		}, "GET /config/:.eu: "},
		{"set a config", `{"normalize":true,"compatibility":"FULL"}`, func(c *sr.Client) error {
			got, err := c.SetConfig(ctx, s("a"), sr.Config{Level: "FULL", Normalize: &on, VerdictPolicy: "SOUND"}, "alias")
			return is(got.Level, "FULL", err)
		}, `PUT /config/a {"alias":null,"compatibility":"FULL","normalize":true,"verdictPolicy":"SOUND"}`},
		{"clear a config", `{"compatibilityLevel":"FULL","compatibility":"FULL"}`, func(c *sr.Client) error { _, err := c.ClearConfig(ctx, s("a")); return err }, "DELETE /config/a "},
		{"mode", `{"mode":"READWRITE"}`, func(c *sr.Client) error {
			m, err := c.Mode(ctx, s("a"), true)
			return is(m, "READWRITE", err)
		}, "GET /mode/a?defaultToGlobal=true "},
		{"set a mode", `{"mode":"IMPORT"}`, func(c *sr.Client) error { _, err := c.SetMode(ctx, sr.Global, "IMPORT", true); return err }, `PUT /mode?force=true {"mode":"IMPORT"}`},
		{"clear a mode", `{}`, func(c *sr.Client) error {
			m, err := c.ClearMode(ctx, schemas.Subject{Context: ".eu"}, true)
			return is(m, "", err)
		}, "DELETE /mode/:.eu:?recursive=true "},
		{"contexts", `[".",".eu"]`, func(c *sr.Client) error {
			got, err := c.Contexts(ctx, ".e", sr.Page{})
			return is(len(got), 2, err)
		}, "GET /contexts?contextPrefix=.e "},
		{"delete a context", ``, func(c *sr.Client) error { return c.DeleteContext(ctx, ".eu") }, "DELETE /contexts/.eu "},
		{"installation", `{"scope":{"path":[],"clusters":{"kafka-cluster":"k","schema-registry-cluster":"s"}},"id":""}`, func(c *sr.Client) error {
			got, err := c.Installation(ctx)
			return is(got, sr.Installation{ID: "k", Cluster: "s"}, err)
		}, "GET /v1/metadata/id "},
		{"server version", `{"version":"8.5.0","commitId":"c","product":"Cartório","productVersion":"1"}`, func(c *sr.Client) error {
			got, err := c.ServerVersion(ctx)
			return is(got, sr.ServerVersion{Version: "8.5.0", Commit: "c", Product: "Cartório", ProductVersion: "1"}, err)
		}, "GET /v1/metadata/version "},
		{"deployment", `{"attributes":["a"]}`, func(c *sr.Client) error { _, err := c.Deployment(ctx); return err }, "GET /v1/metadata/deployment "},
		{"ping", `{}`, func(c *sr.Client) error { return c.Ping(ctx) }, "GET / "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, body(200, tt.answer))
			c, _ := client(t, sr.Options{URLs: []string{r.URL + "/"}})
			if err := tt.call(c); err != nil {
				t.Fatal(err)
			}
			all := r.requests()
			if len(all) != 1 {
				t.Fatalf("%d requests", len(all))
			}
			got := all[0]
			if d := cmp.Diff(tt.want, got.Method+" "+got.URI+" "+strings.TrimSuffix(got.Body, "\n")); d != "" {
				t.Error(d)
			}
			if got.Header.Get("Accept") == "" || got.Header.Get("User-Agent") == "" {
				t.Errorf("headers: %v", got.Header)
			}
			if is := got.Header.Get("Content-Type"); (is == "application/vnd.schemaregistry.v1+json") != (got.Body != "") {
				t.Errorf("Content-Type %q with a body of %d bytes", is, len(got.Body))
			}
		})
	}
}

func is[T comparable](got, want T, err error) error {
	if err == nil && got != want {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return err
}
