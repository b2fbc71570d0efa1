package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// replaying is how recorded messages are read.
type replaying struct {
	messages                   []string
	encoding, framing, message string
}

func (r replaying) check() error {
	if !slices.Contains([]string{"", "json", "binary", "hex", "base64"}, r.encoding) {
		return fmt.Errorf("--encoding %q is none of json, binary, hex, base64", r.encoding)
	}
	if !slices.Contains([]string{"none", "confluent"}, r.framing) {
		return fmt.Errorf("--framing %q is neither none nor confluent", r.framing)
	}
	return nil
}

// replayed is what is known of one head schema and the schemas that wrote.
type replayed struct {
	entry     *folder.Entry
	next, old schemas.Schema // old is nil where there is no base
	versions  map[schemas.Version]schemas.Schema
	result    *compat.Replay
	reasons   map[string]*compat.ReplayReason
}

// replay runs the head's schemas against recorded messages. Each message is
// written by the schema of the base, where there is one, and read by the head's.
type replay struct {
	ask  replaying
	head *side
	past pasts
	list []*replayed
	only *replayed
	// names finds a schema by subject, and by the names of what it defines.
	names map[string]*replayed
	lost  compat.Replay // messages that no schema of the head is for
}

// pasts tells what schemas were before: the files of a base, or the versions of
// a registry.
type pasts interface {
	// now is the schema of the head.
	now(ctx context.Context, e *folder.Entry) (schemas.Schema, error)
	// before is the schema that wrote what was recorded, nil where there is none.
	before(ctx context.Context, e *folder.Entry) (schemas.Schema, error)
	// atVersion is the schema of a version; nil where versions are not known.
	atVersion(ctx context.Context, e *folder.Entry, v schemas.Version) (schemas.Schema, error)
}

// files are the pasts of two trees; base is nil where there is none.
type files struct {
	head, base *side
	was        map[*folder.Entry]*folder.Entry
}

func newFiles(head, base *side) files {
	f := files{head, base, map[*folder.Entry]*folder.Entry{}}
	if base == nil {
		return f
	}
	pairs := folder.PairNew(base.folder, head.folder)
	if head.file != "" && base.file != "" {
		pairs = onePair(folder.Pair(base.folder, head.folder))
	}
	for _, p := range pairs {
		if p.New != nil && p.Err == nil {
			f.was[p.New] = p.Old
		}
	}
	return f
}

func (f files) now(ctx context.Context, e *folder.Entry) (schemas.Schema, error) {
	schema, err := f.head.parse(ctx, e, schemas.New, nil)
	if err != nil {
		return nil, failf(exitNotCompared, "%s", strings.Join(describe(f.head.show(e.Path), err), "\n"))
	}
	return schema, nil
}

func (f files) before(ctx context.Context, e *folder.Entry) (schemas.Schema, error) {
	old := f.was[e]
	if old == nil {
		return nil, nil
	}
	schema, err := f.base.parse(ctx, old, schemas.Stored, nil)
	if err != nil {
		return nil, failf(exitNotCompared, "%s", strings.Join(describe(f.base.show(old.Path), err), "\n"))
	}
	return schema, nil
}

func (f files) atVersion(context.Context, *folder.Entry, schemas.Version) (schemas.Schema, error) {
	return nil, nil
}

// newReplay reads every selected schema of the head and what it was before.
//
// Errors: one of them does not parse; no message could be judged by it.
func newReplay(ctx context.Context, ask replaying, head *side, past pasts) (*replay, error) {
	r := &replay{ask: ask, head: head, past: past, names: map[string]*replayed{}}
	for i := range head.folder.Entries {
		e := &head.folder.Entries[i]
		if !e.Selected {
			continue
		}
		next, err := past.now(ctx, e)
		if err != nil {
			return nil, err
		}
		one := &replayed{
			entry: e, next: next, reasons: map[string]*compat.ReplayReason{}, versions: map[schemas.Version]schemas.Schema{},
			result: &compat.Replay{Subject: e.Subject.String(), Schema: head.show(e.Path), Reasons: []compat.ReplayReason{}},
		}
		if one.old, err = past.before(ctx, e); err != nil {
			return nil, err
		}
		r.list = append(r.list, one)
		for _, n := range append([]string{e.Subject.String(), e.Subject.Name}, e.Names...) {
			if _, taken := r.names[n]; !taken {
				r.names[n] = one
			}
		}
	}
	if len(r.list) == 1 {
		r.only = r.list[0]
	}
	return r, nil
}

