package compat

import (
	"fmt"
	"unicode/utf8"
)

// Message writes a difference in the peer's text form for Avro, which is also
// that of a checker without a form of its own:
//
//	{errorType:'KIND', description:'The … at path …', additionalInfo:'…'}
//
// Path and kind stand together in one message, since people and tools look for
// both. reader and writer are "new" and "old", or the reverse; rule is our id
// and may be empty.
//
// Source: REST contract 5.10.
func Message(d Difference, reader, writer, rule string) string {
	return Entry(d.Type, fmt.Sprintf("The %s schema does not fit the %s schema at path '%s'", reader, writer, d.Path), d.Info, rule)
}

// Entry frames one message: kind, sentence and short text, with our rule inside
// the description.
func Entry(kind, description, info, rule string) string {
	if rule != "" {
		description += " (" + rule + ")"
	}
	return "{errorType:'" + kind + "', description:'" + description + "', additionalInfo:'" + info + "'}"
}

func notCheckedMessage(reason string) string {
	return Entry("NOT_CHECKED", "The pair is neither compatible nor incompatible: "+reason, "", "")
}

// shownText is how much of the old schema a message shows, in bytes.
const shownText = 10 << 10

// trailer says which version failed, under which level. The version is left out
// when FULL fails in its forward half alone, as the peer does.
func trailer(q Question, old Old, backward bool) []string {
	var out []string
	if backward || q.Level != Full && q.Level != FullTransitive {
		label := old.Label
		if old.Version > 0 {
			label = old.Version.String()
		}
		out = append(out, "{oldSchemaVersion: "+label+"}")
		if old.Schema != nil {
			out = append(out, "{oldSchema: '"+shorten(old.Schema.Canonical(), shownText)+"'}")
		}
	}
	return append(out, fmt.Sprintf("{validateFields: '%t', compatibility: '%s'}", q.ValidateFields, q.Level))
}

// shorten cuts text to at most n bytes, between characters.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "..."
}

// messages writes what refuses the pair: FORWARD first, then BACKWARD. backward
// tells whether the backward half is among it.
func (j *judge) messages() (out []string, backward bool) {
	write := j.checker.Message
	if write == nil {
		write = Message
	}
	for _, d := range []direction{oldReadsNew, newReadsOld} {
		reader, writer := "new", "old"
		if d == oldReadsNew {
			reader, writer = "old", "new"
		}
		before, told := len(out), map[int]bool{}
		if j.q.VerdictPolicy.countsReference() {
			for k, difference := range j.differences(d) {
				if difference.Compatible {
					continue
				}
				rule := ""
				if i := j.because[d][k]; i >= 0 {
					rule, told[i] = j.c.Changes[i].Rule, true
				}
				out = append(out, write(difference, reader, writer, rule))
			}
		}
		if j.q.VerdictPolicy.countsTruth() {
			out = append(out, j.truthMessages(d, told)...)
		}
		if d == newReadsOld && len(out) > before {
			backward = true
		}
	}
	return out, backward
}

// mostTruthMessages is how many changes one direction tells in messages; the
// findings have them all.
const mostTruthMessages = 1_000

// truthMessages writes the findings that refuse for what happens to data.
func (j *judge) truthMessages(d direction, told map[int]bool) (out []string) {
	if !d.asked(j.q.Level) || !j.whole(d).IsHard() {
		return nil
	}
	blamed := false
	for i := range j.c.Changes {
		change := &j.c.Changes[i]
		if len(out) == mostTruthMessages {
			break
		}
		if !j.hurts(change, d).IsHard() {
			continue
		}
		blamed = true
		if told[i] {
			continue
		}
		kind := change.Rule
		if rule, ok := j.rule(change.Rule); ok && len(rule.Peers) > 0 {
			kind = rule.Peers[0]
		}
		out = append(out, Entry(kind, fmt.Sprintf("%s, at path '%s'", change.Text, change.Path), j.hurts(change, d).Kind.String(), change.Rule))
	}
	if !blamed {
		out = append(out, Entry("DATA_BREAKS", dataBreaks.Title+", at path '/'", j.whole(d).Kind.String(), dataBreaks.ID))
	}
	return out
}
