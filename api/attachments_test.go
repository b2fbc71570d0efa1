package api_test

import (
	"testing"

	"github.com/cartorio-registry/cartorio/api"
)

const (
	userText = `{"type":"record","name":"User","namespace":"com.acme","fields":[{"name":"id","type":"long"}]}`
	ruleText = `{"name":"positiveId","kind":"CONDITION","mode":"WRITE","type":"CEL","expr":"message.id > 0"}`
)

// with is a registration of the user schema with more members, as JSON.
func with(members string) string {
	return `{"schema":"{\"type\":\"record\",\"name\":\"User\",\"namespace\":\"com.acme\",\"fields\":[{\"name\":\"id\",\"type\":\"long\"}]}"` + members + `}`
}

// C12, vectors D to F; 5.2: metadata and rules are part of a schema, and come
// back as they are stored.
func c12Attachments(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	for i, row := range []struct{ members, guid, shown string }{
		{``, "03f12125-0e8f-e0b8-3e84-a1ee2bdbbfca", ``},
		{`,"metadata":{"properties":{"owner":"payments"}}`, "91dee32f-ab08-1494-6064-44fbcba2c121", `"metadata":{"properties":{"owner":"payments"}},`},
		{`,"metadata":{}`, "1407e1a3-f338-338b-ccc9-785b697ca527", ``},
		{`,"ruleSet":{"domainRules":[` + ruleText + `]}`, "c601189b-3f59-3599-6c44-622b3c2a2f5c", `"ruleSet":{"domainRules":[{"name":"positiveId","kind":"CONDITION","mode":"WRITE","type":"CEL","expr":"message.id > 0","disabled":false}]},`},
	} {
		subject := string(rune('a' + i))
		entry := `"guid":"` + row.guid + `","schemaType":"AVRO",` + row.shown + `"schema":"{\"type\":\"record\",\"name\":\"User\",\"namespace\":\"com.acme\",\"fields\":[{\"name\":\"id\",\"type\":\"long\"}]}"`
		id := string(rune('1' + i))
		c.want(c.do("POST", "/subjects/"+subject+"/versions", with(row.members)), 200, `{"id":`+id+`,"version":1,`+entry+`}`)
		c.want(c.do("GET", "/subjects/"+subject+"/versions/1", nil), 200, `{"subject":"`+subject+`","version":1,"id":`+id+`,`+entry+`,"ts":1767225600000,"deleted":false}`)
		c.want(c.do("GET", "/schemas/guids/"+row.guid, nil), 200, `{`+entry+`,"ts":1767225600000,"deleted":false}`)
		c.want(c.do("POST", "/subjects/"+subject, with(row.members)), 200, nil)
		c.want(c.do("POST", "/subjects/other-"+subject+"/versions", with(row.members)), 200, nil)
		if got := c.do("GET", "/subjects/other-"+subject+"/versions/1", nil).member(t, "id"); got != float64(i+1) {
			t.Errorf("%s: another subject has id %v", row.members, got)
		}
	}
	// Sets are sorted and made distinct, defaults filled in, null is nothing.
	a := c.want(c.do("POST", "/subjects/z/versions", with(`,"metadata":{"tags":{"b":["y","x","y"],"a":["z"],"c":null},"sensitive":["q","p","q"],"properties":null,"other":7},"ruleSet":{"domainRules":[{"name":"r","type":"CEL","tags":["b","a"],"params":{"k":"v","a":"b"},"kind":null,"disabled":null}],"enableAt":"CLIENT"}`)), 200, nil)
	if got, want := a.body[len(`{"id":5,"version":1,"guid":"03f12125-0e8f-e0b8-3e84-a1ee2bdbbfca","schemaType":"AVRO",`):], `"metadata":{"tags":{"a":["z"],"b":["x","y"]},"sensitive":["p","q"]},"ruleSet":{"domainRules":[{"name":"r","kind":"TRANSFORM","mode":"WRITEREAD","type":"CEL","tags":["a","b"],"params":{"a":"b","k":"v"},"disabled":false}],"enableAt":"CLIENT"},`; len(got) < len(want) || got[:len(want)] != want {
		t.Errorf("got %s", a)
	}
	for _, row := range []struct {
		members string
		code    int
		says    string
	}{
		{`,"metadata":{"properties":{"a":1}}`, 400, "/metadata/properties/a"},
		{`,"metadata":{"tags":{"a":"b"}}`, 400, "/metadata/tags/a"},
		{`,"metadata":{"tags":{"a":[1]}}`, 400, "/metadata/tags/a/0"},
		{`,"metadata":{"sensitive":{}}`, 400, "/metadata/sensitive"},
		{`,"ruleSet":{"domainRules":{}}`, 400, "/ruleSet/domainRules"},
		{`,"ruleSet":{"domainRules":[{"name":"r","type":"CEL","kind":"ORDER"}]}`, 400, "/ruleSet/domainRules/0/kind"},
		{`,"ruleSet":{"domainRules":[{"name":"r","type":"CEL","mode":"write"}]}`, 400, "/mode"},
		{`,"ruleSet":{"enableAt":"MOON"}`, 400, "/ruleSet/enableAt"},
		{`,"ruleSet":{"domainRules":[{"type":"CEL"}]}`, 42210, "no name"},
		{`,"ruleSet":{"migrationRules":[{"name":"r","type":"CEL"}]}`, 42210, "WRITEREAD"},
	} {
		c.fails(c.do("POST", "/subjects/bad/versions", with(row.members)), row.code, row.says)
		c.fails(c.do("POST", "/compatibility/subjects/bad/versions?verbose=true", with(row.members)), row.code, row.says)
	}
	c.fails(c.do("GET", "/subjects/bad/versions", nil), 40401)
	c.fails(c.do("PUT", "/config/bad", `{"overrideRuleSet":{"domainRules":[{"name":"r"}]}}`), 42210, "no type")
}

