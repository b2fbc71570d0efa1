package main

import (
	"context"
	"errors"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

func allCheckers() []compat.Checker { return checkers.All() }

// result is what became of one pair of files.
type result struct {
	pair   folder.Pairing
	report compat.Report
	// broken is what kept the pair from being compared, and where it stands.
	broken error
	where  string
	// old tells that there was something to compare with, where pair.Old does
	// not: in a registry.
	old bool
	// identity is what fingerprints name the subject by, also another name.
	identity, also string
	from           string // the way to the tree of the head, from where identities begin
	// advice is nil unless it was asked for and both sides are there.
	advice *compat.Advice
	// keyLost tells that only the old schema has the declared partition key,
	// keyUnknown that neither has.
	keyLost, keyUnknown bool
}

// comparing says how pairs are compared.
type comparing struct {
	// of is what the configuration says of a file of the head, or of one that the
	// head had; nil when it says nothing.
	of func(*folder.Entry) config.Subject
	// leftOut tells the files that the configuration does not let the gate see.
	leftOut func(*folder.Entry) bool
	// said are the settings that the command line or the environment gave: they
	// win over those of a subject.
	said       choices
	advise     bool
	gate       bool // for the command that judges, and has its flags
	exceptions []compat.Exception
	at         time.Time
	// versions is how many versions are looked at whatever the level; 0 leaves it
	// to the level.
	versions int
	// older are further bases, newer ones first.
	older []older
	// dependents compares files that changed only in what they refer to; nil does
	// not.
	dependents *dependents
}

// older is a base before the base, and which of its files each file of the head
// was.
type older struct {
	side *side
	was  map[*folder.Entry]*folder.Entry
}

// settle takes from the configuration what was not said for all, and tells what
// it took.
func (how comparing) settle(e *folder.Entry, q *compat.Question) (took choices) {
	q.Exceptions, q.At = how.exceptions, how.at
	if how.of == nil {
		return took
	}
	// The configuration was read, so its values are good ones.
	own := how.of(e).Choices
	if level, err := compat.ParseLevel(own.Level); err == nil && !how.said.level {
		q.Level, took.level = level, true
	}
	if policy, err := compat.ParsePolicy(own.Policy); err == nil && !how.said.policy {
		q.Policy, took.policy = policy, true
	}
	if policy, err := compat.ParseVerdictPolicy(own.VerdictPolicy); err == nil && !how.said.verdictPolicy {
		q.VerdictPolicy, took.verdictPolicy = policy, true
	}
	if own.Category != "" && !how.said.category {
		q.Category = own.Category
	}
	return took
}

// ask answers q, with advice where it is asked for.
func (r *result) ask(q compat.Question, how comparing, asNew, asOld func(text string) (schemas.Schema, error)) {
	if how.of != nil {
		r.keyLost, r.keyUnknown = keyLost(q, how.of(entryOf(r.pair)).PartitionKey)
	}
	if !how.advise {
		r.report = compat.Check(q)
		return
	}
	q.Variant = variants(q.Next, asNew, asOld)
	if report, advice, ok := compat.Advise(q); ok {
		r.report, r.advice = report, &advice
		return
	}
	r.report = compat.Check(q)
}

// documentOf gathers what a run found.
func documentOf(results []result) compat.Document {
	reports := make([]compat.Report, len(results))
	for i, r := range results {
		reports[i] = r.report
	}
	doc := compat.NewDocument("cartorio "+readBuild().Version, reports...)
	for _, r := range results {
		if r.advice != nil {
			doc.Advice = append(doc.Advice, *r.advice)
		}
	}
	return doc
}

// collectorFloor is in bytes.
const collectorFloor = 20 << 20

// compareSides compares every pair, in order of path. Pairs are independent, so
// they share the processors; the order of the answers does not depend on it.
func compareSides(ctx context.Context, head, base *side, q compat.Question, how comparing, p *progress) []result {
	var pairs []folder.Pairing
	switch {
	case head.past != nil:
		// A bundle is a part of what there is: what it leaves out is not gone.
		pairs = folder.PairNew(base.folder, head.folder)
	case head.file == "":
		pairs = folder.Pair(base.folder, head.folder)
	case base.file == "":
		// One file was named: what else the base holds is not asked about.
		pairs = folder.PairNew(base.folder, head.folder)
	default:
		pairs = onePair(folder.Pair(base.folder, head.folder))
	}
	if how.leftOut != nil {
		pairs = slices.DeleteFunc(pairs, func(p folder.Pairing) bool { return how.leftOut(entryOf(p)) })
	}
	p.total(len(pairs))
	if !how.advise && len(how.older) == 0 {
		how.dependents = &dependents{ctx: ctx, head: head, base: base}
	}
	out := make([]result, len(pairs))
	var wg sync.WaitGroup
	next := make(chan int)
	var once sync.Once
	var caught any
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				func() {
					// A panic belongs to run, which knows how to report it.
					defer func() {
						if v := recover(); v != nil {
							once.Do(func() { caught = v })
						}
					}()
					out[i] = comparePair(ctx, head, base, pairs[i], q, how)
					p.add()
				}()
			}
		})
	}
	for i := range pairs {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	if caught != nil {
		panic(caught)
	}
	blameSources(head, out)
	return out
}

