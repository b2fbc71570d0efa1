package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitfs"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
)

const fromNote = "cartorio/from"

// says notes where a flag's value was said, for complaints that come later.
func says(f *pflag.Flag, where string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[fromNote] = []string{where}
}

// saidBy is where a flag's value was said: a variable, a line of the file, or the
// flag itself.
func saidBy(cmd *cobra.Command, name string) string {
	if n := cmd.Flags().Lookup(name).Annotations[fromNote]; n != nil {
		return n[0]
	}
	return "--" + name
}

// seenFrom makes the paths that a file names seen from its own folder, so that
// they mean the same wherever the command is called.
func seenFrom(dir, flag string, list []string) []string {
	near := func(p string) string {
		if filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(dir, filepath.FromSlash(p))
	}
	switch flag {
	case "root", "output", "exceptions":
		if list[0] != "" {
			return []string{near(list[0])}
		}
	case "format":
		out := make([]string, len(list))
		for i, text := range list {
			if form, file, ok := strings.Cut(text, "="); ok && file != "" {
				text = form + "=" + near(file)
			}
			out[i] = text
		}
		return out
	case "messages":
		out := make([]string, len(list))
		for i, p := range list {
			if out[i] = p; p != "-" {
				out[i] = near(p)
			}
		}
		return out
	case "against":
		if file, ok := strings.CutPrefix(list[0], bundlePrefix); ok && file != "" {
			return []string{bundlePrefix + near(file)}
		}
		if list[0] != "" && !strings.HasPrefix(list[0], "-") && !gitfs.Is(list[0]) && !strings.HasPrefix(list[0], registryPrefix) {
			return []string{near(list[0])}
		}
	case "database":
		if p, err := databasePath(list[0]); err == nil && p != sqlite.Memory {
			return []string{"sqlite:" + near(p)}
		}
	}
	return list
}

// unreadable says what a flag's value should be, in no word of the library.
func unreadable(f *pflag.Flag, text string, err error) error {
	what := map[string]string{
		"int": "no whole number", "int64": "no whole number", "bool": "neither true nor false", "duration": "no duration such as 30s or 1m30s",
	}[f.Value.Type()]
	switch {
	case errors.Is(err, strconv.ErrRange):
		what = "out of range"
	case what == "":
		return fmt.Errorf("%q: %w", text, err)
	}
	return fmt.Errorf("%q is %s", text, what)
}

// plainFlagError says what is wrong with a flag on the command line.
func plainFlagError(err error) error {
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		f := value.GetFlag()
		return failf(exitUsage, "--%s %w", f.Name, unreadable(f, value.GetValue(), errors.Unwrap(err)))
	}
	return err
}
