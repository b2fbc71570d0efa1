package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitfs"
	"github.com/cartorio-registry/cartorio/schemas"
)

// diagnosis is what doctor found.
type diagnosis struct {
	Tool     string    `json:"tool"`
	File     string    `json:"file"` // of the configuration; empty for none
	Settings []setting `json:"settings"`
	Checks   []finding `json:"checks"`
}

// setting is one value and who said it.
type setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from"`
}

// finding is one thing that was looked at: ok, note or fault, and what to do.
type finding struct {
	What   string `json:"what"`
	At     string `json:"at,omitempty"` // the queue or topic, where it is about one
	Result string `json:"result"`       // ok, note or fault
	Text   string `json:"text"`
	Fix    string `json:"fix,omitempty"`
	code   int    // exit code of a fault
}

func (a *app) doctorCommand() *cobra.Command {
	var registry, format, environment, against string
	var all bool
	var timeout time.Duration
	var broker brokerLook
	cmd := &cobra.Command{
		Use:   "doctor [ADDRESS...]",
		Short: "Explain the configuration, try registry and git, or look at queues",
		Long: `Prints every setting that is not a default with who said it (--all: the defaults
too), and looks at what a gate needs: the files of the configuration, git with
enough history for check --against, the registry and what this caller may do there.
Secrets are told to be there, never shown. Nothing is changed.

` + brokerLookHelp + `

Exits 0 when nothing is wrong, 2 for a fault of files or git and for a queue, topic
or group that is not there, 4 when the registry or the broker that was named does not
answer, 5 when it refuses the caller. Of several faults the highest counts. Advice is
a note and exits 0.

` + brokerHelp + `

` + remoteHelp,
		Example: `  cartorio doctor
  cartorio doctor --all --format json
  cartorio doctor amqp://localhost#orders --management http://localhost:15672 --dead-letter amqp://localhost#orders.dlq
  cartorio doctor kafka://localhost:9092/orders --group billing`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return failf(exitUsage, "--format %q is neither text nor json", format)
			}
			broker.queues = args
			if err := broker.check(); err != nil {
				return err
			}
			named := explicit(cmd, "registry") || cmd.Flags().Lookup("registry").Changed
			if u, err := a.environment(environment); err != nil {
				return err
			} else if u != "" && !explicit(cmd, "registry") {
				registry, named = u, true
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			d := diagnosis{Tool: "cartorio " + readBuild().Version, File: filepath.ToSlash(a.config.Name), Settings: []setting{}, Checks: []finding{}}
			if broker.isAsked() {
				if err := a.lookAtBrokers(ctx, &d, &broker); err != nil {
					return err
				}
				return a.tellDiagnosis(d, format)
			}
			if err := a.origins(cmd.Root(), cmd, &d, all); err != nil {
				return err
			}
			a.lookAtFiles(&d, environment)
			a.lookAtGit(ctx, &d, orWord(against, a.againstOf(&d)))
			a.lookAtRegistry(ctx, &d, registry, named)
			return a.tellDiagnosis(d, format)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "show the settings that nobody changed too")
	f.StringVar(&format, "format", "text", "text or json")
	f.StringVar(&environment, "environment", "", "`NAME` of an environment of cartorio.yaml")
	f.StringVar(&against, "against", "", "git `BASE` to look for (default: that of check)")
	f.DurationVar(&timeout, "timeout", 30*time.Second, "how long to wait for registry and brokers")
	keyed(cmd, "all", "doctor.all", "CARTORIO_DOCTOR_ALL")
	broker.flags(cmd)
	remoteFlags(cmd, &registry)
	oneOf(cmd, "format", "text", "json")
	return cmd
}

// origins lists the settings of every command, each key once.
func (a *app) origins(root, self *cobra.Command, d *diagnosis, all bool) error {
	file, values, err := a.configured(root, self)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			key := keyOf(cmd, f)
			if key == "" || seen[key] || cmd == self && key != "registry.url" {
				return
			}
			seen[key] = true
			s := setting{Key: key, Value: f.DefValue, From: "default"}
			if node, ok := values[key]; ok {
				s.From = fmt.Sprintf("%s, line %d", filepath.ToSlash(file), node.Line)
				if list, err := scalars(f, node); err == nil {
					s.Value = strings.Join(list, ",")
				}
			}
			if text := os.Getenv(variable(f)); text != "" {
				s.Value, s.From = text, variable(f)
			}
			if s.From != "default" || all {
				s.Value = withoutSecrets(s.Value)
				d.Settings = append(d.Settings, s)
			}
		})
	}
	a.sections(d, file, seen)
	names := append([]string{}, credentials...)
	for _, n := range []string{a.config.Auth.User, a.config.Auth.Password, a.config.Auth.Token} {
		if n != "" {
			names = append(names, n)
		}
	}
	for _, name := range names {
		if os.Getenv(name) != "" {
			d.Settings = append(d.Settings, setting{Key: name, Value: "(set, not shown)", From: "environment"})
		}
	}
	return nil
}

