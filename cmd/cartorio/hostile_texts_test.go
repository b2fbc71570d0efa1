//go:build unix

package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"
)

// The limits of one text, for whoever reads it.
const (
	textTime   = time.Second
	textMemory = 256 // MB live
)

// textUsers are all who read one text. Each finds it in new/, and a payload in
// data.json.
var textUsers = []struct {
	name string
	do   func(t *testing.T, c *textCase)
}{
	{"validate", func(t *testing.T, c *textCase) { command(t, c.taken(exitOK, exitFindings), "validate", c.file, c.data) }},
	{"inspect", func(t *testing.T, c *textCase) {
		command(t, c.taken(exitOK, exitFindings), "inspect", c.data, "--schema", c.file, "--registry", c.url)
	}},
	{"test", func(t *testing.T, c *textCase) {
		tests := fmt.Sprintf("version: 1\nschema: %q\ntests:\n- {name: a, file: data.json, expect: valid}\n", c.file)
		command(t, c.taken(exitOK, exitFindings), "test", c.put(t, "x.schematest.yaml", tests))
	}},
	// A schema with more remarks than lint tells of is not checked to its end.
	{"lint", func(t *testing.T, c *textCase) {
		command(t, c.taken(exitOK, exitFindings, exitNotCompared), "lint", "--all", c.file)
	}},
	{"lint and mend", func(t *testing.T, c *textCase) {
		command(t, c.taken(exitOK, exitFindings, exitNotCompared), "lint", "--all", "--fix", c.file)
	}},
	{"fmt", func(t *testing.T, c *textCase) { command(t, c.taken(exitOK), "fmt", c.file) }},
	{"check", func(t *testing.T, c *textCase) {
		command(t, c.taken(exitOK), "check", c.file, "--against", c.file, "--level", "FULL")
	}},
	{"diff", func(t *testing.T, c *textCase) { command(t, c.taken(exitOK), "diff", c.file, c.file) }},
	{"changelog", func(t *testing.T, c *textCase) { command(t, c.taken(exitOK), "changelog", c.file, c.file) }},
	{"advise", func(t *testing.T, c *textCase) { command(t, c.taken(exitOK), "advise", c.file, c.file) }},
	{"plan", func(t *testing.T, c *textCase) {
		command(t, c.taken(exitOK), "plan", "--config", c.declared(t), "--registry", c.url)
	}},
	{"apply", func(t *testing.T, c *textCase) {
		command(t, c.taken(exitOK), "apply", "--yes", "--config", c.declared(t), "--registry", c.url)
	}},
	{"register", func(t *testing.T, c *textCase) {
		command(t, c.taken(exitOK), "register", c.file, "--registry", c.url, "--subject", "s")
	}},
	{"POST versions", func(t *testing.T, c *textCase) { c.post(t, "/subjects/s/versions?normalize=true", c.body) }},
	{"POST subjects", func(t *testing.T, c *textCase) { c.post(t, "/subjects/s", c.body, http.StatusNotFound) }},
	{"POST compatibility", func(t *testing.T, c *textCase) {
		c.post(t, "/compatibility/subjects/s/versions", c.body)
	}},
	{"POST compare", func(t *testing.T, c *textCase) {
		c.post(t, "/api/v1/compare", map[string]any{"old": c.body, "new": c.body})
	}},
}

// textCase is one text before one of those who read it.
type textCase struct {
	*judges
	file, data string
	body       any
	good       bool // it may be registered
}

// taken are the exit codes for a good text; another is not read.
func (c *textCase) taken(codes ...int) []int {
	if !c.good {
		return []int{exitFindings, exitNotCompared}
	}
	return codes
}

// post sends a body that is taken when the text is good, or refused with another
// status where one is given.
func (c *textCase) post(t *testing.T, path string, body any, instead ...int) {
	t.Helper()
	want := http.StatusOK
	switch {
	case !c.good:
		want = http.StatusUnprocessableEntity
	case len(instead) > 0:
		want = instead[0]
	}
	status, answer := c.ask(t, "POST", path, body)
	if status != want && (len(instead) == 0 || status != instead[0]) {
		t.Errorf("%s: %d, want %d: %.300s", path, status, want, answer)
	}
}