// C16: versions that were asked for by number.
func c16ManagedVersion(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	for i, members := range []string{``, `,"version":2`, `,"version":3`} {
		a := c.want(c.do("POST", "/subjects/s/versions", with(members)), 200, nil)
		if a.member(t, "id") != float64(i+1) || a.member(t, "version") != float64(i+1) {
			t.Errorf("%q: %s", members, a)
		}
	}
	c.want(c.do("POST", "/subjects/s/versions", with(`,"version":3`)), 422, nil) // v3 is there; the next is 4
	a := c.do("GET", "/subjects/s/versions/3", nil)
	if got, _ := a.member(t, "metadata").(map[string]any); !equal(got, map[string]any{"properties": map[string]any{"confluent:version": "3"}}) {
		t.Errorf("version 3 is %s", a)
	}
	for number, want := range map[string]any{"1": 1.0, "2": 2.0, "3": 3.0} {
		members := `,"metadata":{"properties":{"confluent:version":"` + number + `"}}`
		if a := c.do("POST", "/subjects/s", with(members)); a.member(t, "version") != want {
			t.Errorf("looking up %s: %s", number, a)
		}
		if a := c.do("POST", "/subjects/s/versions", with(members)); a.member(t, "version") != want {
			t.Errorf("registering %s: %s", number, a)
		}
	}
	a = c.do("POST", "/subjects/s/versions", with(`,"metadata":{"properties":{"confluent:version":"0"}}`))
	if a.member(t, "version") != 4.0 {
		t.Errorf("a number to be assigned: %s", a)
	}
}

// 5.7: what a request leaves out it inherits; {} stops that.
func TestInheritedAttachments(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.want(c.do("POST", "/subjects/s/versions", with(`,"metadata":{"properties":{"owner":"x"}},"ruleSet":{"domainRules":[`+ruleText+`]}`)), 200, nil)
	again := c.do("POST", "/subjects/s/versions", with(``))
	if again.member(t, "version") != 1.0 {
		t.Errorf("left out: %s", again)
	}
	next := schema(record("com.acme.User", "id:long", "n:int=0"))
	a := c.want(c.do("POST", "/subjects/s/versions", next), 200, nil)
	if a.member(t, "metadata") == nil || a.member(t, "ruleSet") == nil {
		t.Errorf("inherited: %s", a)
	}
	next["metadata"], next["ruleSet"] = map[string]any{}, map[string]any{}
	a = c.want(c.do("POST", "/subjects/s/versions", next), 200, nil)
	if a.member(t, "version") != 3.0 || a.member(t, "metadata") != nil || a.member(t, "ruleSet") != nil {
		t.Errorf("explicitly none: %s", a)
	}
	// ruleType lists those that have one.
	a = c.want(c.do("GET", "/schemas?ruleType=CEL", nil), 200, nil)
	if list, _ := a.json(t).([]any); len(list) != 2 {
		t.Errorf("with CEL: %s", a)
	}
	c.want(c.do("GET", "/schemas?ruleType=JSONATA", nil), 200, `[]`)
}

