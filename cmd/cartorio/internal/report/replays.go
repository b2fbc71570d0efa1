package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
)

// Rules of what is no difference between schemas and fails a run all the same.
const (
	ruleRefused = "messages.refused"
	ruleChanged = "messages.changed"
	ruleUnread  = "messages.unread"
	ruleStale   = "exceptions.stale"
)

// mostReasons is how many reasons of one replay are told.
const mostReasons = 10

// recorded is a message that shows a result: where it is recorded, and why it is
// one.
type recorded struct {
	file string // as the user named it; empty for stdin
	line int    // 0 where the whole file, or a message inside a line, is meant
	text string
}

// recordedAt reads where a replay says that a message is recorded: FILE:LINE, or
// FILE, with or without "message N" behind it.
func recordedAt(first string) (file string, line int) {
	file, _, _ = strings.Cut(first, ", message ")
	if at := strings.LastIndexByte(file, ':'); at > 0 {
		if n, err := strconv.Atoi(file[at+1:]); err == nil && n > 0 {
			file, line = file[:at], n
		}
	}
	if file == "stdin" {
		return "", 0
	}
	return file, line
}

// beside lists what is no finding and fails or may fail the run: recorded
// messages that were refused, changed or unread, and [Run.Failing]. A form that
// left it out would be green where the run is not.
func (r Run) beside() []item {
	var list []item
	for _, replay := range r.Document.Replays {
		for _, one := range []struct {
			n                              int
			rule, severity, outcome, words string
		}{
			{replay.Unread, ruleUnread, notChecked, "unread", "could not be read as messages"},
			{replay.Refused, ruleRefused, breaking, "refused", "would be refused"},
			{replay.Changed, ruleChanged, risk, "changed", "would be read as another value"},
		} {
			if one.n == 0 {
				continue
			}
			i := item{
				rule: one.rule, severity: one.severity, subject: replay.Subject, file: r.path(replay.Schema),
				message:     fmt.Sprintf("%d of %s %s", one.n, plural(replay.Messages, "recorded message", "recorded messages"), one.words),
				fingerprint: compat.FileFingerprint("", "", one.rule, orElse(r.path(replay.Schema), replay.Subject)),
			}
			for _, reason := range replay.Reasons {
				if reason.Outcome == one.outcome && len(i.lines) < mostReasons {
					text := fmt.Sprintf("%d, first %s: %s", reason.Messages, orElse(reason.First, "of many"), reason.Text)
					i.lines = append(i.lines, text)
					if file, line := recordedAt(reason.First); file != "" {
						i.recorded = append(i.recorded, recorded{r.path(file), line, text})
					}
				}
			}
			list = append(list, i)
		}
	}
	for _, text := range r.Failing {
		list = append(list, item{
			rule: ruleStale, severity: breaking, message: text, fingerprint: compat.FileFingerprint("", "", ruleStale, text),
		})
	}
	return list
}

// remarks are those of the document that no result says.
func (r Run) remarks() []string {
	return slices.DeleteFunc(slices.Clone(r.Document.Remarks), func(text string) bool { return slices.Contains(r.Failing, text) })
}

// everything is items and what stands beside them, the worst first.
func (r Run) everything() []item {
	list := append(r.beside(), r.items()...)
	slices.SortStableFunc(list, func(a, b item) int { return cmp.Compare(a.rank(), b.rank()) })
	return list
}

// besideSuite is a suite of a case for each of beside, and for each replay that
// all is well with.
func (r Run) besideSuite() suite {
	s := suite{Name: "recorded messages and exceptions", Time: "0"}
	for _, replay := range r.Document.Replays {
		if replay.Unread+replay.Refused+replay.Changed == 0 {
			s.Cases = append(s.Cases, testcase{
				Name: clean("replay through " + orElse(replay.Schema, "no schema")), Class: "cartorio.replay", File: clean(r.path(replay.Schema)), Time: "0",
			})
		}
	}
	for _, i := range r.beside() {
		one := testcase{Name: clean(i.rule + " " + orElse(i.file, i.subject)), Class: "cartorio.replay", File: clean(i.file), Time: "0"}
		if i.rule == ruleStale {
			one.Name, one.Class = clean(i.message), "cartorio.exceptions"
		}
		text := clean(strings.Join(append([]string{i.message}, i.lines...), "\n"))
		f := &fault{Message: clean(i.message), Type: i.rule, Text: text}
		switch {
		case i.severity == notChecked:
			one.Error = f
			s.Errors++
		case i.severity == breaking, r.Fails == compat.Risk, r.Fails == compat.Note:
			one.Failure = f
			s.Failures++
		default:
			one.Out = text
		}
		s.Cases = append(s.Cases, one)
	}
	s.Tests = len(s.Cases)
	return s
}
