package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// build is what the binary is made of.
type build struct {
	Version string   `json:"version"`
	Commit  string   `json:"commit,omitempty"`
	Go      string   `json:"go"`
	System  string   `json:"system"`
	Modules []module `json:"modules"`
}

type module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

func readBuild() build {
	b := build{Version: version, Commit: commit, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Modules: []module{}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if version == "dev" && strings.HasPrefix(info.Main.Version, "v") {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && commit == "" {
			b.Commit = s.Value
		}
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Modules = append(b.Modules, module{m.Path, m.Version})
	}
	return b
}

func (a *app) versionCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print version, commit, Go and modules",
		Example: "  cartorio version\n  cartorio version --format json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := readBuild()
			switch format {
			case "text":
				return a.write("", func(w io.Writer, _ bool) error { return b.print(w) })
			case "json":
				return a.write("", func(w io.Writer, _ bool) error { return writeJSON(w, b) })
			}
			return failf(exitUsage, "--format %q is neither text nor json", format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	oneOf(cmd, "format", "text", "json")
	return cmd
}

func (b build) print(w io.Writer) error {
	var t strings.Builder
	fmt.Fprintf(&t, "cartorio %s\n", b.Version)
	if b.Commit != "" {
		fmt.Fprintf(&t, "commit   %s\n", b.Commit)
	}
	fmt.Fprintf(&t, "go       %s %s\n", b.Go, b.System)
	for _, m := range b.Modules {
		fmt.Fprintf(&t, "module   %s %s\n", m.Path, m.Version)
	}
	_, err := io.WriteString(w, t.String())
	return err
}