// identityOf names a file by where it lies in its repository.
func identityOf(s *side, e *folder.Entry) string {
	if e.Identity != (schemas.Subject{}) {
		return e.Identity.String()
	}
	return path.Join(s.from, e.Path)
}

// identify names a finding about a whole file, and what of it the fingerprint
// covers.
func (r result) identify(f *compat.Finding, about string) {
	whole := about // a file without a name is known by its path
	if rest, ok := strings.CutPrefix(about, entryOf(r.pair).Path); ok {
		whole = path.Join(r.from, entryOf(r.pair).Path) + rest
	}
	f.Fingerprint = compat.FileFingerprint(f.Format, orWord(r.identity, f.Subject), f.Rule, whole)
	if r.also != "" {
		f.Also = compat.FileFingerprint(f.Format, r.also, f.Rule, about)
	}
}

// entryOf is the file that a pair is about: the new one, else the old.
func entryOf(p folder.Pairing) *folder.Entry {
	if p.New != nil {
		return p.New
	}
	return p.Old
}

// onePair takes two single files as each other whatever their names.
func onePair(pairs []folder.Pairing) []folder.Pairing {
	var one folder.Pairing
	for _, p := range pairs {
		if p.Old != nil {
			one.Old = p.Old
		}
		if p.New != nil {
			one.New = p.New
		}
	}
	return []folder.Pairing{one}
}

func comparePair(ctx context.Context, head, base *side, p folder.Pairing, q compat.Question, how comparing) result {
	r := result{pair: p}
	entry := entryOf(p)
	q.Subject = orWord(entry.Subject.String(), entry.Path)
	q.Identity, q.Also = identityOf(head, entry), q.Subject
	if len(how.exceptions) > 0 {
		q.Also = nameSeen(entry, head, base)
	}
	r.identity, r.also, r.from = q.Identity, q.Also, head.from
	how.settle(entry, &q)
	if p.New != nil {
		q.Label = head.show(p.New.Path)
	}
	if p.Err != nil {
		return r.refuse(q, base, p.Err, "")
	}
	if p.New == nil {
		return r.conclude(q, base.show(p.Old.Path), removed(head, base, p.Old, q.Category))
	}
	if how.unchanged(head, base, p) {
		r.old = true
		same := unread{source: p.New.Source}
		q.Next, q.History = same, []compat.Old{{Label: base.show(p.Old.Path), Schema: same}}
		r.ask(q, how, nil, nil)
		return r.told(head, base, q)
	}
	if q, ok := how.dependents.ask(&r, q, how); ok {
		return r.told(head, base, q)
	}
	next, err := head.parse(ctx, p.New, schemas.New, nil)
	if err != nil {
		return r.refuse(q, base, err, q.Label)
	}
	q.Next = next
	if p.Old != nil {
		// What was once accepted is read without the rules that came later.
		old, err := next, error(nil) // where it is the same, it is parsed already
		if p.New.Subject != p.Old.Subject || !folder.Same(head.folder, p.New, base.folder, p.Old) {
			old, err = base.parse(ctx, p.Old, schemas.Stored, nil)
		}
		if err != nil {
			return r.refuse(q, base, err, base.show(p.Old.Path))
		}
		q.History = []compat.Old{{Label: base.show(p.Old.Path), Schema: old}}
	}
	if where, err := how.goBack(ctx, p.New, &q); err != nil {
		return r.refuse(q, base, err, where)
	}
	if len(q.History) == 0 {
		return r.conclude(q, "", added(head, p.New, ""))
	}
	if r.old = true; p.Old == nil {
		r.ask(q, comparing{}, nil, nil) // repairs are proposed beside the base
		return r.placed(head, base)
	}
	variant := func(s *side, e *folder.Entry) func(string) (schemas.Schema, error) {
		return func(text string) (schemas.Schema, error) {
			changed := *e
			changed.Source.Text = text
			return s.parse(ctx, &changed, schemas.New, nil)
		}
	}
	r.ask(q, how, variant(head, p.New), variant(base, p.Old))
	return r.told(head, base, q)
}