// writer is the schema that a message was written with: that of the version in
// its header, where versions are known, else the one before; nil for neither.
func (r *replay) writer(ctx context.Context, one *replayed, m recorded) (schemas.Schema, error) {
	v, err := schemas.ParseVersion(m.headers["schemaVersion"])
	if err != nil || v == schemas.Latest {
		return one.old, nil //nolint:nilerr // without a version the one before wrote it
	}
	schema, seen := one.versions[v]
	if !seen {
		if schema, err = r.past.atVersion(ctx, one.entry, v); err != nil {
			return nil, err
		}
		one.versions[v] = schema
	}
	if schema == nil {
		return one.old, nil
	}
	return schema, nil
}

// of finds the schema that a message is for.
func (r *replay) of(m recorded) *replayed {
	for _, header := range []string{"schemaSubject", "schemaMessage"} {
		if name := m.headers[header]; name != "" {
			if one, ok := r.names[name]; ok {
				return one
			}
		}
	}
	if r.only != nil {
		return r.only
	}
	// In a folder of recordings, folders and files are named after subjects.
	p := strings.ReplaceAll(m.name, "\\", "/")
	for at := len(p); at > 0; at = strings.LastIndexByte(p[:at], '/') {
		for start := at; start >= 0; {
			start = strings.LastIndexByte(p[:start], '/')
			part := p[start+1 : at]
			if one, ok := r.names[part]; ok {
				return one
			}
			if stem, _, cut := strings.Cut(part, "."); cut {
				if one, ok := r.names[stem]; ok {
					return one
				}
			}
			if start < 0 {
				break
			}
		}
	}
	return nil
}

// judge counts one message.
func (r *replay) judge(ctx context.Context, m recorded) error {
	one := r.of(m)
	if one == nil {
		r.lost.Messages++
		r.lost.Unread++
		return nil
	}
	one.result.Messages++
	if m.unusable != "" {
		one.result.Unread++
		one.count(m, "unread", schemas.Violation{Rule: "recording", Text: m.unusable})
		return nil
	}
	if m.payload == nil {
		one.result.Accepted++ // a tombstone carries no value
		return nil
	}
	old, err := r.writer(ctx, one, m)
	if err != nil {
		return err
	}
	writer := one.next
	if old != nil {
		writer = old
	}
	payload, violations, err := r.payload(writer, m)
	if err != nil {
		var usage *failure
		if errors.As(err, &usage) {
			return err
		}
		one.result.Unread++
		one.count(m, "unread", schemas.Violation{Rule: "recording", Text: err.Error()})
		return nil
	}
	if len(violations) == 0 && old != nil {
		violations = old.Reads(old, payload, schemas.ReadOptions{Violations: 1}).Violations
	}
	if len(violations) > 0 && old != nil {
		if r.mended(one, m) {
			one.result.Mended++
			return nil
		}
		one.result.Already++
		one.count(m, "already", violations[0])
		return nil
	}
	if len(violations) == 0 {
		reading := one.next.Reads(writer, payload, schemas.ReadOptions{Violations: 1})
		violations = reading.Violations
		if len(violations) == 0 && slices.ContainsFunc(reading.Losses, func(l schemas.Loss) bool { return l.Kind != schemas.AlteredOutOfRange }) {
			one.result.Changed++
			l := reading.Losses[0]
			one.count(m, "changed", schemas.Violation{Rule: "loss", Text: l.Text, Payload: l.Payload, Schema: l.Schema})
			return nil
		}
	}
	if len(violations) > 0 {
		one.result.Refused++
		one.count(m, "refused", violations[0])
		return nil
	}
	one.result.Accepted++
	return nil
}

// mended tells whether the new schema takes, as its own, a message that the one
// before refuses.
func (r *replay) mended(one *replayed, m recorded) bool {
	payload, violations, err := r.payload(one.next, m)
	return err == nil && len(violations) == 0 && len(one.next.Reads(one.next, payload, schemas.ReadOptions{Violations: 1}).Violations) == 0
}

