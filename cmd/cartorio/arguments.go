package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// argument is one of a command's arguments, as its line of use names it.
type argument struct {
	name           string
	optional, many bool
}

// argumentsOf reads the arguments out of a line of use: "validate SCHEMA DATA...",
// "lint [PATH]". Flags and their values are none.
func argumentsOf(use string) (list []argument) {
	_, rest, _ := strings.Cut(use, " ")
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		var one argument
		if rest[0] == '[' {
			one.optional = true
			one.name, rest, _ = strings.Cut(rest[1:], "]")
		} else {
			one.name, rest, _ = strings.Cut(rest, " ")
		}
		if strings.HasPrefix(one.name, "-") {
			if !one.optional { // its value is the next word
				_, rest, _ = strings.Cut(rest, " ")
			}
			continue
		}
		one.name, one.many = strings.CutSuffix(one.name, "...")
		one.name = strings.ReplaceAll(one.name, " | ", " or ")
		list = append(list, one)
	}
	return list
}

// explainArguments makes every command say in its own words what of its
// arguments is missing or too much.
func explainArguments(root *cobra.Command) {
	for _, cmd := range append(every(root), root) {
		check := cmd.Args
		if check == nil {
			continue // it takes what it is given
		}
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if check(cmd, args) == nil {
				return nil
			}
			return failf(exitUsage, "%s", wrongArguments(cmd, args))
		}
	}
}

// wrongArguments says what is wrong with arguments that a command does not take.
func wrongArguments(cmd *cobra.Command, args []string) string {
	_, arguments, _ := strings.Cut(cmd.Use, " ")
	write := "write " + strings.TrimSpace(cmd.CommandPath()+" "+arguments)
	list := argumentsOf(cmd.Use)
	var missing []string
	for i, one := range list {
		if i >= len(args) && !one.optional {
			missing = append(missing, one.name)
		}
	}
	switch {
	case len(missing) == 1:
		return missing[0] + " is missing: " + write
	case len(missing) > 1:
		return strings.Join(missing, " and ") + " are missing: " + write
	case len(args) > 0 && cmd.HasAvailableSubCommands():
		text := fmt.Sprintf("%s has no command %q", cmd.CommandPath(), args[0])
		cmd.SuggestionsMinimumDistance = 2
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			slices.Sort(near)
			text += ": did you mean " + strings.Join(near, " or ") + "?"
		}
		return text
	case len(list) == 0:
		return fmt.Sprintf("%s takes no argument, and %q is one: %s", cmd.CommandPath(), strings.Join(args, " "), write)
	}
	return fmt.Sprintf("%q is too much: %s", strings.Join(args[len(list):], " "), write)
}