func (c *textCase) declared(t *testing.T) string {
	t.Helper()
	return c.put(t, "new/cartorio.yaml", fmt.Sprintf("version: 1\nsubjects:\n- {name: s, file: %s}\n", filepath.Base(c.file)))
}

// TestHostileTextsEverywhere puts single texts to all who parse: each stays under
// 1 s of the processor and 256 MB, and what is refused says why.
func TestHostileTextsEverywhere(t *testing.T) {
	for _, text := range hostileTexts {
		t.Run(string(text.kind)+"/"+text.name, func(t *testing.T) {
			for _, user := range textUsers {
				t.Run(user.name, func(t *testing.T) {
					c := &textCase{judges: newJudges(t), good: text.taken, body: map[string]any{"schemaType": text.kind, "schema": text.text}}
					c.file, c.data = c.put(t, "new/x"+endings[text.kind], text.text), c.put(t, "data.json", "{}")
					costs(t, user.name, textTime, textMemory, func() { user.do(t, c) })
				})
			}
		})
	}
}

// storedUsers read a text that is registered as version 1 of s.
var storedUsers = []struct {
	name string
	do   func(t *testing.T, c *textCase)
}{
	{"bundle", func(t *testing.T, c *textCase) {
		command(t, []int{exitOK}, "bundle", "--subject", "s", "-o", filepath.Join(c.dir, "x.bundle"), "--registry", c.url)
	}},
	{"dump", func(t *testing.T, c *textCase) {
		command(t, []int{exitOK}, "dump", filepath.Join(c.dir, "dumped"), "--registry", c.url)
	}},
	{"export", func(t *testing.T, c *textCase) {
		command(t, []int{exitOK}, "export", filepath.Join(c.dir, "exported"), "--registry", c.url)
	}},
	{"validate against a registry", func(t *testing.T, c *textCase) {
		command(t, []int{exitOK, exitFindings}, "validate", "registry:s", c.data, "--registry", c.url)
	}},
	{"GET id", func(t *testing.T, c *textCase) { c.get(t, "/schemas/ids/1") }},
	{"GET id, resolved", func(t *testing.T, c *textCase) { c.get(t, "/schemas/ids/1?format=resolved") }},
	{"GET id, serialized", func(t *testing.T, c *textCase) { c.get(t, "/schemas/ids/1?format=serialized") }},
	{"GET version, without extensions", func(t *testing.T, c *textCase) { c.get(t, "/subjects/s/versions/1?format=ignore_extensions") }},
	{"GET schemas", func(t *testing.T, c *textCase) { c.get(t, "/schemas") }},
	{"GET id with tags", func(t *testing.T, c *textCase) { c.get(t, "/schemas/ids/1?findTags=*") }},
	{"POST tags", func(t *testing.T, c *textCase) {
		tag := map[string]any{"schemaEntity": map[string]any{"entityPath": "R", "entityType": "sr_record"}, "tags": []string{"PII"}}
		if status, answer := c.ask(t, "POST", "/subjects/s/versions/1/tags", map[string]any{"tagsToAdd": []any{tag}}); status >= http.StatusInternalServerError {
			t.Errorf("%d %.300s", status, answer)
		}
	}},
}

func (c *textCase) get(t *testing.T, path string) {
	t.Helper()
	if status, answer := c.ask(t, "GET", path, nil); status != http.StatusOK {
		t.Errorf("GET %s: %d %.300s", path, status, answer)
	}
}

// TestHostileVersionsEverywhere is the same for those who read a text that is
// registered.
func TestHostileVersionsEverywhere(t *testing.T) {
	for _, text := range hostileTexts {
		if !text.taken {
			continue
		}
		t.Run(string(text.kind)+"/"+text.name, func(t *testing.T) {
			for _, user := range storedUsers {
				t.Run(user.name, func(t *testing.T) {
					c := &textCase{judges: newJudges(t), good: true, body: map[string]any{"schemaType": text.kind, "schema": text.text}}
					c.data = c.put(t, "data.json", "{}")
					c.post(t, "/subjects/s/versions", c.body)
					costs(t, user.name, textTime, textMemory, func() { user.do(t, c) })
				})
			}
		})
	}
}
