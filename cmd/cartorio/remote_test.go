package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCredentials registers at a registry that refuses everyone and tells what
// it was shown: the secret arrives, and appears nowhere else.
func TestCredentials(t *testing.T) {
	schema := filepath.Join(t.TempDir(), "s.avsc")
	if err := os.WriteFile(schema, []byte(`"string"`), 0o600); err != nil {
		t.Fatal(err)
	}
	var shown string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown = r.Header.Get("Authorization")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error_code":401,"message":"no"}`))
	}))
	defer s.Close()
	withUser := strings.Replace(s.URL, "http://", "http://ana:geheim@", 1)
	for name, c := range map[string]struct {
		url, user, password, token, want string
	}{
		"none":            {url: s.URL},
		"basic":           {url: s.URL, user: "ana", password: "geheim", want: "Basic YW5hOmdlaGVpbQ=="},
		"in the URL":      {url: withUser, want: "Basic YW5hOmdlaGVpbQ=="},
		"token":           {url: s.URL, token: "geheim", want: "Bearer geheim"},
		"token after all": {url: "http://127.0.0.1:1, " + s.URL, token: "geheim", want: "Bearer geheim"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CARTORIO_REGISTRY_URL", c.url)
			t.Setenv("CARTORIO_REGISTRY_USER", c.user)
			t.Setenv("CARTORIO_REGISTRY_PASSWORD", c.password)
			t.Setenv("CARTORIO_REGISTRY_TOKEN", c.token)
			var out, complaint bytes.Buffer
			if code := run(context.Background(), []string{"register", schema}, nil, &out, &complaint); code != exitRefused {
				t.Errorf("exit code %d, want %d: %s", code, exitRefused, complaint.String())
			}
			if shown != c.want {
				t.Errorf("the registry was shown %q, want %q", shown, c.want)
			}
			if strings.Contains(out.String()+complaint.String(), "geheim") {
				t.Errorf("the secret is printed: %s%s", out.String(), complaint.String())
			}
		})
	}
	t.Setenv("CARTORIO_REGISTRY_USER", "ana")
	t.Setenv("CARTORIO_REGISTRY_TOKEN", "geheim")
	var complaint bytes.Buffer
	if code := run(context.Background(), []string{"register", schema}, nil, &complaint, &complaint); code != exitUsage || !strings.Contains(complaint.String(), "keep one") {
		t.Errorf("user and token together: exit code %d, %s", code, complaint.String())
	}
}

// TestRefusalsAreReadable reads entries as this registry and others write them.
func TestRefusalsAreReadable(t *testing.T) {
	t.Parallel()
	got := readable([]string{
		`{errorType:'READER_FIELD', description:'The field 'n' at path '/fields/1' is new (rule)', additionalInfo:'n'}`,
		`{errorType:"REQUIRED", description:"it's required at '#/a'"}`,
		`{oldSchemaVersion: 3}`, `{oldSchema: '{"type":"int"}'}`, `{validateFields: 'false', compatibility: 'FULL'}`,
		`something else`,
	})
	want := []string{
		"READER_FIELD: The field 'n' at path '/fields/1' is new (rule)", "REQUIRED: it's required at '#/a'", "something else",
		"compared with version 3 at level FULL",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for text, want := range map[string]string{"a/b.avsc": "a/b.avsc", "registry::.c:s": "registry::.c:s", "it's": `'it'\''s'`, "": "''", "a b": "'a b'"} {
		if got := word(text); got != want {
			t.Errorf("word(%q) = %s, want %s", text, got, want)
		}
	}
}
