package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
)

// clients is how many register at once.
const clients = 60

// crowd asks a server on a file over the wire, many at once.
type crowd struct {
	*client
	base string
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	journal, err := sqlite.Open(t.TempDir() + "/c.db")
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, server: api.New(openOn(t, journal), api.Options{}), header: http.Header{}}
	address, served := c.serve()
	t.Cleanup(func() {
		if err := c.server.Shutdown(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
		<-served
	})
	return &crowd{c, "http://" + address}
}

// ask gives the status and the answer's members.
func (c *crowd) ask(method, path string, body any) (int, map[string]any, string) {
	text := ""
	switch b := body.(type) {
	case nil:
	case string:
		text = b
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			c.t.Error(err)
		}
		text = string(raw)
	}
	q, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, strings.NewReader(text))
	if err != nil {
		c.t.Error(err)
		return 0, nil, ""
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		c.t.Error(err)
		return 0, nil, ""
	}
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Error(err)
	}
	var members map[string]any
	_ = json.Unmarshal(raw, &members) // lists and numbers have none
	return r.StatusCode, members, string(raw)
}

// together runs do for every client at once.
func together(do func(i int)) {
	var all sync.WaitGroup
	gun := make(chan struct{})
	for i := range clients {
		all.Go(func() {
			<-gun
			do(i)
		})
	}
	close(gun)
	all.Wait()
}

func numbered(i int) map[string]any { return schema(record("R", fmt.Sprintf("f%d:long", i))) }

// Sixty registrations at once, of one schema and of sixty, under one subject and
// under sixty: right ids, right numbers, no duplicates and no holes.
func TestRegistrationsAtOnce(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name            string
		schema, subject func(i int) int
		ids, versions   int // different ones
	}{
		{"one schema, one subject", func(int) int { return 0 }, func(int) int { return 0 }, 1, 1},
		{"one schema, many subjects", func(int) int { return 0 }, func(i int) int { return i }, 1, 1},
		{"many schemas, one subject", func(i int) int { return i }, func(int) int { return 0 }, clients, clients},
		{"many schemas, many subjects", func(i int) int { return i }, func(i int) int { return i }, clients, 1},
		{"a few schemas, a few subjects", func(i int) int { return i % 7 }, func(i int) int { return i % 3 }, 7, 7},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newCrowd(t)
			c.ask("PUT", "/config", `{"compatibility":"NONE"}`)
			var ids, versions [clients]int
			together(func(i int) {
				status, m, raw := c.ask("POST", fmt.Sprintf("/subjects/s%d/versions", row.subject(i)), numbered(row.schema(i)))
				id, _ := m["id"].(float64)
				version, _ := m["version"].(float64)
				if ids[i], versions[i] = int(id), int(version); status != 200 {
					t.Errorf("client %d: %d %s", i, status, raw)
				}
			})
			idOf, versionOf := map[int]int{}, map[[2]int]int{}
			for i := range clients {
				if known, ok := idOf[row.schema(i)]; ok && known != ids[i] {
					t.Errorf("schema %d has the ids %d and %d", row.schema(i), known, ids[i])
				}
				idOf[row.schema(i)] = ids[i]
				at := [2]int{row.subject(i), row.schema(i)}
				if known, ok := versionOf[at]; ok && known != versions[i] {
					t.Errorf("schema %d has the versions %d and %d under subject %d", row.schema(i), known, versions[i], row.subject(i))
				}
				versionOf[at] = versions[i]
				if _, m, raw := c.ask("GET", fmt.Sprintf("/schemas/ids/%d", ids[i]), nil); m["schema"] != numbered(row.schema(i))["schema"] {
					t.Errorf("id %d answers %s", ids[i], raw)
				}
			}
			upTo := func(what string, list []int, want int) {
				slices.Sort(list)
				if list = slices.Compact(list); len(list) != want || list[0] != 1 || list[len(list)-1] != want {
					t.Errorf("%s: %v, want 1 to %d", what, list, want)
				}
			}
			upTo("ids", slices.Clone(ids[:]), row.ids)
			bySubject := map[int][]int{}
			for at, version := range versionOf {
				bySubject[at[0]] = append(bySubject[at[0]], version)
			}
			for subject, list := range bySubject {
				upTo(fmt.Sprint("versions of subject ", subject), list, row.versions)
			}
		})
	}
}