// sections lists what the file says that no flag stands for, value by value.
func (a *app) sections(d *diagnosis, file string, known map[string]bool) {
	text, err := os.ReadFile(file)
	var doc yaml.Node
	if err != nil || yaml.Unmarshal(text, &doc) != nil || doc.Kind == 0 {
		return // there is none; one that is wrong was refused before
	}
	var walk func(key string, n *yaml.Node)
	walk = func(key string, n *yaml.Node) {
		switch {
		case known[key] || n.Tag == "!!null":
		case n.Kind == yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(strings.TrimPrefix(key+"."+n.Content[i].Value, "."), n.Content[i+1])
			}
		case n.Kind == yaml.SequenceNode:
			for i, item := range n.Content {
				walk(fmt.Sprintf("%s[%d]", key, i), item)
			}
		default:
			d.Settings = append(d.Settings, setting{Key: key, Value: withoutSecrets(n.Value), From: fmt.Sprintf("%s, line %d", filepath.ToSlash(file), n.Line)})
		}
	}
	walk("", doc.Content[0])
}

// secretParameter is a parameter of an address that should not be shown.
var secretParameter = regexp.MustCompile(`(?i)((?:password|token|secret|key|pwd)[^=&;\s]*=)[^&;\s]+`)

// withoutSecrets hides what an address says of users and passwords.
func withoutSecrets(text string) string {
	parts := strings.Split(text, ",")
	for i, p := range parts {
		if u, err := url.Parse(p); err == nil && u.User != nil {
			u.User = url.User("hidden")
			p = u.String()
		} else if at := strings.LastIndexByte(p, '@'); err != nil && at >= 0 && strings.Contains(p, "://") {
			p = p[:strings.Index(p, "://")+3] + "hidden" + p[at:]
		}
		parts[i] = secretParameter.ReplaceAllString(p, "${1}hidden")
	}
	return strings.Join(parts, ",")
}

func (d *diagnosis) add(what, result, text, fix string, code int) {
	d.Checks = append(d.Checks, finding{What: what, Result: result, Text: withoutSecrets(text), Fix: fix, code: code})
}

func (a *app) againstOf(d *diagnosis) string {
	for _, s := range d.Settings {
		if s.Key == "check.against" {
			return s.Value
		}
	}
	return ""
}

func (a *app) lookAtFiles(d *diagnosis, environment string) {
	cfg := a.config
	if cfg.Name == "" {
		d.add("configuration", "note", "there is no cartorio.yaml from here to the repository's root: every setting is a default", "cartorio init writes one", 0)
	} else {
		d.add("configuration", "ok", fmt.Sprintf("%s: %s declared", filepath.ToSlash(cfg.Name), plural(len(cfg.Subjects), "subject", "subjects")), "", 0)
	}
	for _, s := range cfg.Subjects {
		if s.File == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(cfg.Name), filepath.FromSlash(s.File))); err != nil {
			d.add("configuration", "fault", fmt.Sprintf("%s, line %d: %s is declared and not there", filepath.ToSlash(cfg.Name), s.Line, s.File), "correct the path, or take the subject out", exitNotCompared)
		}
	}
	file, err := a.exceptionsFile("")
	if err != nil || file == "" {
		d.add("exceptions", "ok", "there is no "+filepath.ToSlash(a.exceptionsPlace()), "", 0)
		return
	}
	list, err := a.loadExceptions(file)
	if err != nil {
		d.add("exceptions", "fault", err.Error(), "correct the lines, or write them with cartorio except", exitNotCompared)
		return
	}
	ended, elsewhere := 0, 0
	g := gate{app: a, c: checking{environment: environment}}
	for _, e := range list {
		switch {
		case g.ended(e):
			ended++
			d.add("exceptions", "note", fmt.Sprintf("%s: for %s, ended on %s", e.Source, orWord(e.Rule, e.Fingerprint), e.Until.UTC().Format(time.DateOnly)), "mend the schema, or extend it", 0)
		case !g.counts(e):
			elsewhere++
		}
	}
	d.add("exceptions", "ok", fmt.Sprintf("%s: %d in force, %d ended, %d of other environments", filepath.ToSlash(file), len(list)-ended-elsewhere, ended, elsewhere), "", 0)
}

