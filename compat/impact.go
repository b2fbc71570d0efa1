package compat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Impact is what a new version does to one consumer that a registry knows.
type Impact struct {
	Subject     string            `json:"subject"`
	Consumer    string            `json:"consumer"`
	Environment string            `json:"environment,omitempty"`
	Answer      ImpactAnswer      `json:"answer"`
	Reason      string            `json:"reason"`
	Versions    []schemas.Version `json:"versions"` // of which it has read messages
	Accepts     string            `json:"accepts,omitempty"`
	Pinned      schemas.Version   `json:"pinned,omitempty"`
	Seen        string            `json:"seen,omitempty"` // RFC 3339, its newest message
}

// ImpactAnswer is what becomes of a consumer when producers write the new
// version.
type ImpactAnswer string

// The answers, the worst first.
const (
	// ImpactBreaks consumers are pinned to a version that cannot read the data.
	ImpactBreaks ImpactAnswer = "breaks"
	// ImpactRefuses consumers declare versions, and the new one is not among them.
	ImpactRefuses ImpactAnswer = "refuses"
	// ImpactMayBreak consumers declare nothing, and the newest version that they
	// have read cannot read the data.
	ImpactMayBreak ImpactAnswer = "may_break"
	// ImpactUnknown consumers could not be judged.
	ImpactUnknown ImpactAnswer = "unknown"
	// ImpactNone consumers read on.
	ImpactNone ImpactAnswer = "none"
)

func (a ImpactAnswer) rank() int {
	return slices.Index([]ImpactAnswer{ImpactBreaks, ImpactRefuses, ImpactMayBreak, ImpactUnknown, ImpactNone}, a)
}

// Remark tells of the consumer in one line; empty for one that reads on.
func (i Impact) Remark() string {
	who := i.Consumer
	if i.Environment != "" {
		who += " in " + i.Environment
	}
	if i.Answer == ImpactNone {
		return ""
	}
	return fmt.Sprintf("%s: the consumer %s %s: %s", i.Subject, who, i.Answer.Words(), i.Reason)
}

// Words says what becomes of a consumer, as what follows its name.
func (a ImpactAnswer) Words() string {
	switch a {
	case ImpactBreaks:
		return "would break"
	case ImpactRefuses:
		return "would refuse it"
	case ImpactMayBreak:
		return "may break"
	case ImpactUnknown:
		return "cannot be judged"
	case ImpactNone:
		return "reads on"
	}
	return string(a)
}

// Impacts judges consumers by what they told a registry, for a version that is to
// be written. schema gives the schema of an older version. What is asked is the
// truth about data, whatever the level and its policies are.
//
// The members of q that are needed are Checkers, Budget and Next; number is that
// of the new version. The answers are by severity, then environment and consumer.
func Impacts(q Question, number schemas.Version, consumers []Impact, schema func(schemas.Version) (schemas.Schema, error)) []Impact {
	type asked struct {
		ok      bool
		unknown bool
		why     string
	}
	known := map[schemas.Version]asked{}
	reads := func(v schemas.Version) asked {
		if a, ok := known[v]; ok {
			return a
		}
		var a asked
		old, err := schema(v)
		if err != nil {
			a = asked{unknown: true, why: fmt.Sprintf("version %s cannot be read: %s", v, err)}
		} else {
			report := Check(Question{
				Checkers: q.Checkers, Subject: q.Subject, Level: Forward, VerdictPolicy: Sound, Next: q.Next, Budget: q.Budget,
				History: []Old{{Label: v.String(), Version: v, Schema: old}},
			})
			a = asked{ok: report.Compatible, unknown: report.NotChecked, why: whyNot(report)}
		}
		known[v] = a
		return a
	}
	out := make([]Impact, 0, len(consumers))
	for _, c := range consumers {
		c.Answer, c.Reason = ImpactNone, "it reads on"
		reader, fixed, declares := c.reader()
		switch has, ok := spans(c.Accepts, number); {
		case declares && !ok:
			c.Answer, c.Reason = ImpactUnknown, fmt.Sprintf("it declares %q, which is not understood", c.Accepts)
		case declares && !has:
			c.Answer, c.Reason = ImpactRefuses, fmt.Sprintf("it accepts %s, and the new version is %s", c.Accepts, number)
		case declares && !fixed:
			// What it declares it reads, whatever that does to its data.
		default:
			if reader == 0 {
				c.Answer, c.Reason = ImpactUnknown, "it declares no version, and has read none"
				break
			}
			a := reads(reader)
			switch {
			case a.unknown:
				c.Answer, c.Reason = ImpactUnknown, a.why
			case a.ok:
			case fixed:
				c.Answer, c.Reason = ImpactBreaks, fmt.Sprintf("it reads with version %s: %s", reader, a.why)
			default:
				c.Answer, c.Reason = ImpactMayBreak, fmt.Sprintf("it declares nothing, and version %s, the newest that it has read, cannot read the data: %s", reader, a.why)
			}
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b Impact) int {
		if d := a.Answer.rank() - b.Answer.rank(); d != 0 {
			return d
		}
		if d := strings.Compare(a.Environment, b.Environment); d != 0 {
			return d
		}
		return strings.Compare(a.Consumer, b.Consumer)
	})
	return out
}

// reader is the version whose schema stands for the consumer, 0 for none. fixed
// tells that the consumer says so itself; else it is the newest that it has read.
// declares tells that it names versions that it accepts.
func (i *Impact) reader() (reader schemas.Version, fixed, declares bool) {
	reader, declares = i.Pinned, i.Accepts != "" && i.Accepts != "any"
	if text, ok := strings.CutPrefix(i.Accepts, "compatible with "); ok {
		declares = false
		if n, err := strconv.ParseInt(text, 10, 32); err == nil && reader == 0 {
			reader = schemas.Version(n)
		}
	}
	if fixed = reader != 0; !fixed && len(i.Versions) > 0 {
		reader = slices.Max(i.Versions)
	}
	return reader, fixed, declares
}

// ImpactVersions are the versions whose schemas Impacts asks for, ascending.
func ImpactVersions(consumers []Impact) []schemas.Version {
	var list []schemas.Version
	for i := range consumers {
		if v, _, _ := consumers[i].reader(); v != 0 {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// whyNot is the first thing that refuses a pair.
func whyNot(r Report) string {
	for _, c := range r.Compared {
		if c.Reason != "" {
			return c.Reason
		}
		for _, f := range c.Findings {
			if f.Severity != SeverityBreaking {
				continue
			}
			if f.Path != "" {
				return f.Message + " at " + f.Path
			}
			return f.Message
		}
	}
	return "the data cannot be read"
}

// spans tells whether a declared range, "1..3", "2.." or "1,3..4", has a version;
// ok is false for a text that is none.
func spans(text string, v schemas.Version) (has, ok bool) {
	list, err := schemas.ParseSpans(text)
	return slices.ContainsFunc(list, func(s schemas.Span) bool { return s.Has(v) }), err == nil
}
