package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// spareInputs refuses a command whose output would take the place of a file that
// it reads: one it names, its configuration or its exceptions. Files of a folder
// are known when it was read: see [app.spare].
func (a *app) spareInputs(cmd *cobra.Command, args []string) error {
	a.outputs = nil
	inputs := append([]string{a.config.Name}, args...)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		list := []string{f.Value.String()}
		if many, ok := f.Value.(pflag.SliceValue); ok {
			list = many.GetSlice()
		}
		value, _ := pflag.UnquoteUsage(f)
		switch {
		case f.Name == "output" || f.Name == "out":
			a.outputs = append(a.outputs, list...)
		case f.Name == "format":
			for _, text := range list {
				_, file, _ := strings.Cut(text, "=")
				a.outputs = append(a.outputs, file)
			}
		case value == "FILE" || value == "BASE" || value == "SCHEMA" || value == "BUNDLE" || value == "FOLDER":
			inputs = append(inputs, list...)
		}
	})
	if f := cmd.Flags().Lookup("exceptions"); f != nil {
		if file, err := a.exceptionsFile(f.Value.String()); err == nil { // the command tells errors
			inputs = append(inputs, file)
		}
	}
	declared := func(p string) {
		if p != "" {
			inputs = append(inputs, filepath.Join(filepath.Dir(a.config.Name), filepath.FromSlash(p)))
		}
	}
	for _, one := range a.config.Subjects {
		declared(one.File)
		for _, old := range one.History {
			declared(old.File)
		}
	}
	for _, input := range inputs {
		input, _, _ = strings.Cut(input, "#path=")
		for _, scheme := range []string{bundlePrefix, topicPrefix} {
			input = strings.TrimPrefix(input, scheme)
		}
		if err := a.spareFile(input); err != nil {
			return err
		}
	}
	return nil
}

// spareFile refuses an output that is this file, by whatever name.
func (a *app) spareFile(input string) error {
	if input == "" || input == "-" {
		return nil
	}
	for _, output := range a.outputs {
		if output == "" {
			continue
		}
		to, err := os.Stat(output)
		if err != nil || !to.Mode().IsRegular() {
			continue
		}
		if from, err := os.Stat(input); err == nil && os.SameFile(from, to) {
			return failf(exitUsage, "the output %s is a file that is read here: name another", output)
		}
	}
	return nil
}

// spare refuses outputs that are schemas of a side.
func (a *app) spare(s *side) error {
	if s == nil || !s.isDisk() {
		return nil
	}
	for _, e := range s.folder.Entries {
		if err := a.spareFile(filepath.Join(s.root, filepath.FromSlash(e.Path))); err != nil {
			return err
		}
	}
	return nil
}