// GET /subjects/{s}/metadata.
func TestMetadataSearch(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	for _, members := range []string{`,"metadata":{"properties":{"a":"1","b":"1"}}`, `,"metadata":{"properties":{"a":"1","b":"2"}}`, `,"metadata":{"properties":{"a":"2"}}`} {
		c.want(c.do("POST", "/subjects/s/versions", with(members)), 200, nil)
	}
	for query, want := range map[string]any{
		"key=a&value=1": 2.0, "key=a&value=2": 3.0, "key=a&value=1&key=b&value=1": 1.0, "key=a&value=1&key=b": 2.0, "deleted=false&&key=b&value=2": 2.0, "": 3.0,
	} {
		if a := c.do("GET", "/subjects/s/metadata?"+query, nil); a.member(t, "version") != want {
			t.Errorf("?%s: want %v, got %s", query, want, a)
		}
	}
	c.fails(c.do("GET", "/subjects/s/metadata?key=a&value=9", nil), 40403)
	c.fails(c.do("GET", "/subjects/nobody/metadata?key=a&value=1", nil), 40401)
	c.want(c.do("DELETE", "/subjects/s/versions/2", nil), 200, `2`)
	c.fails(c.do("GET", "/subjects/s/metadata?key=b&value=2", nil), 40403)
	c.want(c.do("GET", "/subjects/s/metadata?key=b&value=2&deleted=true", nil), 200, nil)
}

// C51: the members of 4.4 that come with metadata.
func c51Attachments(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	const all = `"alias":"t","aliasForDeks":"d","compatibilityGroup":"major","defaultMetadata":{"properties":{"a":"b"}},"overrideMetadata":{"tags":{"p":["q"]}},"defaultRuleSet":{"domainRules":[{"name":"r","kind":"TRANSFORM","mode":"WRITEREAD","type":"CEL","disabled":false}]},"overrideRuleSet":{"enableAt":"ALL"}`
	same := func(a answer, level string) {
		t.Helper()
		want := map[string]any{}
		for name, v := range c.do("PUT", "/config/twin", "{"+all+"}").json(t).(map[string]any) {
			want[name] = v
		}
		if level != "" {
			want[level] = "BACKWARD"
		}
		if got := a.json(t); !equal(got, want) {
			t.Errorf("want %v, got %s", want, a)
		}
	}
	a := c.want(c.do("PUT", "/config/s", "{"+all+"}"), 200, nil)
	if len(a.json(t).(map[string]any)) != 7 {
		t.Errorf("the answer to PUT: %s", a)
	}
	same(a, "")
	same(c.do("GET", "/config/s", nil), "compatibilityLevel")
	same(c.do("PUT", "/config/s", `{}`), "")
	c.want(c.do("PUT", "/config/s", `{"alias":null,"aliasForDeks":"","compatibilityGroup":null,"defaultMetadata":null,"overrideMetadata":{},"defaultRuleSet":null,"overrideRuleSet":{"domainRules":[]},"normalize":true}`), 200, `{"normalize":true}`)
	c.want(c.do("GET", "/config/s", nil), 200, `{"normalize":true,"compatibilityLevel":"BACKWARD"}`)
}

