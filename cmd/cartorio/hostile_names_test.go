//go:build !windows

package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

// TestHostileNamesSteerNoTerminal names files, subjects, fields, consumers and
// acceptances with what steers a terminal or turns the direction of writing, and
// reads every form for people that a command prints, and what it says beside.
func TestHostileNamesSteerNoTerminal(t *testing.T) {
	t.Parallel()
	const evil = "\u202e\x1b[31m\u2066\u009b2J\x7f"
	dir := t.TempDir()
	in := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	file := func(text string, parts ...string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(in(parts...)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(in(parts...), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	object := func(property, kind string) string {
		text, err := json.Marshal(map[string]any{
			"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "title": evil, "description": evil, "additionalProperties": false,
			"properties": map[string]any{"id" + evil: map[string]any{"type": kind, "enum": []any{evil, 1}}, property + evil: map[string]any{"description": evil}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	name := "order" + evil + ".json"
	file(object("a", "string"), "old", name)
	file(object("b", "integer"), "new", name)
	file(`{"type": "record", "name": "`+"\u202e"+`"}`, "new", "bad"+evil+".avsc")
	file(`{"type": "record", "name": "Gone", "fields": []}`, "old", "gone"+evil+".avsc")
	file(`syntax = "proto3"; import "`+"a\u202e"+`.proto";`, "new", "p"+evil+".proto")
	file(`{"id`+"\u202e"+`": "x"}`+"\n", "messages"+evil+".jsonl")
	file("version: 1\n", "cartorio.yaml")

	_, url := served(t)
	ask := func(path string, body any) {
		t.Helper()
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", path, answer.Status)
		}
	}
	hostile := "s\u202e\u2066"
	ask("/subjects/"+hostile+"/versions", map[string]any{"schemaType": "JSON", "schema": object("a", "string")})
	ask("/api/v1/readers", map[string]any{"consumer": "billing" + "\u202e", "environment": "prod" + "\u2066", "reads": []any{
		map[string]any{"subject": hostile, "context": ".", "versions": []int{1}, "accepts": "1", "accepted": 1},
	}})

	say := func(args ...string) string {
		t.Helper()
		var out, complain bytes.Buffer
		code := run(t.Context(), append([]string{"--config", in("cartorio.yaml")}, args...), strings.NewReader(`{"id": 1}`), &out, &complain)
		if code == exitUsage || code == exitDefect {
			t.Errorf("%q: exit code %d: %s", args, code, complain.String())
		}
		for stream, text := range map[string]string{"stdout": out.String(), "stderr": complain.String()} {
			for line := range strings.Lines(text) {
				if at := strings.IndexFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool {
					return r != '\t' && unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Bidi_Control, r)
				}); at >= 0 {
					t.Errorf("%.120q: %s holds %q", args, stream, line[max(0, at-60):min(len(line), at+20)])
				}
			}
		}
		return out.String()
	}
	// A finding is accepted, in words that steer.
	var found struct {
		Findings []struct{ Fingerprint, Severity string }
	}
	var document bytes.Buffer
	run(t.Context(), []string{"check", in("new"), "--against", in("old"), "--format", "json"}, nil, &document, &bytes.Buffer{})
	if err := json.Unmarshal(document.Bytes(), &found); err != nil || len(found.Findings) < 2 {
		t.Fatalf("%v: %s", err, document.String())
	}
	print := found.Findings[0].Fingerprint
	until := time.Now().AddDate(0, 1, 0).Format(time.DateOnly)
	say("except", print, "--reason", "because"+evil, "--owner", "team"+evil, "--until", until, "--unseen", "--exceptions", in("x.yaml"), "--rule", "r"+evil, "--path", evil)
	say("except", strings.Repeat("0", 31)+"1", "--reason", evil, "--owner", evil, "--until", until, "--unseen", "--exceptions", in("x.yaml"), "--rule", "r"+evil, "--path", evil)
	x := []string{"--exceptions", in("x.yaml")}
	shown := ""
	for _, form := range []string{"text", "markdown", "html", "github-actions"} {
		shown += say(slices.Concat([]string{"check", in("new"), "--against", in("old"), "--format", form, "--strict-exceptions"}, x)...)
		shown += say(slices.Concat([]string{"check", in("new", name), "--against", "registry:" + hostile, "--registry", url, "--impact", "--format", form}, x)...)
		shown += say("check", in("new", name), "--messages", in("messages"+evil+".jsonl"), "--format", form)
	}
	for _, want := range []string{`\u202e`, `\u001b[31m`, "accepted", "billing", "because", "would be refused", "not checked"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no form of check shows %q, so that it was not tried", want)
		}
	}
	for _, form := range []string{"text", "markdown", "html"} {
		say("diff", in("old"), in("new"), "--format", form)
	}
	for _, form := range []string{"text", "markdown"} {
		say("changelog", in("old"), in("new"), "--format", form)
	}
	say("advise", in("old", name), in("new", name))
	for _, form := range []string{"text", "markdown", "html", "github-actions"} {
		say("lint", in("new"), "--format", form, "--fail-on", "note")
	}
	say("validate", in("new", name), in("messages"+evil+".jsonl"))
	say("inspect", "--schema", in("new", name), in("messages"+evil+".jsonl"))
	say("inspect", in("messages"+evil+".jsonl"))
	say("inspect", "--hex", "0a", "--header", "h"+evil+"="+evil)
	say("fmt", "--check", in("new"))
	say("consumers", "--registry", url)
	say("consumers", hostile, "--registry", url)
	say("window", hostile, "--registry", url)
	say("can-deploy", "--subject", hostile, "--version", "1", "--to", "prod", "--registry", url)
	say("register", in("new"), "--registry", url)
	say("bundle", "--subject", hostile, "-o", in("b.bundle"), "--registry", url)
	say("export", in("all.tar"), "--registry", url)
	say("migrate", "--from", url, "--to", in("there"+evil), "--dry-run")
	file(object("b", "integer"), "next.json")
	file(object("c", "integer"), "other.json")
	file("version: 1\nsubjects:\n- {name: \"s\\u202e\\u2066\", file: next.json}\n- {name: \"t\\u202e\", file: other.json}\n", "cartorio.yaml")
	for _, form := range []string{"text", "markdown"} {
		if text := say("plan", "--registry", url, "--format", form); form == "text" && !strings.Contains(text, `\u202e`) {
			t.Errorf("plan shows no hostile name: %q", text)
		}
	}
}
