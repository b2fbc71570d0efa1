package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/compat"
)

// document is what came back, as the types have it.
func (a answer) document(t *testing.T) compat.Document {
	t.Helper()
	var d compat.Document
	if err := json.Unmarshal([]byte(a.body), &d); err != nil || a.status != 200 {
		t.Fatalf("%v: %s", err, a)
	}
	return d
}

func rulesOf(d compat.Document) (list []string) {
	for _, f := range d.Findings {
		list = append(list, string(f.Severity)+" "+f.Rule)
	}
	return list
}

// Two texts are compared whatever the registry holds, and nothing is stored.
func TestCompareTexts(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{Version: "1.2.3"})
	old, next := schema(record("R", "a:int")), schema(record("R", "a:int", "b:string"))
	a := c.do("POST", "/api/v1/compare", map[string]any{"old": old, "new": next})
	d := a.document(t)
	if d.Tool != "cartorio 1.2.3" || d.Verdict != compat.Breaking || !slices.Equal(rulesOf(d), []string{"breaking avro.field-added-without-default"}) {
		t.Errorf("got %s", a)
	}
	if got := d.Compared[0]; got.Level != "FULL" || got.Base != "old" || got.Head != "new" || got.VerdictPolicy != "REFERENCE" || got.Subject != "" {
		t.Errorf("compared %+v", got)
	}
	f := d.Findings[0]
	if f.Witness == nil || f.Witness.Hex != "00" || f.Head.Line != 1 || f.Head.Pointer != "/fields/1" || len(f.Repairs) != 0 || d.Advice != nil {
		t.Errorf("found %+v", f)
	}
	if a.header.Get("Cartorio-Risks") != "0" {
		t.Errorf("%q risks", a.header.Get("Cartorio-Risks"))
	}
	c.want(c.do("GET", "/subjects", nil), 200, `[]`)

	// The other formats, and two of them.
	d = c.do("POST", "/api/v1/compare", map[string]any{"old": typed("JSON", `{"type":"string"}`), "new": typed("JSON", `{"type":"integer"}`)}).document(t)
	if d.Verdict != compat.Breaking || len(d.Findings) == 0 {
		t.Errorf("JSON Schema: %v", rulesOf(d))
	}
	d = c.do("POST", "/api/v1/compare", map[string]any{"old": typed("PROTOBUF", `syntax = "proto3"; message M { int32 a = 1; }`), "new": typed("PROTOBUF", `syntax = "proto3"; message M { string a = 1; }`)}).document(t)
	if d.Verdict != compat.Breaking || len(d.Findings) == 0 {
		t.Errorf("Protobuf: %v", rulesOf(d))
	}
	d = c.do("POST", "/api/v1/compare", map[string]any{"old": old, "new": typed("JSON", `{}`)}).document(t)
	if !slices.Equal(rulesOf(d), []string{"breaking schema.format-changed"}) {
		t.Errorf("two formats: %v", rulesOf(d))
	}
	// The canonical text is not the text that was sent: places are those of the latter.
	d = c.do("POST", "/api/v1/compare", map[string]any{"old": old, "new": schema("\n\n" + record("R", "a:int", "b:string"))}).document(t)
	if got := d.Findings[0].Head.Line; got != 3 {
		t.Errorf("line %d, want 3", got)
	}
}

// Versions are named by subject and number; policies are those of the subject.
func TestCompareVersions(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("s", schema(record("R", "a:int")))
	c.register("s", schema(record("R", "a:long")))
	c.do("PUT", "/config/s", `{"verdictPolicy":"SOUND"}`)
	version := func(n any) map[string]any { return map[string]any{"subject": "s", "version": n} }
	for _, latest := range []map[string]any{version("latest"), version(-1), version("2"), version(2), {"subject": "s"}} {
		d := c.do("POST", "/api/v1/compare", map[string]any{"old": version(1), "new": latest}).document(t)
		got := d.Compared[0]
		if got.Base != "s@1" || got.Head != "s@2" || got.Version != 1 || got.Subject != "s" || got.VerdictPolicy != "SOUND" {
			t.Errorf("%v: compared %+v", latest, got)
		}
		if !slices.Equal(rulesOf(d), []string{"breaking avro.type-widened"}) || d.Findings[0].Direction != "forward" {
			t.Errorf("%v: found %v", latest, rulesOf(d))
		}
	}
	// A version with a text, a level, and policies of the request's own.
	d := c.do("POST", "/api/v1/compare", map[string]any{
		"old": version(2), "new": schema(record("R", "a:long", "b:int=1")), "level": "forward_transitive", "verdictPolicy": "BOTH", "compatibilityPolicy": "LENIENT",
	}).document(t)
	if got := d.Compared[0]; d.Verdict != compat.Compatible || got.Level != "FORWARD_TRANSITIVE" || got.VerdictPolicy != "BOTH" || got.Policy != "LENIENT" || got.Head != "new" {
		t.Errorf("compared %+v: %v", got, rulesOf(d))
	}
	d = c.do("POST", "/api/v1/compare", map[string]any{"old": schema(record("R", "a:int")), "new": version(2), "subject": "other"}).document(t)
	if got := d.Compared[0]; got.Subject != "other" || got.VerdictPolicy != "REFERENCE" {
		t.Errorf("compared %+v", got)
	}
	// A soft-deleted version has data too, and is compared when it is named.
	c.do("DELETE", "/subjects/s/versions/1", nil)
	if d := c.do("POST", "/api/v1/compare", map[string]any{"old": version(1), "new": version(2)}).document(t); d.Compared[0].Base != "s@1" {
		t.Errorf("compared %+v", d.Compared)
	}
}