// 5.8: what a subject takes from above member by member, and what only as a
// whole.
func c53Attachments(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.want(c.do("PUT", "/config", `{"compatibility":"FULL","compatibilityGroup":"major","defaultMetadata":{"properties":{"a":"b"}}}`), 200, nil)
	c.want(c.do("GET", "/config/s?defaultToGlobal=true", nil), 200, `{"compatibilityLevel":"FULL","compatibilityGroup":"major","defaultMetadata":{"properties":{"a":"b"}}}`)
	c.want(c.do("PUT", "/config/s", `{"alias":"t","normalize":true}`), 200, `{"alias":"t","normalize":true}`)
	c.want(c.do("GET", "/config/s", nil), 200, `{"alias":"t","normalize":true,"compatibilityLevel":"FULL"}`)
	c.want(c.do("GET", "/config/s?defaultToGlobal=true", nil), 200, `{"alias":"t","normalize":true,"compatibilityLevel":"FULL","compatibilityGroup":"major"}`)
	a := c.want(c.do("POST", "/subjects/plain/versions", schema(`"string"`)), 200, nil)
	if got := a.member(t, "metadata"); !equal(got, map[string]any{"properties": map[string]any{"a": "b"}}) {
		t.Errorf("registered with %v", got)
	}
}

// 2.5: an alias stands for its subject everywhere but in config and mode.
func TestAlias(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("new", schema(`"string"`))
	c.want(c.do("PUT", "/config/old", `{"alias":"new"}`), 200, `{"alias":"new"}`)
	c.want(c.do("PUT", "/config/older", `{"alias":"old"}`), 200, nil)
	for _, path := range []string{"/subjects/old/versions/latest", "/subjects/old/versions/1", "/schemas/ids/1?subject=old"} {
		if got := c.do("GET", path, nil).member(t, "subject"); got != "new" {
			t.Errorf("%s: subject %v", path, got)
		}
	}
	c.want(c.do("GET", "/subjects/old/versions", nil), 200, `[1]`)
	c.fails(c.do("GET", "/subjects/older/versions", nil), 40401, "old") // one step only
	c.want(c.do("POST", "/subjects/old/versions", schema(`"string"`)), 200, nil)
	if got := c.do("POST", "/subjects/old", schema(`"string"`)).member(t, "subject"); got != "new" {
		t.Errorf("the lookup: %v", got)
	}
	c.want(c.do("POST", "/compatibility/subjects/old/versions/latest", schema(`"int"`)), 200, `{"is_compatible":false}`)
	c.want(c.do("GET", "/subjects", nil), 200, `["new"]`)
	c.fails(c.do("GET", "/config/new", nil), 40408)
	c.fails(c.do("GET", "/mode/old", nil), 40409)
	a := c.want(c.do("GET", "/schemas?aliases=true", nil), 200, nil)
	if got := a.json(t).([]any)[0].(map[string]any)["aliases"]; !equal(got, []any{"old"}) {
		t.Errorf("aliases: %v", got)
	}
	c.want(c.do("DELETE", "/subjects/old/versions/1", nil), 200, `1`)
	c.fails(c.do("GET", "/subjects/new/versions", nil), 40401)
}

// C65: only versions of one group are compared.
func c65Group(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.want(c.do("PUT", "/config/s", `{"compatibilityGroup":"major"}`), 200, nil)
	post := func(path, text, major string) answer {
		body := schema(text)
		body["metadata"] = map[string]any{"properties": map[string]any{"major": major}}
		return c.do("POST", path, body)
	}
	first, second := record("R", "a:int"), record("R", "b:int")
	c.want(post("/subjects/s/versions", first, "1"), 200, nil)
	c.fails(post("/subjects/s/versions", second, "1"), 409)
	c.want(post("/compatibility/subjects/s/versions", second, "2"), 200, `{"is_compatible":true}`)
	c.want(post("/compatibility/subjects/s/versions/1", second, "2"), 200, `{"is_compatible":true}`)
	c.want(post("/compatibility/subjects/s/versions/1", second, "1"), 200, `{"is_compatible":false}`)
	c.want(post("/subjects/s/versions", second, "2"), 200, nil)
	c.want(post("/subjects/s/versions", record("R", "a:int", "n:int=0"), "1"), 200, nil) // the latest of its group is v1
	c.fails(post("/subjects/s/versions", record("R", "c:int"), "2"), 409)
	body := schema(record("R", "c:int"))
	body["metadata"] = map[string]any{}
	c.want(c.do("POST", "/subjects/s/versions", body), 200, nil) // absent equals absent only
}
