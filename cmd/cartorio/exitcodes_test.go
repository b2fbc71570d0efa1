package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExitCodes makes each exit code of cli-and-ui 4.2 once, by its name; stdout is
// empty or in the form that was asked for. testdata/script/exit-codes.txtar has the
// many ways to them.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir) // no configuration is above it
	for name, text := range map[string]string{
		"old/order.avsc":     `{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}`,
		"fine/order.avsc":    `{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"n","type":"int","default":0}]}`,
		"breaks/order.avsc":  `{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"n","type":"int"}]}`,
		"broken/order.avsc":  `{"type":`,
		"plan/cartorio.yaml": "version: 1\nsubjects: [{name: orders, file: order.avsc}]\n",
		"plan/order.avsc":    `"string"`,
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	answering := func(status int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			io.WriteString(w, body) // the client tells
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	check := func(head string, more ...string) []string {
		return append([]string{"check", head, "--against", "old", "--format", "json"}, more...)
	}
	for _, tt := range []struct {
		name string
		code int
		args []string
		in   io.Reader
	}{
		{"0 nothing breaks", exitOK, check("fine"), nil},
		{"1 findings", exitFindings, check("breaks"), nil},
		{"2 could not compare", exitNotCompared, check("broken"), nil},
		{"2 wins over 1, and stays with --exit-zero", exitNotCompared, check("broken", "--exit-zero"), nil},
		{"3 changes are pending", exitPending, []string{"plan", "--config", "plan/cartorio.yaml", "--detailed-exitcode", "--format", "json", "--registry", answering(404, `{"error_code":40401,"message":"no such subject"}`)}, nil},
		{"4 the registry is unreachable", exitUnreachable, []string{"check", "fine", "--against", "registry:", "--format", "json", "--registry", "http://127.0.0.1:1"}, nil},
		{"4 the registry answers 5xx", exitUnreachable, []string{"check", "fine", "--against", "registry:", "--format", "json", "--registry", answering(503, `{"error_code":50301,"message":"going down"}`)}, nil},
		{"5 the registry refuses the caller", exitRefused, []string{"check", "fine", "--against", "registry:", "--format", "json", "--registry", answering(401, `{"error_code":401,"message":"who are you"}`)}, nil},
		{"5 the registry is read-only", exitRefused, []string{"register", "fine", "--format", "json", "--registry", answering(422, `{"error_code":42205,"message":"read-only"}`)}, nil},
		{"64 wrong usage", exitUsage, check("fine", "--nope"), nil},
		{"70 a defect", exitDefect, []string{"validate", "fine/order.avsc", "-", "--format", "json"}, panicking{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, complaint bytes.Buffer
			if code := run(t.Context(), tt.args, tt.in, &out, &complaint); code != tt.code {
				t.Errorf("exit code %d, want %d\n%s\n%s", code, tt.code, out.String(), complaint.String())
			}
			if out.Len() > 0 && !json.Valid(out.Bytes()) {
				t.Errorf("stdout holds %q", out.String())
			}
			if tt.code > exitNotCompared && tt.code != exitPending && strings.TrimSpace(complaint.String()) == "" {
				t.Error("stderr says nothing")
			}
		})
	}
}