// reader and writer ask one direction, of the body's sides or of versions.
func TestCompareOneDirection(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("s", schema(record("R", "a:int")))
	c.register("s", schema(record("R", "a:long")))
	body := map[string]any{"old": schema(record("R", "a:int")), "new": schema(record("R", "a:long"))}
	for query, want := range map[string]string{
		"reader=new&writer=old": "compatible BACKWARD", "reader=old&writer=new": "breaking FORWARD",
		"reader=s@2&writer=s@1": "compatible BACKWARD", "reader=s@1&writer=s%40latest": "breaking BACKWARD",
		"reader=s@1&writer=old": "compatible BACKWARD", "reader=old&writer=s@2": "breaking FORWARD",
		"reader=s@1&writer=new": "breaking FORWARD", "reader=new&writer=s@1": "compatible BACKWARD",
	} {
		d := c.do("POST", "/api/v1/compare?"+query, body).document(t)
		if got := string(d.Verdict) + " " + d.Compared[0].Level; got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	// Two versions need no body.
	d := c.do("POST", "/api/v1/compare?reader=s@2&writer=s@1", nil).document(t)
	if got := d.Compared[0]; got.Base != "s@1" || got.Head != "s@2" {
		t.Errorf("compared %+v", got)
	}
	for query, code := range map[string]int{
		"reader=new": 400, "writer=old": 400, "reader=old&writer=old": 400, "reader=s&writer=old": 400, "reader=@1&writer=new": 400,
		"reader=s@0&writer=old": 42202, "reader=s@9&writer=old": 40402, "reader=t@1&writer=old": 40401,
	} {
		c.fails(c.do("POST", "/api/v1/compare?"+query, body), code)
	}
	c.fails(c.do("POST", "/api/v1/compare?reader=old&writer=new", nil), 422)
}

// Advice comes when it is asked for, with repairs that pass.
func TestCompareAdvises(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	old, next := record("R", "a:int"), record("R", "a:int", "b:string")
	c.register("inner", schema(record("In", "x:int")))
	c.register("s", schema(old))
	d := c.do("POST", "/api/v1/compare?advise=true", map[string]any{"old": map[string]any{"subject": "s"}, "new": schema(next)}).document(t)
	if len(d.Advice) != 1 || d.Advice[0].Rollout != compat.ProducersFirst || len(d.Advice[0].Passes) != 9 || d.Advice[0].Repaired == "" || len(d.Findings[0].Repairs) == 0 {
		t.Fatalf("advice %+v", d.Advice)
	}
	again := c.do("POST", "/compatibility/subjects/s/versions", schema(d.Advice[0].Repaired))
	c.want(again, 200, `{"is_compatible":true}`)

	// Repairs of a schema with references are read with them.
	withIn := func(field string) map[string]any {
		return typed("AVRO", `{"type":"record","name":"Out","fields":[{"name":"in","type":"In"}`+field+`]}`, ref("In", "inner", 1))
	}
	d = c.do("POST", "/api/v1/compare?advise=true", map[string]any{"old": withIn(""), "new": withIn(`,{"name":"b","type":"int"}`)}).document(t)
	if len(d.Findings) != 1 || len(d.Findings[0].Repairs) == 0 {
		t.Errorf("found %+v", d.Findings)
	}
}

// What cannot be compared says which side it is.
func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	good := schema(`"string"`)
	for _, row := range []struct {
		body any
		code int
		says string
	}{
		{map[string]any{"old": good}, 42201, "the new side has neither a schema nor a subject"},
		{map[string]any{"new": good}, 42201, "the old side"},
		{map[string]any{"old": schema("{"), "new": good}, 42201, "the old side: schema is invalid"},
		{map[string]any{"old": good, "new": schema("{")}, 42201, "the new side: schema is invalid"},
		{map[string]any{"old": good, "new": typed("XML", "x")}, 42201, "XML"},
		{map[string]any{"old": good, "new": typed("AVRO", `"B"`, ref("B", "nowhere", 1))}, 42201, "the new side"},
		{map[string]any{"old": map[string]any{"subject": "s", "version": 1}, "new": good}, 40401, "s"},
		{map[string]any{"old": map[string]any{"subject": "s", "version": 0}, "new": good}, 42202, "/old/version"},
		{map[string]any{"old": map[string]any{"subject": "s", "version": "x"}, "new": good}, 42202, "x"},
		{map[string]any{"old": good, "new": good, "level": "SIDEWAYS"}, 42203, "SIDEWAYS"},
		{map[string]any{"old": good, "new": good, "verdictPolicy": "x"}, 400, "/verdictPolicy"},
		{map[string]any{"old": good, "new": good, "compatibilityPolicy": "x"}, 400, "/compatibilityPolicy"},
		{map[string]any{"old": good, "new": "x"}, 400, "/new is a string where an object"},
		{map[string]any{"old": map[string]any{"schema": 1}, "new": good}, 400, "/old/schema"},
		{map[string]any{"old": good, "new": schema(`"` + strings.Repeat("x", 1<<20) + `"`)}, 42209, "the new side"},
		{`{`, 400, "line 1"},
		{`null`, 422, "null"},
		{"", 422, "empty"},
		{`[]`, 400, "array"},
	} {
		c.fails(c.do("POST", "/api/v1/compare", row.body), row.code, row.says)
	}
}