// The same with deletions and changes of config between: what was answered is
// so, no number and no id ever stands for two, and only what was refused or
// deleted is missing.
func TestWritesOfEveryKindAtOnce(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	c.ask("PUT", "/config", `{"compatibility":"NONE"}`)
	const rounds, subjects = 4, 5
	type place struct{ subject, version int }
	var mu sync.Mutex
	textOf, idOf := map[int]any{}, map[place]int{}
	gone := map[place]bool{}
	together(func(i int) {
		for n := range rounds {
			s := (i + n) % subjects
			path := fmt.Sprintf("/subjects/s%d", s)
			switch (i + n) % 6 {
			case 4:
				if status, _, raw := c.ask("PUT", "/config/"+path[len("/subjects/"):], fmt.Sprintf(`{"compatibility":"NONE","normalize":%t}`, n%2 == 0)); status != 200 {
					t.Errorf("config: %d %s", status, raw)
				}
				continue
			case 5:
				mu.Lock()
				victim := place{subject: -1}
				for at := range idOf {
					if !gone[at] && (at.subject+at.version)%3 == 0 {
						victim = at
						break
					}
				}
				if victim.subject >= 0 {
					gone[victim] = true
				}
				mu.Unlock()
				if victim.subject < 0 {
					continue
				}
				version := fmt.Sprintf("/subjects/s%d/versions/%d", victim.subject, victim.version)
				for _, permanent := range []string{"", "?permanent=true"} {
					if status, _, raw := c.ask("DELETE", version+permanent, nil); status != 200 {
						t.Errorf("delete %s%s: %d %s", version, permanent, status, raw)
					}
				}
				continue
			}
			body := numbered(1000*i + n)
			status, m, raw := c.ask("POST", path+"/versions", body)
			id, _ := m["id"].(float64)
			version, _ := m["version"].(float64)
			if status != 200 {
				t.Errorf("register: %d %s", status, raw)
				continue
			}
			mu.Lock()
			if known, ok := textOf[int(id)]; ok && known != body["schema"] {
				t.Errorf("id %d stands for %v and %v", int(id), known, body["schema"])
			}
			textOf[int(id)] = body["schema"]
			at := place{s, int(version)}
			if known, ok := idOf[at]; ok {
				t.Errorf("version %d of subject %d has the ids %d and %d", at.version, s, known, int(id))
			}
			idOf[at] = int(id)
			mu.Unlock()
		}
	})
	// Every content was another: each got an id of its own, without a hole, and
	// each subject's numbers have none.
	for id := 1; id <= len(textOf); id++ {
		if textOf[id] == nil {
			t.Errorf("id %d of %d is missing", id, len(textOf))
		}
	}
	counts := map[int]int{}
	for at := range idOf {
		counts[at.subject] = max(counts[at.subject], at.version)
	}
	for s, high := range counts {
		for v := 1; v <= high; v++ {
			at := place{s, v}
			id, ok := idOf[at]
			if !ok {
				t.Errorf("version %d of subject %d is missing", v, s)
			}
			status, m, raw := c.ask("GET", fmt.Sprintf("/subjects/s%d/versions/%d", s, v), nil)
			switch {
			case gone[at] && status != 404:
				t.Errorf("version %d of subject %d was deleted and answers %d %s", v, s, status, raw)
			case !gone[at] && (status != 200 || m["id"] != float64(id) || m["schema"] != textOf[id]):
				t.Errorf("version %d of subject %d answers %d %s", v, s, status, raw)
			}
		}
	}
	if len(gone) < 5 {
		t.Errorf("only %d versions were deleted", len(gone))
	}
	// The journal tells the same story.
	_, _, raw := c.ask("GET", "/api/v1/changes?limit=1000", nil)
	var trail struct{ Changes []change }
	if err := json.Unmarshal([]byte(raw), &trail); err != nil {
		t.Fatal(err)
	}
	registered := 0
	for i, one := range trail.Changes {
		if one.Revision != i+1 {
			t.Errorf("revision %d stands at %d", one.Revision, i+1)
		}
		if one.Kind == "version-registered" {
			registered++
		}
	}
	if registered != len(idOf) {
		t.Errorf("the journal has %d registrations, %d were answered", registered, len(idOf))
	}
}
