package main

import (
	"bytes"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/spf13/pflag"
)

// says of a flag that it lets something be lost.
var loses = regexp.MustCompile(`(?i)\bdeletes?\b|\boverwrit|\bover files\b|\bwrite over\b|^replace\b|^take the entry out|^every letter|without asking|without validating|also send|^mend\b|\bdrop\b`)

// TestNothingIsDestroyedByTheEnvironment walks all commands: a flag that deletes or
// overwrites is one of destroying, and no variable sets one of those.
func TestNothingIsDestroyedByTheEnvironment(t *testing.T) {
	root := (&app{out: io.Discard, err: io.Discard}).root()
	seen := map[string][]string{}
	for _, cmd := range every(root) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if destroys(cmd, f) {
				seen[cmd.CommandPath()] = append(seen[cmd.CommandPath()], f.Name)
			} else if loses.MatchString(f.Usage) && f.Name != "dry-run" {
				t.Errorf("%s --%s (%s) is not among those that the environment does not set", cmd.CommandPath(), f.Name, f.Usage)
			}
		})
	}
	for command, flags := range destroying {
		slices.Sort(seen[command])
		if want := slices.Sorted(slices.Values(flags)); !slices.Equal(seen[command], want) {
			t.Errorf("%s has %v of %v", command, seen[command], want)
		}
	}
	t.Chdir(t.TempDir())
	for _, command := range slices.Sorted(maps.Keys(destroying)) {
		for _, name := range destroying[command] {
			var complaint bytes.Buffer
			a := &app{out: io.Discard, err: &complaint}
			root := a.root()
			for _, cmd := range every(root) {
				if cmd.CommandPath() != command {
					continue
				}
				f := cmd.Flags().Lookup(name)
				t.Setenv(variable(f), "1")
				if err := a.settle(root, cmd); err != nil || f.Changed {
					t.Errorf("%s --%s: set by %s (%v)", command, name, variable(f), err)
				}
				if keyOf(cmd, f) != "" && !bytes.Contains(complaint.Bytes(), []byte(variable(f)+" does not count for --"+name)) {
					t.Errorf("%s --%s: nothing was said: %s", command, name, complaint.String())
				}
				os.Unsetenv(variable(f)) // Setenv puts back what was there
			}
		}
	}
}

// TestKeysAreSpeltAlike holds the keys of flags to one spelling.
func TestKeysAreSpeltAlike(t *testing.T) {
	t.Parallel()
	spelling := regexp.MustCompile(`^[a-z]+(-[a-z]+)*(\.[a-z]+([A-Z0-9][a-z0-9]*)*)+$`)
	root := (&app{out: io.Discard, err: io.Discard}).root()
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if key := keyOf(cmd, f); key != "" && !spelling.MatchString(key) {
				t.Errorf("%s --%s: the key %s is spelt otherwise than migrate.dryRun", cmd.Name(), f.Name, key)
			}
		})
	}
}
