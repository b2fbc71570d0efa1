package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
)

// TestEveryFlagHasAnEnvironmentVariableAndAKey walks the flags: one variable and
// one key belong to one meaning, and every command says how it is used.
func TestEveryFlagHasAnEnvironmentVariableAndAKey(t *testing.T) {
	t.Parallel()
	root := (&app{out: io.Discard, err: io.Discard}).root()
	keys := map[string]string{}
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			name := cmd.Name() + " --" + f.Name
			key, env := keyOf(cmd, f), variable(f)
			if key == "" || strings.ToUpper(env) != env || !strings.HasPrefix(env, "CARTORIO_") {
				t.Errorf("%s: key %q, variable %q", name, key, env)
			}
			if f.Usage == "" {
				t.Errorf("%s is not described", name)
			}
			// Two commands may share a key only by the same flag and variable.
			if other, taken := keys[key]; taken && other != f.Name+" "+env {
				t.Errorf("%s: key %s belongs to %s too", name, key, other)
			}
			keys[key] = f.Name + " " + env
		})
		if isTopic := !cmd.Runnable(); !isTopic && cmd.Example == "" {
			t.Errorf("%s shows no example", cmd.Name())
		}
	}
	for _, key := range config.Keys() {
		if owner, taken := keys[key]; taken {
			t.Errorf("%s is a section of the file and the flag %s", key, owner)
		}
	}
}

// FuzzConfiguration reads any text as a configuration: it is taken or refused
// with a line, never a panic.
func FuzzConfiguration(f *testing.F) {
	for _, seed := range []string{
		"", "version: 1", "serve: {listen: ':1', limits: {text: 1}}", "serve: null", "serve: [1]", "check: {path: [a, {b: c}]}",
		"a: &x [*x]", "subjects: [{name: a, file: b, type: AVRO, level: FULL}, 7]", "? {a: b}\n: c", "- a", "serve.listen: x",
		"<<: {serve: {}}", "version: [1]", "\xff", "subjects: {a: b}", "check: {level: &a x, policy: *a}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), configName)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a := &app{out: io.Discard, err: io.Discard}
		root := a.root()
		var check *cobra.Command
		for _, cmd := range root.Commands() {
			if cmd.Name() == "check" {
				check = cmd
			}
		}
		check.SetContext(context.Background())
		if err := root.PersistentFlags().Set("config", file); err != nil {
			t.Fatal(err)
		}
		if err := check.ParseFlags(nil); err != nil {
			t.Fatal(err)
		}
		err := a.settle(root, check)
		if err == nil {
			return
		}
		if f, ok := err.(*failure); !ok || f.code != exitUsage || !strings.Contains(err.Error(), configName) { //nolint:errorlint // settle returns it bare
			t.Errorf("%q: %v", text, err)
		}
	})
}

func TestOneOfNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("values for a flag that is not there are taken")
		}
	}()
	oneOf(&cobra.Command{}, "nothing", "a")
}

func TestNearestKeysAreNamed(t *testing.T) {
	t.Parallel()
	c := configuration{known: []string{"check.level", "serve.limits.text", "serve.listen"}}
	for key, want := range map[string]string{
		"x": ": there is check, defaults, environments, gate, lint, registry, scope, serve, severity, stability, subjects, version", "serve.x": ": there is serve.limits, serve.listen", "serve.limits.x": ": there is serve.limits.text",
	} {
		if got := c.near(key); got != want {
			t.Errorf("near(%q) = %q, want %q", key, got, want)
		}
	}
}

// TestPathsOfTheFileAreSeenFromItsFolder also keeps what is no path as it is.
func TestPathsOfTheFileAreSeenFromItsFolder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, value, want string }{
		{"database", "sqlite:x.db", "sqlite:up/x.db"},
		{"database", "sqlite:/x.db", "sqlite:/x.db"},
		{"database", "sqlite::memory:", "sqlite::memory:"},
		{"database", "nonsense", "nonsense"},
		{"against", "old", "up/old"},
		{"against", "git:main", "git:main"},
		{"against", "registry:", "registry:"},
		{"root", "../proto", "proto"},
		{"root", "", ""},
		{"listen", "x", "x"},
	} {
		if got := seenFrom("up", c.flag, []string{c.value}); len(got) != 1 || got[0] != c.want {
			t.Errorf("seenFrom(up, %s, %q) = %q, want %q", c.flag, c.value, got, c.want)
		}
	}
}