func (a *app) lookAtGit(ctx context.Context, d *diagnosis, against string) {
	if repositoryRoot("") == "" {
		result, code := "note", 0
		if gitfs.Is(against) {
			result, code = "fault", exitNotCompared
		}
		d.add("git", result, "this folder is in no repository: only folders, archives and registries can be compared with", "", code)
		return
	}
	repository, err := gitfs.Find(ctx, "")
	if err != nil {
		d.add("git", "fault", err.Error(), "", exitNotCompared)
		return
	}
	s := repository.State(ctx)
	text := fmt.Sprintf("git %s, %s in the history of HEAD", s.Version, plural(s.Commits, "commit", "commits"))
	if s.Branch != "" {
		text += ", on " + s.Branch
	}
	if s.Shallow {
		d.add("git", "note", text+": the clone is shallow", "where a base is missing, fetch the whole history: in GitHub Actions fetch-depth: 0, in GitLab GIT_DEPTH: 0", 0)
	} else {
		d.add("git", "ok", text, "", 0)
	}
	if !gitfs.Is(against) {
		if s.Default == "" {
			return
		}
		against = "git:merge-base(" + s.Default + ")"
	}
	spec, err := gitfs.Parse(against)
	if err != nil {
		d.add("base", "fault", err.Error(), "", exitUsage)
		return
	}
	commit, err := repository.Commit(ctx, spec, "HEAD")
	if err != nil {
		d.add("base", "fault", err.Error(), "", exitNotCompared)
		return
	}
	d.add("base", "ok", fmt.Sprintf("%s is commit %s", against, commit[:12]), "", 0)
}

func (a *app) lookAtRegistry(ctx context.Context, d *diagnosis, address string, named bool) {
	client, err := dial(address, a.config.Auth)
	if err != nil {
		d.add("registry", "fault", err.Error(), "", exitUsage)
		return
	}
	defer client.Close()
	began := time.Now()
	_, err = client.Subjects(ctx, "", sr.LiveOnly, sr.Page{Limit: 1})
	switch code := codeOf(err); {
	case err == nil:
	case code == exitRefused:
		d.add("registry", "fault", address+" refuses this caller: "+err.Error(), "set "+credentials[0]+" and "+credentials[1]+", or "+credentials[2], code)
		return
	case !named:
		d.add("registry", "note", "none is named, and none answers at "+address, "set registry.url or CARTORIO_REGISTRY_URL where one is used", 0)
		return
	default:
		d.add("registry", "fault", address+": "+err.Error(), "check the address and whether the registry runs: cartorio health "+withoutSecrets(address), exitUnreachable)
		return
	}
	d.add("registry", "ok", fmt.Sprintf("%s answers after %d ms", address, time.Since(began).Milliseconds()), "", 0)
	config, err := client.Config(ctx, schemas.Subject{Context: schemas.DefaultContext}, true)
	if err != nil {
		d.add("permissions", "fault", "reading the level: "+err.Error(), "", codeOf(err))
	} else {
		d.add("permissions", "ok", "subjects and levels can be read; the level of all is "+orWord(config.Level, "not set"), "", 0)
	}
	mode, err := client.Mode(ctx, schemas.Subject{Context: schemas.DefaultContext}, true)
	switch {
	case err != nil:
		d.add("permissions", "note", "reading the mode: "+err.Error(), "", 0)
	case strings.HasPrefix(mode, "READONLY"):
		d.add("permissions", "note", "the registry is in mode "+mode+": nothing can be registered", "", 0)
	default:
		d.add("permissions", "ok", "mode "+mode+"; whether this caller may register is known when it tries", "", 0)
	}
}

func (a *app) tellDiagnosis(d diagnosis, format string) error {
	code := 0
	for _, c := range d.Checks {
		if c.Result == "fault" {
			code = max(code, c.code)
		}
	}
	if err := a.write("", func(w io.Writer, colours bool) error {
		if format == "json" {
			return writeJSON(w, d)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n", d.Tool)
		for _, s := range d.Settings {
			fmt.Fprintf(&b, "%-28s %s  %s\n", s.Key, plain(s.Value), paint(colours, dim, "from "+plain(s.From)))
		}
		for _, c := range d.Checks {
			colour := map[string]string{"ok": green, "note": yellow, "fault": red}[c.Result]
			about := c.What
			if c.At != "" {
				about += ": " + plain(c.At)
			}
			fmt.Fprintf(&b, "%s: %s: %s\n", paint(colours, colour, c.Result), about, plain(c.Text))
			if c.Fix != "" {
				fmt.Fprintf(&b, "    %s\n", plain(c.Fix))
			}
		}
		_, err := io.WriteString(w, b.String())
		return err
	}); err != nil {
		return err
	}
	if code != 0 {
		return fail(code, nil)
	}
	return nil
}
