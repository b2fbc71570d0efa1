package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
)

const (
	configName = "cartorio.yaml"
	// mostConfig bounds the configuration file, in bytes.
	mostConfig = 1 << 20
	keyNote    = "cartorio/key"
	envNote    = "cartorio/env"
)

// keyed gives a flag another key of the file, or another variable, than its
// name makes ("--base-path" of serve: serve.basePath, CARTORIO_BASE_PATH).
func keyed(cmd *cobra.Command, flag, key, env string) {
	f := cmd.Flags().Lookup(flag)
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	if key != "" {
		f.Annotations[keyNote] = []string{key}
	}
	if env != "" {
		f.Annotations[envNote] = []string{env}
	}
}

// variable is the environment variable of a flag.
func variable(f *pflag.Flag) string {
	if n := f.Annotations[envNote]; n != nil {
		return n[0]
	}
	return "CARTORIO_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// keyOf is the key of a flag in the file, dotted; empty for the flags that only
// say how to be asked.
func keyOf(cmd *cobra.Command, f *pflag.Flag) string {
	if f.Name == "help" || f.Name == "config" {
		return ""
	}
	if n := f.Annotations[keyNote]; n != nil {
		return n[0]
	}
	return keyBelow(cmd.Name(), f.Name)
}

// keyBelow is the key of a flag below that of its command: migrate.dryRun.
func keyBelow(command, flag string) string {
	words := strings.Split(flag, "-")
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return command + "." + strings.Join(words, "")
}

// settle fills the flags that were not given from the environment and the file.
func (a *app) settle(root, cmd *cobra.Command) error {
	if helps(cmd) {
		return nil
	}
	a.tellUnknown(root)
	file, values, err := a.configured(root, cmd)
	if err != nil {
		if cmd.Name() != "version" {
			return err
		}
		a.say("%v", err) // what this binary is must be known whatever the file holds
	}
	return a.fill(cmd, file, values)
}

// fill gives the flags of a command what the environment, or else the values of
// a configuration file, say of them.
func (a *app) fill(cmd *cobra.Command, file string, values map[string]*yaml.Node) (wrong error) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		key := keyOf(cmd, f)
		if wrong != nil || f.Changed || key == "" {
			return
		}
		// An empty variable is an unset one: shells and containers cannot tell.
		if text := os.Getenv(variable(f)); text != "" && destroys(cmd, f) {
			a.say("%s does not count for --%s of %s: what deletes or overwrites is said on the command line", variable(f), f.Name, cmd.CommandPath())
		} else if text != "" {
			list := []string{text}
			if _, ok := f.Value.(pflag.SliceValue); ok {
				list = strings.Split(text, ",")
			}
			if err := set(f, list); err != nil {
				wrong = wrongSetting("reading %s: %w", variable(f), err)
			}
			says(f, variable(f))
			return
		}
		if node, ok := values[key]; ok {
			list, err := scalars(f, node)
			if err == nil {
				err = set(f, seenFrom(filepath.Dir(file), f.Name, list))
			}
			if err != nil {
				wrong = wrongSetting("reading %s, line %d: %s: %w", file, node.Line, key, err)
			}
			says(f, fmt.Sprintf("%s, line %d: %s", file, node.Line, key))
		}
	})
	return wrong
}

// configured finds and reads the configuration file, if there is one.
func (a *app) configured(root, cmd *cobra.Command) (file string, values map[string]*yaml.Node, err error) {
	if file, err = configFile(cmd); err != nil || file == "" {
		return "", nil, err
	}
	values, err = a.load(root, file)
	return file, values, err
}

// helps tells the commands that must answer whatever the configuration holds.
func helps(cmd *cobra.Command) bool {
	if !cmd.HasParent() {
		return true // cartorio alone prints its help
	}
	for c := cmd; c != nil; c = c.Parent() {
		if c.Name() == "help" || c.Name() == "completion" || strings.HasPrefix(c.Name(), cobra.ShellCompRequestCmd) {
			return true
		}
	}
	return false
}

// oneOf makes a shell complete a flag with its values.
func oneOf(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag is not there: every run would show it
	}
}

func set(f *pflag.Flag, list []string) error {
	f.Changed = true
	if s, ok := f.Value.(pflag.SliceValue); ok {
		return s.Replace(list)
	}
	if err := f.Value.Set(list[0]); err != nil {
		return unreadable(f, list[0], err)
	}
	return nil
}

