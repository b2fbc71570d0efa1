package compat

import (
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// RuleEntry is a rule as a document shows it: the command rules, and whoever
// lists rules over HTTP.
type RuleEntry struct {
	ID     string       `json:"id"`
	Format schemas.Type `json:"format,omitempty"` // empty for the rules of no format
	Title  string       `json:"title"`
	Why    string       `json:"why"`
	Fix    string       `json:"fix"`
	// Direction is the one in which a payload may be hurt: backward, forward,
	// both, or none.
	Direction string   `json:"direction"`
	Kinds     []string `json:"kinds"`  // how data may be hurt, the worst first
	Layers    []string `json:"layers"` // where
	Aliases   []string `json:"aliases"`
	Mirror    string   `json:"mirror"`          // what the swapped pair reports
	Was       []string `json:"was,omitempty"`   // ids that the rule had before
	Words     []string `json:"words,omitempty"` // what of the format it answers for
	// Example is the pair that shows it; nil for a rule without one.
	Example *ShownExample `json:"example,omitempty"`
}

// ShownExample is the pair of a rule, and what proves it.
type ShownExample struct {
	Old     string `json:"old"`
	New     string `json:"new"`
	Near    string `json:"near"`              // the smallest variant of New that is not this change
	Witness string `json:"witness,omitempty"` // a line per direction that breaks
}

// Entry describes r for a document.
func (r Rule) Entry() RuleEntry {
	e := RuleEntry{
		ID: r.ID, Format: r.Format(), Title: r.Title, Why: r.Why, Fix: r.Fix, Mirror: r.Mirror,
		Direction: r.Direction(), Kinds: []string{}, Layers: []string{}, Aliases: slices.Clone(r.Peers), Was: r.Was, Words: r.Claims,
	}
	if e.Aliases == nil {
		e.Aliases = []string{}
	}
	for _, k := range r.kinds() {
		e.Kinds = append(e.Kinds, k.String())
	}
	layers := r.Layers
	if len(layers) == 0 && e.Format != "" {
		layers = []Layer{Data}
	}
	for _, l := range layers {
		e.Layers = append(e.Layers, l.String())
	}
	if r.Old != "" || r.New != "" {
		e.Example = &ShownExample{Old: r.Old, New: r.New, Near: r.Near, Witness: r.Witness}
	}
	return e
}

// Format is the one whose rule it is, by the prefix of its id; empty for the
// rules of no format.
func (r Rule) Format() schemas.Type {
	prefix, _, _ := strings.Cut(r.ID, ".")
	switch prefix {
	case "schema", "messages", "exceptions":
		return ""
	}
	return schemas.Type(strings.ToUpper(prefix))
}

// Direction is the one in which a payload may be hurt: backward, forward, both,
// or none.
func (r Rule) Direction() string {
	var hurts [2]bool
	for _, e := range r.May {
		for _, d := range directions {
			hurts[d] = hurts[d] || d.of(e).Answer == Breaks
		}
	}
	if !hurts[newReadsOld] && !hurts[oldReadsNew] {
		return "none"
	}
	return directionOf(hurts[newReadsOld], hurts[oldReadsNew])
}

// kinds lists how data may be hurt, the worst first.
func (r Rule) kinds() (list []Kind) {
	for _, k := range []Kind{Refused, Lost, Altered, AlteredOutOfRange, MeaningOnly} {
		if slices.ContainsFunc(r.May, func(e Effect) bool {
			return e.NewReadsOld.Answer == Breaks && e.NewReadsOld.Kind == k || e.OldReadsNew.Answer == Breaks && e.OldReadsNew.Kind == k
		}) {
			list = append(list, k)
		}
	}
	return list
}

// IsHard tells whether a change of the rule may make a pair unsound.
func (r Rule) IsHard() bool {
	return slices.ContainsFunc(r.May, func(e Effect) bool { return e.NewReadsOld.IsHard() || e.OldReadsNew.IsHard() })
}

// RulesNamed finds rules by a name that people have for them: the id or one that
// it had before, the id without its prefix, or a peer's name, in any letter case
// and with hyphens or underscores. Several rules may share a peer's name.
func RulesNamed(rules []Rule, name string) (list []Rule) {
	want := plainName(name)
	prefix, rest, dotted := strings.Cut(want, ".")
	for _, r := range rules {
		if plainName(r.ID) == want || slices.ContainsFunc(r.Was, func(was string) bool { return plainName(was) == want }) {
			return []Rule{r}
		}
	}
	for _, r := range rules {
		format, id, _ := strings.Cut(plainName(r.ID), ".")
		alias := want
		if dotted && prefix == format { // a peer's type in the place of a rule's name
			alias = rest
		}
		if id == want || slices.ContainsFunc(r.Peers, func(peer string) bool { return plainName(peer) == alias }) {
			list = append(list, r)
		}
	}
	return list
}

func plainName(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
}