// The shape of the answer and the published schema of the document have the same
// members, and need the same ones.
func TestCompareShapeIsThePublishedOne(t *testing.T) {
	t.Parallel()
	var root map[string]any
	if err := json.Unmarshal(compat.DocumentSchema(), &root); err != nil {
		t.Fatal(err)
	}
	definitions := root["$defs"].(map[string]any)
	var hold func(s *api.Shape, v map[string]any, at string) int
	hold = func(s *api.Shape, v map[string]any, at string) int {
		if ref, ok := v["$ref"].(string); ok {
			v = definitions[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		}
		if either, ok := v["anyOf"].([]any); ok { // null, or something
			if !s.Null {
				t.Errorf("%s may be null", at)
			}
			return hold(s, either[1].(map[string]any), at)
		}
		if s.Type == "array" {
			return hold(s.Items, v["items"].(map[string]any), at+"[]")
		}
		if s.Type != "object" {
			return 0
		}
		properties := v["properties"].(map[string]any)
		required, _ := v["required"].([]any)
		if len(s.Members) != len(properties) {
			t.Errorf("%s has %d members, the schema %d", at, len(s.Members), len(properties))
		}
		n := 0
		for _, m := range s.Members {
			one, ok := properties[m.Name].(map[string]any)
			if !ok {
				t.Errorf("%s: the schema lacks %s", at, m.Name)
				continue
			}
			if slices.Contains(required, any(m.Name)) != m.Required {
				t.Errorf("%s: %s is required on one side only", at, m.Name)
			}
			n += 1 + hold(m.Shape, one, at+"/"+m.Name)
		}
		return n
	}
	for _, r := range api.Routes() {
		if r.Path == "/api/v1/compare" {
			if n := hold(r.Answer, root, ""); n < 60 {
				t.Errorf("only %d members were compared", n)
			}
			return
		}
	}
	t.Error("the route is gone")
}

// Advice on a hostile pair takes time in proportion: at most a few times what
// comparing it takes.
func TestCompareHostile(t *testing.T) {
	c := newClient(t, api.Options{})
	fields := make([]string, 10_000)
	for i := range fields {
		fields[i] = fmt.Sprintf("f%d:string", i)
	}
	body := map[string]any{"old": schema(record("R")), "new": schema(record("R", fields...))}
	began := time.Now()
	c.want(c.do("POST", "/api/v1/compare", body), 200, nil)
	plain := time.Since(began)
	began = time.Now()
	d := c.do("POST", "/api/v1/compare?advise=true", body).document(t)
	if took, most := time.Since(began), 20*plain+10*time.Second; took > most {
		t.Errorf("took %s, want at most %s", took, most)
	}
	if len(d.Findings) != len(fields) || len(d.Advice) != 1 || d.Advice[0].Rollout != compat.ProducersFirst {
		t.Errorf("%d findings, advice %+v", len(d.Findings), d.Advice)
	}
	body["new"] = schema(strings.Repeat(`{"type":"array","items":`, 500) + `"int"` + strings.Repeat("}", 500))
	c.fails(c.do("POST", "/api/v1/compare?advise=true", body), 42201, "the new side")
}