func scalars(f *pflag.Flag, node *yaml.Node) ([]string, error) {
	_, many := f.Value.(pflag.SliceValue)
	switch {
	case node.Kind == yaml.ScalarNode:
		return []string{node.Value}, nil
	case node.Kind == yaml.SequenceNode && many:
		var list []string
		for _, item := range node.Content {
			if item.Kind != yaml.ScalarNode {
				return nil, errors.New("a list of texts is expected")
			}
			list = append(list, item.Value)
		}
		return list, nil
	case many:
		return nil, errors.New("a text or a list of texts is expected")
	}
	return nil, errors.New("one value is expected")
}

// configFile finds the file: named, or the nearest. The search ends at the
// repository's root, so that nothing above it is obeyed.
func configFile(cmd *cobra.Command) (string, error) {
	named, _ := cmd.Flags().GetString("config")
	if named == "" {
		named = os.Getenv("CARTORIO_CONFIG")
	}
	if named != "" {
		if _, err := os.Stat(named); err != nil {
			return "", wrongSetting("reading the configuration %s: %w", named, bare(err))
		}
		return named, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", nil //nolint:nilerr // a folder that is gone has no configuration
	}
	here := dir
	for {
		if _, err := os.Stat(filepath.Join(dir, configName)); err == nil {
			if near, err := filepath.Rel(here, filepath.Join(dir, configName)); err == nil {
				return near, nil
			}
			return filepath.Join(dir, configName), nil
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || filepath.Dir(dir) == dir {
			return "", nil
		}
		dir = filepath.Dir(dir)
	}
}

// load reads the file and answers its values by dotted key. Every key must be
// one that some command knows.
func (a *app) load(root *cobra.Command, file string) (map[string]*yaml.Node, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, wrongSetting("reading the configuration %s: %w", file, bare(err))
	}
	if info.Size() > mostConfig {
		return nil, wrongSetting("reading %s: it has %d bytes, more than %d", file, info.Size(), mostConfig)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, wrongSetting("reading the configuration %s: %w", file, bare(err))
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		hint := ""
		if strings.Contains(err.Error(), "mapping values are not allowed") {
			hint = `: a value that ends in a colon, or has one before a space, needs quotes, as "sqlite::memory:" does`
		}
		return nil, wrongSetting("reading %s: %s%s", file, strings.TrimPrefix(err.Error(), "yaml: "), hint)
	}
	if doc.Kind == 0 {
		return nil, nil
	}
	c := configuration{file: file, known: knownKeys(root), values: map[string]*yaml.Node{}, rest: config.NewReader(filepath.ToSlash(file))}
	c.walk("", doc.Content[0])
	for _, f := range c.rest.Faults {
		c.wrong = append(c.wrong, wrongLine{f.Line, f.Text})
	}
	if len(c.wrong) > 0 {
		slices.SortStableFunc(c.wrong, func(a, b wrongLine) int { return a.line - b.line })
		var lines []string
		for _, w := range c.wrong {
			lines = append(lines, fmt.Sprintf("reading %s, line %d: %s", file, w.line, w.text))
		}
		return nil, wrongSetting("%s", strings.Join(lines, "\n"))
	}
	a.config = c.rest.File
	return c.values, nil
}

// knownKeys are the keys of every command's flags.
func knownKeys(root *cobra.Command) []string {
	var keys []string
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if k := keyOf(cmd, f); k != "" {
				keys = append(keys, k)
			}
		})
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// configuration is a file in the making: the values of flags, and the rest.
type configuration struct {
	file   string
	known  []string
	values map[string]*yaml.Node
	rest   *config.Reader
	wrong  []wrongLine
}

type wrongLine struct {
	line int
	text string
}

func (c *configuration) complain(node *yaml.Node, format string, args ...any) {
	c.wrong = append(c.wrong, wrongLine{node.Line, fmt.Sprintf(format, args...)})
}

