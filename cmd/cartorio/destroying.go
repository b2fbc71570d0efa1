package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// destroying are the flags that let a command delete or overwrite, or choose what it
// deletes, by command. A variable is set once for many commands, and may be meant
// for another one: these are never read from the environment.
var destroying = map[string][]string{
	"cartorio apply":      {"yes", "prune", "max-deletes"},
	"cartorio dlq drop":   {"all", "id", "reason", "subject", "version", "older-than", "newer-than"},
	"cartorio dlq replay": {"force", "skip-validation"},
	"cartorio dump":       {"force"},
	"cartorio except":     {"remove"},
	"cartorio init":       {"force"},
	"cartorio lint":       {"fix"},
	"cartorio plan":       {"prune"},
	"cartorio restore":    {"replace"},
}

func destroys(cmd *cobra.Command, f *pflag.Flag) bool {
	return slices.Contains(destroying[cmd.CommandPath()], f.Name)
}

// shownVariable is the variable of a flag for people, "-" where none is read.
func shownVariable(cmd *cobra.Command, f *pflag.Flag) string {
	if destroys(cmd, f) {
		return "-"
	}
	return variable(f)
}
