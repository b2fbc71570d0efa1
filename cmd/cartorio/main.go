// Command cartorio is a schema registry and compatibility checker for Avro,
// Protobuf and JSON Schema: one binary, one file per command.
//
// It wires the rooms together and holds no rule of its own: folders are read by
// schemas/folder, comparisons made by compat, the registry is registry behind
// api, and registries are asked through clients/sr.
//
// Start with [run].
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
)

// version and commit are set by the linker: see the Makefile and
// scripts/release.sh. Where commit is not, the build may know it from git.
var (
	version = "dev"
	commit  string
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// The exit codes; see `cartorio help exit-codes`.
const (
	exitOK          = 0
	exitFindings    = 1
	exitNotCompared = 2
	exitPending     = 3
	exitUnreachable = 4
	exitRefused     = 5
	exitUsage       = 64
	exitDefect      = 70
)

// failure is an error that knows its exit code. A nil Err says nothing more:
// the command has printed what there is to say.
type failure struct {
	code int
	err  error
	see  string // what to read about it, if not the command's own help
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit code %d", f.code)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

func fail(code int, err error) error { return &failure{code: code, err: err} }

func failf(code int, format string, args ...any) error {
	return &failure{code: code, err: fmt.Errorf(format, args...)}
}

// wrongSetting is a failure of the environment or the configuration file.
func wrongSetting(format string, args ...any) error {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...), see: "cartorio help settings"}
}

// app is what every command works with.
type app struct {
	in       io.Reader
	out, err io.Writer
	config   config.File // what the file says beside the settings
	// now is the clock, for what ends on a day.
	now func() time.Time
	// outputs are the files that the command will write.
	outputs []string
}

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, in io.Reader, out, complain io.Writer) (code int) {
	a := &app{in: in, out: out, err: complain, now: time.Now}
	defer func() {
		if p := recover(); p != nil {
			code = a.defect(p, debug.Stack())
		}
	}()
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	var f *failure
	if errors.As(err, &f) {
		if f.err != nil {
			a.say("%v", f.err)
		}
		if f.code == exitUsage {
			a.say("see: %s", orWord(f.see, cmd.CommandPath()+" --help"))
		}
		return f.code
	}
	// What is not ours is cobra's, and cobra complains of usage only.
	a.say("%v", err)
	a.say("see: %s --help", cmd.CommandPath())
	return exitUsage
}

// say tells a person something on stderr, one line each.
func (a *app) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for line := range strings.Lines(text) {
		_, _ = fmt.Fprintf(a.err, "cartorio: %s\n", plain(strings.TrimSuffix(line, "\n")))
	}
}

// defect reports a panic: an id for people, the text only when asked.
func (a *app) defect(p any, stack []byte) int {
	var id [6]byte
	_, _ = rand.Read(id[:])
	report := hex.EncodeToString(id[:])
	a.say("this is a defect in cartorio, report %s (version %s): run it again with CARTORIO_DEBUG=1 and report what it prints", report, version)
	if os.Getenv("CARTORIO_DEBUG") != "" {
		_, _ = fmt.Fprintf(a.err, "cartorio: report %s: %v\n%s", report, p, stack)
	}
	return exitDefect
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "cartorio",
		Short: "Schema registry and compatibility checker for Avro, Protobuf and JSON Schema",
		Long: `Cartório keeps schemas, says which changes break readers or writers, and checks
payloads. Comparing and validating need no server and no network.

Flags win over the environment (CARTORIO_…), the environment over cartorio.yaml;
see "cartorio help settings" and "cartorio help exit-codes".`,
		Example: `  cartorio serve
  cartorio check schemas/ --against git:main
  cartorio register schemas/
  cartorio validate user.avsc message.json`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.PersistentFlags().String("config", "", "configuration `FILE` (default: the nearest cartorio.yaml, from here upward to the repository's root)")
	root.AddCommand(a.commands()...)
	root.AddCommand(exitCodesTopic(), settingsTopic(root))
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return plainFlagError(err) })
	refuseUnknownTopics(root)
	explainArguments(root)
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if err := a.settle(root, cmd); err != nil {
			return err
		}
		return a.spareInputs(cmd, args)
	}
	return root
}

// refuseUnknownTopics makes help and completion fail for what they do not know;
// cobra's own answer something else and exit 0.
func refuseUnknownTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Example = "  cartorio help check\n  cartorio help settings"
			help := cmd.Run
			cmd.Run = nil
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				if found, rest, err := root.Find(args); err != nil || found == nil || len(rest) > 0 {
					return failf(exitUsage, "there is no help on %q", strings.Join(args, " "))
				}
				help(cmd, args)
				return nil
			}
		case "completion":
			cmd.Example = "  cartorio completion bash > /etc/bash_completion.d/cartorio"
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.applyCommand(), a.canDeployCommand(), a.dumpCommand(), a.planCommand(),
		a.changelogCommand(), a.deriveCommand(), a.fmtCommand(), a.lintCommand(), a.testCommand(),
		a.adviseCommand(), a.bridgeCommand(), a.bundleCommand(), a.checkCommand(), a.consumersCommand(), a.diffCommand(), a.dlqCommand(), a.doctorCommand(), a.exceptCommand(), a.explainCommand(), a.healthCommand(), a.initCommand(), a.inspectCommand(), a.registerCommand(), a.rulesCommand(),
		a.serveCommand(), a.validateCommand(), a.versionCommand(), a.windowCommand(),
		a.backupCommand(), a.exportCommand(), a.importCommand(), a.migrateCommand(), a.restoreCommand(),
	}
}

// exitCodesTopic is a help text, not a command that does anything.
func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `0   nothing at or above --fail-on; payloads valid; all registered
1   findings: something breaks, a payload is invalid, a registration was refused
    as incompatible
2   could not look: a file that does not parse, an unknown schema language, an
    unresolved reference, a missing ref, folder or database, a declared file
    or a queue that is not there, a pattern without match, a head or base without
    any schema, a recording without messages, an address that cannot be listened on.
    2 wins over 1. Prune without a scope, a plan that the registry has moved away
    from, a deployment of which nobody can tell
3   plan --detailed-exitcode: there is something to apply; dlq list: more letters
    than the threshold
4   registry or broker unreachable, timed out or failing
5   registry or broker refused the caller, or the registry is read-only
64  wrong usage
70  defect in cartorio: it prints a report id`,
	}
}