func (c *configuration) walk(prefix string, node *yaml.Node) {
	if node.Kind == yaml.AliasNode {
		c.complain(node, "aliases are not understood: write the value")
		return
	}
	if node.Kind != yaml.MappingNode {
		c.complain(node, "%s holds no keys", orWord(strings.TrimSuffix(prefix, "."), "the file"))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		key := prefix + name.Value
		switch {
		case seen[key]:
			c.complain(name, "%s stands there twice", key)
		case key == "version":
			if value.Value != "1" {
				c.complain(value, "version %q is unknown: this cartorio reads version 1", value.Value)
			}
		case slices.Contains(c.known, key):
			c.values[key] = value
		case c.rest != nil && c.rest.Take(key, value):
		case slices.ContainsFunc(c.known, func(k string) bool { return strings.HasPrefix(k, key+".") }):
			if value.Tag != "!!null" {
				c.walk(key+".", value)
			}
		default:
			c.complain(name, "%s is not known%s", key, c.near(key))
		}
		seen[key] = true
	}
}

// near names the keys of the same section.
func (c *configuration) near(key string) string {
	section := key[:strings.LastIndexByte(key, '.')+1]
	var list []string
	for _, k := range append(config.Keys(), c.known...) {
		if rest, ok := strings.CutPrefix(k, section); ok {
			rest, _, _ = strings.Cut(rest, ".")
			if !slices.Contains(list, section+rest) {
				list = append(list, section+rest)
			}
		}
	}
	if section == "" {
		list = append(list, "version")
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return ": there is " + strings.Join(list, ", ")
}

func orWord(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// settingsTopic lists every flag with its variable and key.
func settingsTopic(root *cobra.Command) *cobra.Command {
	topic := &cobra.Command{
		Use:   "settings",
		Short: "Every flag, its environment variable and its key in cartorio.yaml",
	}
	// cobra asks for the text when it prints it; by then all commands are there.
	topic.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		var b strings.Builder
		b.WriteString("A flag wins over the environment, the environment over cartorio.yaml (the nearest,\nfrom the current folder upward to the repository's root, or --config FILE, or\nCARTORIO_CONFIG). Lists are separated by commas in the environment. What\ndeletes or overwrites has no variable (-): it is said on the command line. Paths in the\nfile (database, root, output, against, and those of subjects) are seen from its\nfolder, all others from the current one.\n")
		for _, c := range root.Commands() {
			c.Flags().VisitAll(func(f *pflag.Flag) {
				if key := keyOf(c, f); key != "" {
					fmt.Fprintf(&b, "\n  %-34s %-30s %s", c.Name()+" --"+f.Name, shownVariable(c, f), key)
				}
			})
		}
		b.WriteString("\n\nWith a variable, and no key:\n")
		for _, c := range every(root) {
			c.Flags().VisitAll(func(f *pflag.Flag) {
				if c.Parent() != root && c.Parent().Name() != "completion" {
					fmt.Fprintf(&b, "\n  %-34s %s", strings.TrimPrefix(c.CommandPath(), root.Name()+" ")+" --"+f.Name, shownVariable(c, f))
				}
			})
		}
		b.WriteString("\n\nOnly in the environment:\n")
		for _, v := range []struct{ name, says string }{
			{credentials[0], "name of the user that asks a registry"},
			{credentials[1], "password of that user"},
			{credentials[2], "bearer token, instead of both"},
			{"CARTORIO_FROM_USER, _PASSWORD, _TOKEN", "the same for what migrate reads"},
			{"CARTORIO_TO_USER, _PASSWORD, _TOKEN", "the same for what migrate fills"},
			{"CARTORIO_BROKER_USER, _PASSWORD", "who asks the broker of a dead letter or a message"},
			{"CARTORIO_BROKER_CA, _CERTIFICATE, _KEY", "files for TLS to it: whom to trust, and who asks; PEM"},
			{"CARTORIO_BRIDGE_FROM_USER, _PASSWORD", "who reads at one end of a bridge"},
			{"CARTORIO_BRIDGE_TO_USER, _PASSWORD", "who writes at the other"},
			{"CARTORIO_BRIDGE_FROM_CA, …", "files for TLS to either end, as for CARTORIO_BROKER"},
			{"CARTORIO_DEBUG", "1 prints where a defect arose"},
			{"NO_COLOR", "anything keeps colours away"},
		} {
			fmt.Fprintf(&b, "\n  %-34s %s", v.name, v.says)
		}
		fmt.Fprintf(&b, "\n\nOnly in the file (docs/configuration.md tells of each):\n\n  %s\n", strings.Join(config.Keys(), "\n  "))
		_, _ = fmt.Fprint(cmd.OutOrStdout(), b.String())
	})
	return topic
}
