package api_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/registry/transfer"
)

// line is one line of the contract's conformance list (section 11): what it
// says, a script that asks for it over HTTP, and checks that need more.
type line struct {
	name, says, script string
	checks             []func(*testing.T)
}

// TestContract is the report on the contract's conformance list: each line is a
// test of its name, as the decisions of the specifications amend it.
func TestContract(t *testing.T) {
	t.Parallel()
	lines := [][]line{httpLines, registerLines, canonicalLines, deleteLines, idLines, configLines, compatibilityLines, contextLines, listLines, migrationLines}
	count, asked := 0, 0
	seen := map[string]bool{}
	for _, group := range lines {
		for _, l := range group {
			if seen[l.name] || l.script == "" && len(l.checks) == 0 {
				t.Errorf("line %s stands twice, or tests nothing", l.name)
			}
			seen[l.name] = true
			count++
			asked += strings.Count(l.script, " => ")
			t.Run(l.name+" "+l.says, func(t *testing.T) {
				t.Parallel()
				if l.script != "" {
					t.Run("script", func(t *testing.T) { newClient(t, api.Options{}).play(l.script) })
				}
				for i, check := range l.checks {
					t.Run("check "+strconv.Itoa(i+1), check)
				}
			})
		}
	}
	t.Logf("%d lines of the contract, %d requests in their scripts", count, asked)
	if count != 60 {
		t.Errorf("the contract has 60 lines, the report %d", count)
	}
}

// play runs a script. A line is a request, " => ", a status or error code, and
// what the answer has, with " & " between: text of the body, "=" and the whole
// body as JSON, "!" and text that is not in it, "@" and text of a header line.
// A body is "avro TEXT", "json TEXT", "proto TEXT" (with ⏎ for line feeds), more
// members behind " with ", or the JSON itself. "HEADER Name: value" is for the
// next request.
func (c *client) play(script string) {
	c.t.Helper()
	for text := range strings.Lines(script) {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if h, ok := strings.CutPrefix(text, "HEADER "); ok {
			name, value, _ := strings.Cut(h, ": ")
			c.header.Set(name, value)
			continue
		}
		request, want, _ := strings.Cut(text, " => ")
		method, rest, _ := strings.Cut(request, " ")
		path, sent, _ := strings.Cut(rest, " ")
		a := c.do(method, path, bodyOf(c.t, sent))
		c.header = http.Header{}
		code, expected, _ := strings.Cut(want, " ")
		number, err := strconv.Atoi(code)
		if err != nil {
			c.t.Fatalf("%s: %v", text, err)
		}
		if number != a.code && number != a.status || a.status >= 300 && number < 300 {
			c.t.Errorf("%s\ngot %s", text, a)
			continue
		}
		for one := range strings.SplitSeq(expected, " & ") {
			if one == "" {
				continue
			}
			fits := strings.Contains(a.body, one)
			switch one[0] {
			case '=':
				var v any
				if err := json.Unmarshal([]byte(one[1:]), &v); err != nil {
					c.t.Fatalf("%s: %v", text, err)
				}
				fits = equal(v, a.json(c.t))
			case '!':
				fits = !strings.Contains(a.body, one[1:])
			case '@':
				name, value, _ := strings.Cut(one[1:], ": ")
				fits = strings.Contains(a.header.Get(name), value)
			}
			if !fits {
				c.t.Errorf("%s\nwant %s\n got %s %v", text, one, a, a.header)
			}
		}
	}
}

func bodyOf(t testing.TB, sent string) any {
	kind, text, _ := strings.Cut(sent, " ")
	name := map[string]string{"avro": "AVRO", "json": "JSON", "proto": "PROTOBUF"}[kind]
	switch {
	case sent == "":
		return nil
	case name == "":
		return sent
	}
	text, more, _ := strings.Cut(text, " with ")
	m := typed(name, strings.ReplaceAll(text, "⏎", "\n"))
	if more != "" {
		if err := json.Unmarshal([]byte(more), &m); err != nil {
			t.Fatalf("%s: %v", more, err)
		}
	}
	return m
}