// payload decodes what was recorded into what the writer's schema writes.
func (r *replay) payload(writer schemas.Schema, m recorded) (schemas.Payload, []schemas.Violation, error) {
	format := writer.Source().Type
	raw, encoding := m.payload, m.encoded(r.ask.encoding, format)
	var err error
	switch encoding {
	case "hex":
		raw, err = fromHex(string(raw))
	case "base64":
		raw, err = fromBase64(raw)
	}
	p := schemas.Payload{Bytes: raw, Message: orWord(r.ask.message, m.headers["schemaMessage"])}
	if err != nil {
		return p, nil, fmt.Errorf("it is no %s: %w", encoding, err)
	}
	k := &known{schema: writer, label: "the schema"}
	if r.ask.framing == "confluent" && (encoding != "json" || format == schemas.JSON) {
		p, err = k.unframe(p)
		return p, nil, err
	}
	if encoding == "json" && format != schemas.JSON {
		b, list, err := k.binary(p, schemas.ReadOptions{Violations: 1})
		p.Bytes = b
		return p, list, err
	}
	if prefix, _, err := framing.Split(raw); err == nil && prefix.Form == framing.ByID && encoding != "json" && r.ask.framing == "none" {
		if list := writer.Reads(writer, p, schemas.ReadOptions{Violations: 1}).Violations; len(list) > 0 {
			list[0].Text += "; is it framed? say --framing confluent"
			return p, list, nil
		}
	}
	return p, nil, nil
}

func fromHex(text string) ([]byte, error) {
	return hex.DecodeString(strings.Join(strings.Fields(text), ""))
}

// mostReasons is how many different reasons are told apart.
const mostReasons = 50

func (one *replayed) count(m recorded, outcome string, v schemas.Violation) {
	key := outcome + "\x00" + v.Rule + "\x00" + string(v.Schema)
	reason, ok := one.reasons[key]
	if !ok {
		if len(one.reasons) == mostReasons {
			return
		}
		reason = &compat.ReplayReason{Outcome: outcome, Rule: v.Rule, Schema: string(v.Schema), Text: v.Text, First: m.where, Payload: string(v.Payload)}
		one.reasons[key] = reason
	}
	reason.Messages++
}

// results closes the count.
func (r *replay) results() []compat.Replay {
	var out []compat.Replay
	for _, one := range r.list {
		if one.result.Messages == 0 {
			continue
		}
		for _, reason := range one.reasons {
			one.result.Reasons = append(one.result.Reasons, *reason)
		}
		slices.SortFunc(one.result.Reasons, func(a, b compat.ReplayReason) int {
			return cmp.Or(cmp.Compare(b.Messages, a.Messages), cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Rule, b.Rule))
		})
		out = append(out, *one.result)
	}
	if r.lost.Messages > 0 {
		r.lost.Reasons = []compat.ReplayReason{{Outcome: "unread", Rule: "subject", Messages: r.lost.Messages, Text: "nothing tells which schema they are for: no header schemaSubject, and no folder or file named after a subject"}}
		out = append(out, r.lost)
	}
	return out
}

// mostShownReasons is how many reasons of one replay the text form tells.
const mostShownReasons = 10

// judgedNothing tells that no message of a recording says anything about the
// change: the schema before refuses them all.
func judgedNothing(r compat.Replay) bool { return r.Already > 0 && r.Already == r.Messages }

// replayRemarks are the counts in words, one for each replay.
func replayRemarks(list []compat.Replay) []string {
	var out []string
	for _, r := range list {
		text := fmt.Sprintf("replay of %s through %s: %d accepted", plural(r.Messages, "recorded message", "recorded messages"), orWord(r.Schema, "no schema"), r.Accepted)
		for _, part := range []struct {
			n    int
			what string
		}{{r.Refused, "would be refused"}, {r.Changed, "would be read as another value"}, {r.Already, "refused before as well"}, {r.Mended, "refused before and accepted now"}, {r.Unread, "not readable as messages"}} {
			if part.n > 0 {
				text += fmt.Sprintf(", %d %s", part.n, part.what)
			}
		}
		if judgedNothing(r) {
			text += "; so nothing was judged: is it the recording of this schema, and are --encoding and --framing right?"
		}
		out = append(out, text)
	}
	return out
}
