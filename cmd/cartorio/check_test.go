package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
)

func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"http://u:hunter2@host:1/x":                      "http://hidden@host:1/x",
		"https://a,http://u:hunter2@b":                   "https://a,http://hidden@b",
		"postgres://u:hunter2@h/db?sslmode=x":            "postgres://hidden@h/db?sslmode=x",
		"postgres://h/db?password=hunter2&x=1":           "postgres://h/db?password=hidden&x=1",
		"http://u:hun%ter2@host":                         "http://hidden@host",
		"sqlite:cartorio.db":                             "sqlite:cartorio.db",
		"https://h/?access_token=hunter2;apiKey=hunter2": "https://h/?access_token=hidden;apiKey=hidden",
		"git:main": "git:main",
	} {
		if got := withoutSecrets(text); got != want {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"text": "", "json,sarif=x": "", "sarif=x,junit=y": "", "json=a=b": "",
		"yaml": "--format yaml is none of text, json", "yaml=x": "--format yaml is none of", "json=": "names no file", "json,text": "two forms go to stdout", "json=x,text=x": "two forms go to x",
	} {
		_, err := parseOutputs(strings.Split(text, ","), "")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	out, err := parseOutputs([]string{"sarif=x", "json"}, "y")
	if err != nil || out[1].file != "y" {
		t.Errorf("%v, %v", out, err)
	}
}

func TestPlatformPaths(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{".git", "sub"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(dir, "sub"))
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	p := platformPath()
	for file, want := range map[string]string{
		"a.avsc": "sub/a.avsc", "./x/a.avsc": "sub/x/a.avsc", "../b.avsc": "b.avsc", filepath.Join(here, "c.avsc"): "sub/c.avsc",
		"git:main:schemas/a.avsc": "schemas/a.avsc", "git:merge-base(x):a.avsc": "a.avsc", "registry:orders@3": "", "bundle:b.car:o@1": "",
		"base.tar.gz:schemas/a.avsc": "sub/schemas/a.avsc", "/etc/x.avsc": "/etc/x.avsc",
	} {
		if got := p(file); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
}

func TestEnvelopes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"payload": 1}`: false, `{"value": 1, "id": 2}`: false, `{"headers": {}}`: false, `[1]`: false, `"x"`: false, `{`: false,
		`{"payload": 1, "headers": {}}`: true, `{"payloadBase64": ""}`: true, `{"value": "", "encoding": "hex"}`: true, ` {"payload": "", "partition": 0}`: true,
	} {
		if got := isEnvelope([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	for text, want := range map[string]string{
		`{"payloadBase64": "!"}`: "its payload is not base64", `{"payload": "zz", "encoding": "hex"}`: "its payload is not hex",
		`{"payload": "x", "encoding": "rot13"}`: `its encoding "rot13" is none of`, `{"payloadBase64": 7}`: "the recording is not understood",
	} {
		if got := unwrap([]byte(text)).unusable; !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if m := unwrap([]byte(`{"payload": null, "headers": ["a", 1, "b"]}`)); m.payload != nil || m.headers["a"] != "1" || len(m.headers) != 1 {
		t.Errorf("%+v", m)
	}
}

// FuzzEnvelope reads any line as a recorded message, and never panics.
func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(`{"headers":["a","b"],"payload":"x","encoding":"base64"}`))
	f.Add([]byte(`{"properties":{"headers":{"a":1}},"payload":{"a":1},"payload_encoding":"string"}`))
	f.Fuzz(func(_ *testing.T, line []byte) {
		if isEnvelope(line) {
			unwrap(line)
		}
	})
}

// The counts of a replay add up, whatever its outcome.
func TestReplayRemarks(t *testing.T) {
	t.Parallel()
	reasons := make([]compat.ReplayReason, 12)
	for i := range reasons {
		reasons[i] = compat.ReplayReason{Outcome: "refused", Messages: 1, First: "x:1", Text: "no"}
	}
	list := []compat.Replay{{Schema: "a.avsc", Messages: 13, Accepted: 1, Refused: 12, Reasons: reasons}}
	const line = "replay of 13 recorded messages through a.avsc: 1 accepted, 12 would be refused"
	if got := replayRemarks(list); len(got) != 1 || got[0] != line {
		t.Errorf("%q", got)
	}
	var b text
	b.replays(list)
	if got := strings.Split(strings.TrimSpace(b.b.String()), "\n"); len(got) != 12 || got[0] != line || got[1] != "    1 refused, first x:1: no" || got[11] != "    2 more reasons" {
		t.Errorf("%q", got)
	}
}