var httpLines = []line{
	{name: "C01", says: "vendor type by default", script: `
		GET /subjects => 200 @Content-Type: application/vnd.schemaregistry.v1+json
		HEADER Accept: */*
		GET /subjects => 200 @Content-Type: application/vnd.schemaregistry.v1+json
		GET /nope => 404 @Content-Type: application/vnd.schemaregistry.v1+json
	`, checks: []func(*testing.T){testAccept}},
	{name: "C02", says: "three Accept oddities", script: `
		HEADER Accept: text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2
		GET /subjects => 200 @Content-Type: application/vnd.schemaregistry.v1+json
		HEADER Accept: application/json, text/plain, */*
		GET /subjects => 200 @Content-Type: json
		HEADER Accept: what is this
		GET /subjects => 200 @Content-Type: application/vnd.schemaregistry.v1+json
	`},
	{name: "C03", says: "415, 406, 405 and 404 bodies carry the code", script: `
		HEADER Content-Type: text/plain
		POST /subjects/s/versions avro "string" => 415 "error_code":415
		HEADER Accept: text/html
		GET /subjects => 406 "error_code":406
		PUT /subjects/s {} => 405 "error_code":405 & @Allow: DELETE
		GET /nope => 404 "error_code":404
	`, checks: []func(*testing.T){testContentType}},
	{name: "C04", says: "malformed body 400, empty body 422", script: `
		POST /subjects/s/versions { => 400 "error_code":400 & line 1
		POST /subjects/s/versions {"schema":7} => 400 schema
		PUT /config {"normalize":"yes"} => 400
		POST /subjects/s/versions {"schema":"\"string\"","ruleSet":{"domainRules":[{"name":"r","type":"CEL","kind":"X"}]}} => 400
		POST /subjects/s/versions => 422 "error_code":422
		PUT /config => 422
	`, checks: []func(*testing.T){testBody}},
	{name: "C05", says: "trailing slash, %2F, colon", script: `
		POST //subjects//a%2Fb//versions/ avro "string" => 200 "id":1
		GET /subjects/a%2Fb/versions/ => 200 =[1]
		GET /subjects/a/b => 404
		POST /subjects/a:b/versions avro "string" => 200
		GET /subjects/a%3Ab/versions/1/ => 200 "subject":"a:b"
		POST /subjects/1+1/versions avro "string" => 200
		GET /subjects/ => 200 =["1+1","a/b","a:b"]
		POST /compatibility/subjects/a%2Fb/versions/ avro "string" => 200 "is_compatible":true
	`, checks: []func(*testing.T){testPaths}},
	{name: "C06", says: "True, empty query segment, unknown parameter", script: `
		POST /subjects/s/versions avro "string" => 200
		DELETE /subjects/s => 200 =[1]
		GET /subjects?deleted=True => 200 =["s"]
		GET /subjects?&&deleted=tRuE&&nobody=knows& => 200 =["s"]
		GET /subjects?deleted=1 => 200 =[]
		GET /subjects?deleted=yes&deletedOnly= => 200 =[]
		GET /subjects?deleted_only=True => 200 =["s"]
		GET /subjects?offset=x => 404
	`, checks: []func(*testing.T){testQuery}},
	{name: "C07", says: "no 201, no null in any answer", script: `
		POST /subjects/s/versions {"schema":"\"string\"","references":null,"metadata":null,"ruleSet":null,"version":null,"id":null} => 200 !null
		POST /subjects/s {"schema":"\"string\"","schemaType":null} => 200 !null
		PUT /config/s {"alias":null,"normalize":null,"compatibility":"FULL"} => 200 !null
		GET /config/s => 200 !null
		DELETE /config/s => 200 !null
		PUT /mode/s {"mode":null} => 200 ={}
		GET /schemas => 200 !null
		GET /schemas/ids/1 => 200 !null
		GET /schemas/ids/1/versions => 200 !null
		POST /compatibility/subjects/s/versions/latest?verbose=true avro "string" => 200 ={"is_compatible":true,"messages":[]}
	`},
	{name: "C08", says: "unknown route has error_code 404", script: `
		GET /nope/at/all => 404 "error_code":404
		POST /associations {} => 404 "error_code":404
		GET /dek-registry/v1/keks => 404 "error_code":404
		GET /exporters/x => 404 "error_code":404
		GET /exporters => 200 =[]
		GET /schemas/ids/x => 404 "error_code":404
	`, checks: []func(*testing.T){testNoSuchRoute}},
}

// topic fills a server from a dump of a topic and plays a script with it.
func topic(dump, losses, script string) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		held, err := transfer.FromTopic(t.Context(), strings.NewReader(strings.TrimSpace(dump)))
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, l := range held.Losses {
			told = append(told, l.String())
		}
		if got := strings.Join(told, "; "); losses == "" && got != "" || !strings.Contains(got, losses) {
			t.Errorf("what is lost: %q, want %q", got, losses)
		}
		journal, err := sqlite.Open(":memory:")
		if err != nil {
			t.Fatal(err)
		}
		r := openOn(t, journal)
		if refused, err := r.Restore(t.Context(), held.Holdings, registry.RestoreOptions{}); err != nil {
			t.Fatal(refused, err)
		}
		c := &client{t: t, server: api.New(r, api.Options{}), header: http.Header{}}
		c.server.Observe(func(r *api.Route, _, _ int) { c.route.Store(r) })
		c.play(script)
	}
}

