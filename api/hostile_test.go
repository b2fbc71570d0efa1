package api_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
)

// A body within the limit costs memory in proportion to its size and little
// time, whatever is in it. Not parallel: it counts what the process allocates.
func TestHostileBodies(t *testing.T) {
	c := newClient(t, api.Options{})
	const size = 4<<20 - 1024
	fill := func(piece string) string { return strings.TrimSuffix(strings.Repeat(piece, size/len(piece)), ",") }
	for name, body := range map[string]string{
		"numbers of an unknown member": `{"a":[` + fill("0,") + `]}`,
		"objects of an unknown member": `{"a":[` + fill("{},") + `]}`,
		"many unknown members":         `{` + fill(`"a":0,`) + `}`,
		"many distinct members":        `{` + distinct(size) + `}`,
		"one member again and again":   `{` + fill(`"schema":"",`) + `}`,
		"empty references":             `{"references":[` + fill("{},") + `]}`,
		"references of nothing":        `{"references":[{` + fill(`"a":0,`) + `}]}`,
		"a schema of escapes":          `{"schema":"` + fill(`\u0041`) + `"}`,
		"a schema of blanks":           `{"schema":"` + fill(" ") + `"}`,
		"deep metadata":                `{"metadata":` + strings.Repeat(`{"a":`, 9000) + `"` + strings.Repeat("x", size-60_000) + `"` + strings.Repeat("}", 9000) + `}`,
		"wide metadata":                `{"metadata":{` + fill(`"a":null,`) + `}}`,
		"tags of blanks":               `{"schemaTagsToAdd":[` + fill(" ") + `]}`,
		"deep brackets":                fill("["),
		"a long number":                `{"version":` + fill("1") + `}`,
		"long words":                   `{"mode":"` + fill("x") + `"}`,
		"a long level":                 `{"compatibility":"` + fill("x") + `"}`,
		"a long type":                  `{"schema":"x","schemaType":"` + fill("é") + `"}`,
		"a long reference":             `{"schema":"{}","references":[{"version":1,"name":"` + fill("x")[:size/2] + `","subject":"` + fill("x")[:size/2] + `"}]}`,
	} {
		if len(body) > 4<<20 {
			t.Fatalf("%s: %d bytes are over the limit and try nothing", name, len(body))
		}
		method, path := "POST", "/subjects/s/versions"
		switch name {
		case "long words":
			method, path = "PUT", "/mode/s"
		case "a long level":
			method, path = "PUT", "/config/s"
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := costtest.Spent()
		a := c.do(method, path, body)
		took := costtest.Spent() - start
		runtime.ReadMemStats(&after)
		if spent := (after.TotalAlloc - before.TotalAlloc) >> 20; spent > 80 || took > costtest.Slower*time.Second {
			t.Errorf("%s: %d MiB and %v", name, spent, took)
		}
		if a.status < 400 {
			t.Errorf("%s: it is taken: %s", name, a)
		}
		if len(a.body) > 20<<10 {
			t.Errorf("%s: the refusal has %d bytes", name, len(a.body))
		}
	}
}

func distinct(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size-20; i++ {
		fmt.Fprintf(&b, "%q:0,", fmt.Sprint(i))
	}
	return strings.TrimSuffix(b.String(), ",")
}

// Many callers at once get right answers: one id for one schema, no number
// twice, and reads that agree with what was answered.
func TestManyCallers(t *testing.T) {
	t.Parallel()
	s := api.New(openRegistry(t), api.Options{})
	const callers, rounds = 16, 20
	var mu sync.Mutex
	ids := map[string]float64{}
	versions := map[string]string{}
	var all sync.WaitGroup
	for n := range callers {
		all.Go(func() {
			c := &client{t: t, server: s, header: http.Header{}}
			for i := range rounds {
				text := record("R", fmt.Sprintf("f%d:int=0", i%7))
				subject := fmt.Sprintf("s%d", (n+i)%5)
				a := c.send("POST", "/subjects/"+subject+"/versions?force=true", schema(text))
				if a.status != 200 {
					t.Errorf("registering: %s", a)
					return
				}
				id, _ := a.member(t, "id").(float64)
				version := fmt.Sprint(subject, "/", a.member(t, "version"))
				mu.Lock()
				if known, ok := ids[text]; ok && known != id {
					t.Errorf("one schema has the ids %v and %v", known, id)
				}
				ids[text] = id
				if other, ok := versions[version]; ok && other != text {
					t.Errorf("%s is two schemas", version)
				}
				versions[version] = text
				mu.Unlock()
				for _, path := range []string{fmt.Sprintf("/schemas/ids/%v", id), fmt.Sprintf("/schemas/ids/%v?subject=%s", id, subject), fmt.Sprintf("/subjects/%s/versions/%v", subject, a.member(t, "version"))} {
					if b := c.send("GET", path, nil); b.status != 200 || b.member(t, "schema") != text {
						t.Errorf("GET %s: %s, want the text %s", path, b, text)
					}
				}
			}
		})
	}
	all.Wait()
	if len(ids) != 7 {
		t.Errorf("7 schemas have %d ids", len(ids))
	}
}