// told adds what is to be said of the two files, beside what the comparison says
// of the schemas in them.
func (r result) told(head, base *side, q compat.Question) result {
	p := r.pair
	if q.Level == compat.None {
		// NONE asks nothing; the pair is told all the same.
		r.report.Compared = []compat.Comparison{{Old: q.History[0], Verdict: compat.Compatible}}
	}
	// Two files that are named are meant as one another, so that their names are
	// nothing to tell of.
	if p.Moved() && head.past == nil && (head.file == "" || base.file == "") {
		f := moved(base, p)
		r.identify(&f, f.Path)
		list := append(r.report.Compared[0].Findings, f)
		slices.SortStableFunc(list, func(a, b compat.Finding) int { return rank(a.Severity) - rank(b.Severity) })
		r.report.Compared[0].Findings = list
	}
	return r.placed(head, base)
}

// placed says of every finding in which files its places are.
func (r result) placed(head, base *side) result {
	for i := range r.report.Compared {
		c := &r.report.Compared[i]
		// The parsed forms of a whole tree would not fit into memory, and the
		// findings say what the changes do.
		c.Old.Schema, c.Backward, c.Forward, c.Changes, c.Effects = nil, nil, nil, nil, nil
		for j := range c.Findings {
			f := &c.Findings[j]
			f.Base.Label, f.Base.File = base.label, c.Old.Label
			f.Head.Label, f.Head.File = head.label, r.report.Label
		}
	}
	return r
}

// goBack adds to a history what the file was before the base, each text once.
// Where it fails, it tells the file that is at fault.
func (how comparing) goBack(ctx context.Context, e *folder.Entry, q *compat.Question) (string, error) {
	seen := map[schemas.Fingerprint]bool{}
	for _, old := range q.History {
		seen[old.Schema.Fingerprint()] = true
	}
	for _, o := range how.older {
		was := o.was[e]
		if was == nil {
			continue
		}
		label := o.side.show(was.Path)
		old, err := o.side.parse(ctx, was, schemas.Stored, nil)
		if err != nil {
			return label, err
		}
		if f := old.Fingerprint(); !seen[f] {
			seen[f] = true
			q.History = append(q.History, compat.Old{Label: label, Schema: old})
		}
	}
	if how.versions > 0 {
		q.Level = q.Level.Transitive()
	}
	return "", nil
}

// refuse makes the report of a pair that could not be compared.
func (r result) refuse(q compat.Question, base *side, why error, where string) result {
	r.broken, r.where = why, where
	c := compat.Comparison{Verdict: compat.NotChecked, Reason: why.Error()}
	if r.pair.Old != nil {
		c.Old.Label = base.show(r.pair.Old.Path)
	}
	if where == c.Old.Label && where != "" {
		c.Reason = "the base: " + c.Reason
	}
	c.Faults = faultsOf(orWord(where, orWord(q.Label, c.Old.Label)), why)
	r.report = compat.Report{
		Subject: q.Subject, Label: q.Label, Format: r.format(), Level: q.Level, Policy: q.Policy, VerdictPolicy: q.VerdictPolicy,
		NotChecked: true, Compared: []compat.Comparison{c},
	}
	return r
}