var migrationLines = []line{
	{name: "C90", says: "topic replay with a DELETE_SUBJECT watermark and a later lower number", checks: []func(*testing.T){topic(`
{"offset":0,"timestamp":1767225600000,"key":{"keytype":"NOOP","magic":0},"value":null}
{"offset":1,"timestamp":1767225600001,"key":{"keytype":"SCHEMA","subject":"s","version":1,"magic":1},"value":{"subject":"s","version":1,"id":1,"schema":"\"string\"","deleted":false}}
{"offset":2,"timestamp":1767225600002,"key":{"keytype":"SCHEMA","subject":"s","version":3,"magic":1},"value":{"subject":"s","version":3,"id":2,"schema":"\"int\"","deleted":false}}
{"offset":3,"timestamp":1767225600003,"key":{"keytype":"DELETE_SUBJECT","subject":"s","magic":0},"value":{"subject":"s","version":3}}
{"offset":4,"timestamp":1767225600004,"key":{"keytype":"SCHEMA","subject":"s","version":2,"magic":1},"value":{"subject":"s","version":2,"id":3,"schema":"\"long\"","deleted":false}}
{"offset":5,"timestamp":1767225600005,"key":{"keytype":"CONFIG","subject":"s","magic":0},"value":{"subject":"s","compatibilityLevel":"NONE"}}
{"offset":6,"timestamp":1767225600006,"key":{"keytype":"MODE","subject":"t","magic":0},"value":{"subject":"t","mode":"READONLY"}}`, "", `
		GET /subjects/s/versions => 200 =[2]
		GET /subjects/s/versions?deleted=true => 200 =[1,2,3]
		GET /subjects/s/versions/3?deleted=true => 200 "id":2 & "deleted":true
		GET /subjects/s/versions/latest => 200 "id":3 & "schema":"\"long\""
		GET /config/s => 200 ={"compatibilityLevel":"NONE"}
		GET /mode/t => 200 ={"mode":"READONLY"}
		POST /subjects/s/versions avro "bytes" => 200 "id":4,"version":4
	`)}},
	{name: "C91", says: "old magic 0 and null subject keys", checks: []func(*testing.T){topic(`
{"offset":1,"timestamp":1767225600001,"key":{"keytype":"SCHEMA","subject":"s","version":1,"magic":0},"value":{"subject":"s","version":1,"id":5,"schema":"\"string\""}}
{"offset":2,"timestamp":1767225600002,"key":{"keytype":"CONFIG","subject":null,"magic":0},"value":{"compatibilityLevel":"FULL"}}
{"offset":3,"timestamp":1767225600003,"key":{"subject":"t","version":1,"magic":1,"keytype":"SCHEMA"},"value":{"subject":"t","version":1,"id":5,"schema":"\"string\"","deleted":false}}`, "", `
		GET /subjects => 200 =["s","t"]
		GET /schemas/ids/5/subjects => 200 =["s","t"]
		GET /config => 200 ={"compatibilityLevel":"FULL"}
	`)}},
	{name: "C92", says: "duplicate id with other text is skipped", checks: []func(*testing.T){topic(`
{"offset":1,"timestamp":1767225600001,"key":{"keytype":"SCHEMA","subject":"s","version":1,"magic":1},"value":{"subject":"s","version":1,"id":1,"schema":"\"string\"","deleted":false}}
{"offset":2,"timestamp":1767225600002,"key":{"keytype":"SCHEMA","subject":"t","version":1,"magic":1},"value":{"subject":"t","version":1,"id":1,"schema":"\"int\"","deleted":false}}`, "id", `
		GET /subjects => 200 =["s"]
		GET /schemas/ids/1 => 200 "schema":"\"string\""
	`)}},
	{name: "C93", says: "REST import with gaps, duplicates and 42205", script: `
		PUT /mode {"mode":"IMPORT"} => 200
		POST /subjects/s/versions avro "string" with {"id":7,"version":3} => 200 "id":7,"version":3
		POST /subjects/s/versions avro "string" with {"id":7,"version":3} => 200 "id":7,"version":3
		POST /subjects/s/versions avro "int" with {"id":9,"version":1} => 200 "id":9,"version":1
		POST /subjects/s/versions avro "long" with {"id":9,"version":4} => 42205
		POST /subjects/s/versions avro "long" with {"id":10,"version":3} => 42205
		POST /subjects/s/versions avro "long" => 42205
		POST /subjects/t/versions avro "string" with {"id":8} => 200 "id":8,"version":1
		GET /subjects/s/versions => 200 =[1,3]
		PUT /mode {"mode":"READWRITE"} => 200
		POST /subjects/u/versions avro "bytes" => 200 "id":10,"version":1
	`, checks: []func(*testing.T){c93Import}},
}
