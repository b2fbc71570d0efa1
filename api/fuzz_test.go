package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/api"
)

// FuzzRequest holds any request against what binds every answer: never a 5xx,
// always the contract's shape, a documented code and no null. All requests of a
// run meet one registry, so that they find what others left.
func FuzzRequest(f *testing.F) {
	for _, r := range api.Routes() {
		path := strings.NewReplacer("{subject}", "s", "{version}", "1", "{id}", "1", "{guid}", "095d71cf-1255-6b9d-5e33-0ad575b3df5d", "{context}", ".c").Replace(r.Path)
		var query []string
		for _, q := range r.Query {
			query = append(query, q.Name+"=true")
		}
		f.Add(r.Method, path, strings.Join(query, "&"), `{"schema":"\"string\"","compatibility":"NONE","mode":"READWRITE"}`, "application/json", "*/*")
	}
	f.Add("POST", "/subjects/s/versions", "normalize=true", `{"schema":"{\"type\":\"record\",\"name\":\"R\",\"fields\":[]}","references":[{"name":"a","subject":"s","version":-1}]}`, "", "")
	f.Add("POST", "/compatibility/subjects/s/versions/latest", "verbose=true", `{"schema":"syntax = \"proto3\";","schemaType":"PROTOBUF","id":null}`, "", "")
	f.Add("POST", "/contexts/:.:/subjects/:.c:s/versions", "", `{"schema":"{}","schemaType":"JSON","metadata":{"tags":{}}}`, "", "")
	f.Add("PUT", "/config/a%2Fb", "", `{"normalize":null,"compatibilityPolicy":"x"}`, vendor+"; q=1", "text/html, *; q=.2")
	f.Add("POST", "/subjects/:.c:s/versions", "format=resolved", `{"schema":"\"string\"","metadata":{"tags":{"a":["b"]},"properties":{"confluent:version":"0"},"sensitive":["p"]},"ruleSet":{"domainRules":[{"name":"r","type":"CEL","mode":"WRITE","params":{"a":"b"}}],"enableAt":"ALL"}}`, "", "")
	f.Add("POST", "/subjects/i/versions", "", `{"schema":" \"string\"","id":7,"version":3}`, "", "")
	f.Add("PUT", "/mode/i", "force=true", `{"mode":"IMPORT"}`, "", "")
	f.Add("PUT", "/config/old", "", `{"alias":"s","compatibilityGroup":"g","defaultMetadata":{"properties":{"g":"1"}},"overrideRuleSet":{"migrationRules":[{"name":"u","type":"JSONATA","mode":"UPGRADE"}]}}`, "", "")
	f.Add("GET", "/subjects/old/metadata", "key=g&value=1&format=serialized", "", "", "")
	f.Add("GET", "//subjects///%FF//", "deleted=%zz&&limit=-1", "", "text/plain", "a/b;q=0")
	c := newClient(f, api.Options{Body: 64 << 10})
	f.Fuzz(func(t *testing.T, method, path, query, body, contentType, accept string) {
		target := "http://h" + path
		if query != "" {
			target += "?" + query
		}
		u, err := url.Parse(target)
		if err != nil || u.Host != "h" || strings.ContainsAny(target, " \r\n\x00\x7f") {
			t.Skip("no request line can carry this")
		}
		r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		if err != nil {
			t.Skip("no request line can carry this")
		}
		r.Header["Content-Type"], r.Header["Accept"] = []string{contentType}, []string{accept}
		w := newRecorder()
		c.t = t
		c.route.Store(nil)
		c.server.ServeHTTP(w, r)
		a := answer{status: w.Code, header: w.Header(), body: w.Body.String()}
		c.judge(method, target, &a)
	})
}

// FuzzWalk reads any object or array as encoding/json does.
func FuzzWalk(f *testing.F) {
	for _, text := range []string{`{}`, `[]`, ` `, `{"a":1}`, `{ "a" : [1,{"b":"]}\""},null] , "b\u0041" : "\\" , "a":-1.5e3 }`, `[ "x" ,true,{"":{}} ,[ ] ]`, `[1]`, `{"a":"\\\""}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.TrimSpace(text)
		if text == "" || text[0] != '{' && text[0] != '[' || !json.Valid([]byte(text)) || !utf8.ValidString(text) {
			t.Skip("no object and no array")
		}
		names, values := api.Walk([]byte(text))
		if text[0] == '[' {
			var want []json.RawMessage
			if err := json.Unmarshal([]byte(text), &want); err != nil {
				t.Fatal(err)
			}
			if len(values) != len(want) {
				t.Fatalf("%q: want %d items, got %q", text, len(want), values)
			}
			for i := range want {
				if string(want[i]) != values[i] {
					t.Errorf("%q: item %d: want %s, got %s", text, i, want[i], values[i])
				}
			}
			return
		}
		want, got := map[string]json.RawMessage{}, map[string]string{}
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		for i := range names {
			got[names[i]] = values[i] // the last counts
		}
		for name, value := range want {
			if got[name] != string(value) {
				t.Errorf("%q: member %q: want %s, got %s", text, name, value, got[name])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%q: want %d members, got %q", text, len(want), got)
		}
	})
}