// faultsOf lists what is wrong with a file, one by one where its reader told
// them apart.
func faultsOf(file string, why error) []compat.Fault {
	var list schemas.SyntaxErrors
	if !errors.As(why, &list) {
		return []compat.Fault{{File: file, Message: why.Error()}}
	}
	var out []compat.Fault
	for _, one := range list {
		f := compat.Fault{File: file, Line: one.Position.Line, Column: one.Position.Column}
		one.Position = schemas.Position{}
		f.Message = one.Error()
		out = append(out, f)
	}
	return out
}

// conclude makes the report of a schema that stands on one side only.
func (r result) conclude(q compat.Question, old string, f compat.Finding) result {
	f.Subject, f.Format = q.Subject, r.format()
	r.identify(&f, f.Path)
	list := []compat.Finding{f}
	compat.Accept(list, q.Exceptions, q.At)
	verdict := compat.Compatible
	if f.Severity == compat.SeverityBreaking && list[0].Accepted == nil {
		verdict = compat.Breaking
	}
	r.report = compat.Report{
		Subject: q.Subject, Label: q.Label, Format: r.format(), Level: q.Level, Policy: q.Policy, VerdictPolicy: q.VerdictPolicy,
		Compatible: verdict == compat.Compatible,
		Compared:   []compat.Comparison{{Old: compat.Old{Label: old}, OneSided: true, Verdict: verdict, Findings: list}},
	}
	return r
}

func (r result) format() schemas.Type {
	if r.pair.New != nil {
		return r.pair.New.Source.Type
	}
	return r.pair.Old.Source.Type
}

// The rules about whole files, which only this command finds.
const (
	ruleAdded   = "schema.added"
	ruleRemoved = "schema.removed"
	ruleMoved   = "schema.moved"
)

// about begins a finding on a whole file with what its rule says.
func about(rule string, severity compat.Severity, e *folder.Entry) compat.Finding {
	f := compat.Finding{Rule: rule, Aliases: []string{}, Severity: severity, Direction: "both", Path: name(e)}
	for _, r := range compat.CoreRules() {
		if r.ID == rule {
			f.Message, f.Why, f.Fix = r.Title, r.Why, r.Fix
		}
	}
	return f
}

// added tells of a schema that is new; where says in what.
func added(head *side, e *folder.Entry, where string) compat.Finding {
	f := about(ruleAdded, compat.Note, e)
	f.Head = compat.Location{Label: head.label, File: head.show(e.Path), Line: 1, Column: 1}
	f.Message += where
	return f
}

// removed tells of a schema that is gone. Among files it is a risk; for Protobuf
// the rule set decides, as buf's do.
func removed(head, base *side, e *folder.Entry, category string) compat.Finding {
	f := about(ruleRemoved, compat.Risk, e)
	if e.Source.Type == schemas.Protobuf {
		switch category {
		case "FILE":
			f.Severity, f.Aliases = compat.SeverityBreaking, []string{"FILE_NO_DELETE"}
		case "PACKAGE":
			f.Severity, f.Aliases = compat.SeverityBreaking, []string{"PACKAGE_MESSAGE_NO_DELETE"}
		}
	}
	f.Base = compat.Location{Label: base.label, File: base.show(e.Path), Line: 1, Column: 1}
	f.Head = compat.Location{Label: head.label}
	return f
}

func moved(base *side, p folder.Pairing) compat.Finding {
	f := about(ruleMoved, compat.Risk, p.New)
	f.Subject, f.Format = p.New.Subject.String(), p.New.Source.Type
	f.Base, f.Head = compat.Location{Line: 1, Column: 1}, compat.Location{Line: 1, Column: 1}
	f.Message = "the file was " + base.show(p.Old.Path)
	if p.New.Subject == p.Old.Subject {
		f.Severity, f.Why, f.Fix = compat.Note, "Its subject is still "+p.New.Subject.String()+".", ""
	} else {
		f.Why = "Its subject was " + p.Old.Subject.String() + " and is now " + p.New.Subject.String() + ", which starts a history of its own in a registry."
	}
	return f
}

// rank puts what refuses first, as compat does.
func rank(s compat.Severity) int {
	return slices.Index([]compat.Severity{compat.SeverityBreaking, compat.Risk, compat.Note}, s)
}

// name is what a file is known by, else its path.
func name(e *folder.Entry) string {
	if len(e.Names) > 0 {
		return e.Names[0]
	}
	return e.Path
}
