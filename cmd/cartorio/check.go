package main

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitfs"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/report"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// checking is what check was asked.
type checking struct {
	against, root          string
	level                  string
	policy, verdictPolicy  string
	category               string
	format, output, failOn string
	exitZero, allowEmpty   bool
	registry, subject      string
	chosen                 choices
	include, exclude       []string
	// ownLevel passes over the levels that the configuration gives to subjects;
	// advise asks for advice and repairs beside the findings.
	ownLevel, advise bool
	// formats are FORM or FORM=FILE.
	formats        []string
	allVersions    int
	maxFindings    int
	exceptions     string
	strict         bool
	allowUnchecked bool
	environment    string
	gate           *gate // of the command that judges; nil for the others
	explicit       choices
	failOnSaid     bool
	older          []older
	replay         replaying
	ran            *replay // what became of the messages
	impact         bool
	consumers      []compat.Impact
	unread         []string // what is not known of consumers
}

func (a *app) checkCommand() *cobra.Command {
	var c checking
	cmd := &cobra.Command{
		Use:   "check [HEAD] --against BASE",
		Short: "Say which changes between two sets of schemas break readers or writers",
		Long: `Compares the schemas of HEAD (default: the current folder) with those of BASE.
Each may be a folder, a file, an archive (.tar.gz, .tgz, .tar, .zip, "-" for one
on stdin), or a git ref: git:REF, git:merge-base(REF), git:tags(PATTERN) for the
highest tag behind HEAD. Archives and refs may have #path=DIR behind them; without
it a ref is read at the path of HEAD. Nothing is checked out or fetched.

BASE may also be a registry: registry:SUBJECT or registry:SUBJECT@VERSION for one
schema, registry: for all, each under the subject that registering would give it.
Then level and policies are the registry's unless they are given, every version
that the level asks for is compared, and the registry is asked as well; when it
answers otherwise, that is told. No other form asks the network for anything,
unless --impact does: it asks who reads what changed. Against a registry that is
told always.
bundle:FILE is the same from a bundle, without a registry and its levels. As HEAD
it is the newest version that it has of each subject, paired by subject.

Files are paired by declared subject, else by path, else by full name, else by
text. A new schema is a note, a removed one a risk, and a break where a registry that
is asked has versions of it or knows who reads it: with --impact, and against
registry: for the subjects of the scope in cartorio.yaml. What could not be compared is
never called compatible: it exits 2; so does a BASE that is not there or holds no
schema, unless HEAD's history added it or --allow-empty-base says so. See
"cartorio help exit-codes".

With --category Protobuf schemas are judged by one of buf's rule sets instead of
level and policies: it has no direction, and what happens to data is told beside.

A PATTERN is a file, a folder or a glob with * and **, seen from HEAD.`,
		Example: `  cartorio check schemas/ --against git:main
  cartorio check --against 'git:merge-base(origin/main)' --format json
  cartorio check new.avsc --against old.avsc --level FULL
  cartorio check order.avsc --against registry:orders-value
  cartorio check proto/ --against git:main --category WIRE_JSON
  cartorio check --against 'git:tags(v*)' --format text --format sarif=check.sarif
  cartorio check order.avsc --against git:main --messages recorded.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			head := "."
			if len(args) == 1 {
				head = args[0]
			}
			f := cmd.Flags()
			for _, name := range []string{"encoding", "framing", "message"} {
				if explicit(cmd, name) && len(c.replay.messages) == 0 {
					return failf(exitUsage, "--%s is of the messages that --messages names, and none are named", name)
				}
			}
			c.chosen = choices{f.Changed("level"), f.Changed("policy"), f.Changed("verdict-policy"), f.Changed("category")}
			c.explicit = choices{explicit(cmd, "level"), explicit(cmd, "policy"), explicit(cmd, "verdict-policy"), explicit(cmd, "category")}
			c.failOnSaid = explicit(cmd, "fail-on")
			c.defaults(a.config.Defaults)
			if url, err := a.environment(c.environment); err != nil {
				return err
			} else if url != "" && !explicit(cmd, "registry") {
				c.registry = url
			}
			return a.check(cmd.Context(), head, c)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.against, "against", "", "`BASE` to compare with")
	f.StringVar(&c.level, "level", "BACKWARD", "BACKWARD, FORWARD, FULL, each _TRANSITIVE or not, or NONE")
	f.StringVar(&c.policy, "policy", "STRICT", "STRICT or LENIENT: LENIENT loosens JSON Schema's closed models")
	f.StringVar(&c.verdictPolicy, "verdict-policy", "REFERENCE", "REFERENCE (what the reference registry says), SOUND (what happens to data) or BOTH")
	f.StringVar(&c.category, "category", "", "for Protobuf, a rule set of buf instead of a level: FILE, PACKAGE, CSR, WIRE_JSON or WIRE")
	f.StringSliceVar(&c.formats, "format", []string{"text"}, "`FORM` or FORM=FILE, as often as wanted: text, "+strings.Join(report.Names(), ", "))
	f.StringVar(&c.output, "output", "", "write the one FORM without a file of its own to `FILE` instead of stdout")
	f.StringVar(&c.failOn, "fail-on", "breaking", "lowest severity that exits 1: breaking or risk")
	f.BoolVar(&c.exitZero, "exit-zero", false, "exit 0 for findings; never for what could not be compared")
	f.BoolVar(&c.allowEmpty, "allow-empty-base", false, "take a base that does not exist, or holds no schema, as empty")
	f.IntVar(&c.allVersions, "all-versions", 0, "compare with the newest `N` versions of a registry, or the last N changes of a git ref, whatever the level")
	f.IntVar(&c.maxFindings, "max-findings", 0, "show at most `N` findings, and say how many there are; 0 shows all")
	f.StringVar(&c.exceptions, "exceptions", "", "`FILE` of accepted findings (default: cartorio.exceptions.yaml beside cartorio.yaml, or at the repository's root)")
	f.BoolVar(&c.strict, "strict-exceptions", false, "exit 1 when an exception has ended or matches nothing")
	f.BoolVar(&c.allowUnchecked, "allow-unchecked", false, "do not exit 2 for what could not be compared; it is told all the same")
	f.StringVar(&c.environment, "environment", "", "`NAME` of an environment of cartorio.yaml: its registry, and its exceptions")
	f.StringArrayVar(&c.replay.messages, "messages", nil, "run the schemas of HEAD against recorded messages: a `FILE` of JSON lines, a payload, a folder, or - for stdin; no --against is needed then")
	f.StringVar(&c.replay.encoding, "encoding", "", "of the messages: json, binary, hex or base64 (default: as validate)")
	f.StringVar(&c.replay.framing, "framing", "none", "of the messages: none or confluent")
	f.StringVar(&c.replay.message, "message", "", "full `NAME` of the Protobuf message that the messages are")
	f.BoolVar(&c.impact, "impact", false, "ask the registry of --registry or --environment which consumers a change would hurt, and what it has of a removed schema: only that changes the verdict")
	f.StringSliceVar(&c.include, "path", nil, "compare only what matches `PATTERN`")
	f.StringSliceVar(&c.exclude, "exclude-path", nil, "leave out what matches `PATTERN`")
	f.StringVar(&c.root, "root", "", "`FOLDER` in which references are found (default: HEAD, or the folder of a file)")
	f.StringVar(&c.subject, "subject", "", "`TEMPLATE` of subject names, as of register")
	remoteFlags(cmd, &c.registry)
	oneOf(cmd, "level", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE", "NONE")
	oneOf(cmd, "policy", "STRICT", "LENIENT")
	oneOf(cmd, "verdict-policy", "REFERENCE", "SOUND", "BOTH")
	oneOf(cmd, "category", "FILE", "PACKAGE", "CSR", "WIRE_JSON", "WIRE")
	oneOf(cmd, "format", append([]string{"text"}, report.Names()...)...)
	oneOf(cmd, "fail-on", "breaking", "risk")
	return cmd
}

func (a *app) check(ctx context.Context, headArg string, c checking) error {
	q, err := c.question()
	if err != nil {
		return fail(exitUsage, err)
	}
	outputs, err := parseOutputs(c.formats, c.output)
	if err != nil {
		return fail(exitUsage, err)
	}
	if c.against == "" && len(c.replay.messages) == 0 {
		return failf(exitUsage, "--against is missing: name a folder, a file, a git ref such as git:main, or registry:SUBJECT")
	}
	if c.against == "" && c.impact {
		return failf(exitUsage, "--impact is of what --against compares, and nothing is compared")
	}
	g := a.newGate(c)
	if err := g.readExceptions(c.exceptions); err != nil {
		return err
	}
	c.gate = g
	results, err := a.results(ctx, headArg, &c, q)
	if err != nil {
		return err
	}
	g.apply(results)
	doc := documentOf(results)
	if c.ran != nil {
		doc.Replays = c.ran.results()
	}
	doc.Consumers = c.consumers
	remarks := append(c.unread, g.remarks(doc)...)
	for _, text := range remarks {
		a.say("%s", text)
	}
	doc.Remarks = append(replayRemarks(doc.Replays), remarks...)
	if err := a.writeAll(outputs, c, doc, results); err != nil {
		return err
	}
	return g.outcome(doc)
}

// results opens both sides and compares them.
func (a *app) results(ctx context.Context, headArg string, c *checking, q compat.Question) ([]result, error) {
	naming, err := folder.ParseNaming(c.subject)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	// Most of what a file or a pair needs is garbage at once. Memory that is never
	// touched makes the collector wait for as much more of it, which halves its work
	// where the heap is small and changes little where it is large.
	floor := make([]byte, collectorFloor)
	defer runtime.KeepAlive(floor)
	r := reading{root: c.root, naming: naming, include: c.include, exclude: c.exclude, declared: a.declared(), gate: !c.ownLevel, in: a.in}
	head, err := openHead(ctx, headArg, r)
	if err != nil {
		return nil, err
	}
	defer head.close()
	var base *side
	if c.against != "" && !isPast(c.against) {
		if base, err = openBase(ctx, *c, head, r); err != nil {
			return nil, err
		}
		defer base.close()
		if c.allVersions > 0 {
			if err := c.goBack(ctx, head, base, r); err != nil {
				return nil, err
			}
			for _, o := range c.older {
				defer o.side.close()
			}
		}
	}
	if err := unmatched(head, base); err != nil {
		return nil, err
	}
	for _, s := range []*side{head, base} {
		if err := a.spare(s); err != nil {
			return nil, err
		}
	}
	a.count(head)
	a.sayLikely(head)
	if base != nil {
		a.count(base)
	}
	if head.folder.Selected() == 0 {
		return nil, failf(exitNotCompared, "%s holds no schema to compare: nothing was checked%s", head.label, head.jsonHint())
	}
	if base != nil {
		if err := base.mayBeEmpty(ctx, *c, head); err != nil {
			return nil, err
		}
	}
	if err := head.declaredAbsent(); err != nil {
		return nil, err
	}
	if c.gate != nil {
		c.gate.readBefore(ctx, base)
	}
	var h *history
	if isPast(c.against) {
		if h, err = a.newHistory(ctx, c.against, c.registry, head, q, c.chosen, a.comparing(*c, head)); err != nil {
			return nil, err
		}
		if h.client != nil {
			defer h.client.Close()
		}
		h.allowEmpty, h.gate = c.allowEmpty, c.gate
		if c.gate != nil && len(c.include)+len(c.exclude) == 0 {
			h.rest = func(ctx context.Context, dir string) (*side, error) {
				r.root = ""
				return openDisk(ctx, dir, r)
			}
		}
	}
	if err := a.runMessages(ctx, c, head, base, h); err != nil || c.against == "" {
		return nil, err
	}
	p := a.startProgress("comparing")
	defer p.stop()
	if h != nil {
		results, err := h.compare(ctx, p)
		c.consumers = h.consumers
		if err == nil && c.impact && h.client == nil { // a bundle knows no readers
			err = a.readersOf(ctx, c, head, results)
		}
		return results, err
	}
	results := compareSides(ctx, head, base, q, a.comparing(*c, head), p)
	if err := ctx.Err(); err != nil {
		return nil, failf(exitNotCompared, "comparing: %w", err)
	}
	if c.impact {
		return results, a.readersOf(ctx, c, head, results)
	}
	return results, nil
}

// runMessages runs the head against what was recorded, where that was asked.
func (a *app) runMessages(ctx context.Context, c *checking, head, base *side, h *history) (err error) {
	if len(c.replay.messages) == 0 {
		return nil
	}
	var past pasts = h
	if h == nil {
		past = newFiles(head, base)
	}
	if c.ran, err = newReplay(ctx, c.replay, head, past); err != nil {
		return err
	}
	return a.messages(c.replay.messages, func(m recorded) error { return c.ran.judge(ctx, m) })
}

// comparing says how the pairs of a run are compared.
func (a *app) comparing(c checking, head *side) comparing {
	how := comparing{advise: c.advise, gate: !c.ownLevel, said: c.explicit, versions: c.allVersions, older: c.older, at: a.now()}
	if c.gate != nil {
		how.exceptions = c.gate.inForce
		c.gate.from = a.declared().from(head.root)
		c.gate.alone = head.file != ""
		how.of, how.leftOut = c.gate.of, c.gate.leftOut
	}
	return how
}

// question reads the choices that hold for every pair.
func (c checking) question() (q compat.Question, err error) {
	if q.Level, err = compat.ParseLevel(c.level); err != nil {
		return q, err
	}
	if q.Policy, err = compat.ParsePolicy(c.policy); err != nil {
		return q, err
	}
	if q.VerdictPolicy, err = compat.ParseVerdictPolicy(c.verdictPolicy); err != nil {
		return q, err
	}
	if q.Category, err = compat.ParseCategory(allCheckers(), c.category); err != nil {
		return q, err
	}
	if c.format != "" && c.format != "text" && c.format != "json" {
		return q, errors.New("--format " + c.format + " is neither text nor json")
	}
	if err := c.replay.check(); c.replay.framing != "" && err != nil {
		return q, err
	}
	if c.allVersions < 0 || c.maxFindings < 0 {
		return q, errors.New("--all-versions and --max-findings take no number below 0")
	}
	if c.failOn != "breaking" && c.failOn != "risk" {
		return q, errors.New("--fail-on " + c.failOn + " is neither breaking nor risk")
	}
	if err := checkPatterns(c.include, c.exclude); err != nil {
		return q, err
	}
	q.Checkers = allCheckers()
	return q, nil
}

func checkPatterns(lists ...[]string) error {
	for _, list := range lists {
		for _, pattern := range list {
			if err := folder.CheckPattern(pattern); err != nil {
				return err
			}
		}
	}
	return nil
}

// openHead opens what is judged.
func openHead(ctx context.Context, arg string, r reading) (*side, error) {
	if strings.HasPrefix(arg, bundlePrefix) {
		return openBundled(ctx, arg, r)
	}
	if isPast(arg) {
		return nil, failf(exitUsage, "%s cannot be the head: what a registry has was judged when it was registered", arg)
	}
	if _, _, ok := archived(arg); ok {
		return openArchive(ctx, arg, nil, r)
	}
	if !gitfs.Is(arg) {
		return openDisk(ctx, arg, r)
	}
	spec, err := gitfs.Parse(arg)
	if err != nil {
		return nil, fail(exitUsage, err)
	}
	return openGit(ctx, spec, nil, false, r)
}

// openBase opens what head is compared with.
func openBase(ctx context.Context, c checking, head *side, r reading) (*side, error) {
	r.head = head
	if gitfs.Is(c.against) {
		spec, err := gitfs.Parse(c.against)
		if err != nil {
			return nil, fail(exitUsage, err)
		}
		return openGit(ctx, spec, head, c.allowEmpty, r)
	}
	if _, _, ok := archived(c.against); ok {
		return openArchive(ctx, c.against, head, r)
	}
	if _, err := os.Stat(c.against); c.allowEmpty && errors.Is(err, os.ErrNotExist) {
		return (&side{label: c.against, prefix: c.against}).empty(ctx)
	}
	r.root = "" // the head's
	s, err := openDisk(ctx, c.against, r)
	if errors.Is(err, os.ErrNotExist) {
		if spec, wrong := gitfs.Parse("git:" + c.against); wrong == nil && isRef(ctx, spec, head.root) {
			return nil, failf(exitNotCompared, "%w: for a git ref write %s", err, spec)
		}
	}
	return s, err
}

// isRef tells whether the repository of a folder has a commit of that name.
func isRef(ctx context.Context, spec gitfs.Spec, dir string) bool {
	repository, err := gitfs.Find(ctx, dir)
	if err != nil {
		return false
	}
	_, err = repository.Commit(ctx, spec, "HEAD")
	return err == nil
}

// unmatched complains of patterns that match on neither side: they are typing
// errors, and would leave a gate open. base is nil for a registry.
func unmatched(head, base *side) error {
	var lost []string
	for _, pattern := range head.folder.Unmatched {
		if base == nil || slices.Contains(base.folder.Unmatched, pattern) || len(base.folder.Entries) == 0 {
			lost = append(lost, pattern)
		}
	}
	if len(lost) > 0 {
		return failf(exitNotCompared, "no schema matches %s", strings.Join(lost, ", "))
	}
	return nil
}

// count tells on stderr what was read and what was not looked at.
func (a *app) count(s *side) {
	parts := []string{plural(len(s.folder.Entries), "schema", "schemas")}
	if n := len(s.folder.Others); n > 0 {
		parts = append(parts, plural(n, "other file", "other files"))
	}
	if n := len(s.folder.Links); n > 0 {
		parts = append(parts, plural(n, "link or submodule not followed", "links or submodules not followed"))
	}
	if n := s.folder.Skipped; n > 0 {
		parts = append(parts, plural(n, "file or folder ignored by git", "files and folders ignored by git"))
	}
	a.say("%s: %s", s.label, strings.Join(parts, ", "))
	for _, p := range s.folder.Unnamed {
		a.say("%s: the name is no UTF-8, and nothing of it was read", s.show(p))
	}
}
