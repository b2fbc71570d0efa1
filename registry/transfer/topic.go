package transfer

import (
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // the topic's own check is MD5; it is an identity, not a protection
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// FromTopic replays a dump of a registry's `_schemas` topic, in the order of its
// lines. What a record says that cannot be taken is a loss, with its line; the
// rest is replayed.
//
// Errors: a line that is no record, with its number; a dump without any record,
// which is a consumer that failed sooner than an empty registry: even that has
// a NOOP; encrypted metadata; those
// of in and of ctx.
// Source: REST contract 9 and 10.1.
func FromTopic(ctx context.Context, in io.Reader) (Gathered, error) {
	t := &topic{
		versions: map[place]*registry.Held{}, ids: map[schemas.ID]*holders{}, settings: map[schemas.Subject]*registry.Setting{},
		contexts: map[schemas.Context]*registry.HeldContext{}, high: map[schemas.Subject]schemas.Version{}, gone: map[place]registry.Gone{},
	}
	records := 0
	for l := newLines(in); ; records++ {
		r, err := l.next()
		if errors.Is(err, io.EOF) && records > 0 {
			return t.gathered(), nil
		}
		if errors.Is(err, io.EOF) {
			err = errors.New("the dump holds no record")
		}
		if err == nil {
			err = t.apply(r)
		}
		if err == nil && r.line%1024 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return Gathered{}, fmt.Errorf("read the topic dump: %w", err)
		}
	}
}

// topic is the state that a replay folds.
type topic struct {
	versions map[place]*registry.Held
	ids      map[schemas.ID]*holders
	settings map[schemas.Subject]*registry.Setting
	contexts map[schemas.Context]*registry.HeldContext
	high     map[schemas.Subject]schemas.Version
	gone     map[place]registry.Gone
	losses   []Loss
	notes    []Loss
}

type topicKey struct {
	KeyType string          `json:"keytype"`
	Subject *string         `json:"subject"`
	Version schemas.Version `json:"version"`
	Magic   int             `json:"magic"`
	Context string          `json:"context"`
	Seq     *int64          `json:"seq"`
}

type topicSchema struct {
	ID         int32           `json:"id"`
	MD5        string          `json:"md5"`
	Type       string          `json:"schemaType"`
	References []referenceBody `json:"references"`
	Metadata   *metadataBody   `json:"metadata"`
	RuleSet    *ruleSetBody    `json:"ruleSet"`
	Schema     string          `json:"schema"`
	Deleted    bool            `json:"deleted"`
	Time       int64           `json:"ts"`
}

func (t *topic) skip(r record, subject string, format string, args ...any) {
	t.losses = append(t.losses, r.says(subject, format, args...))
}

// says names a record.
func (r record) says(subject string, format string, args ...any) Loss {
	at := fmt.Sprintf("line %d", r.line)
	if r.offset >= 0 {
		at += fmt.Sprintf(", offset %d", r.offset)
	}
	return Loss{Subject: subject, What: at + ": " + fmt.Sprintf(format, args...)}
}

func (t *topic) apply(r record) error {
	if r.key == nil {
		t.skip(r, "", "the record has no key and is skipped")
		return nil
	}
	var k topicKey
	if err := json.Unmarshal(r.key, &k); err != nil {
		return fmt.Errorf("line %d: the key: %w", r.line, err)
	}
	// Redpanda's records count only where they were meant to stand.
	if k.Seq != nil && r.offset >= 0 && *k.Seq != r.offset {
		return nil
	}
	name, text := schemas.Subject{Context: schemas.DefaultContext}, ""
	if k.Subject != nil {
		name, text = schemas.ParseSubject(*k.Subject), *k.Subject
	}
	switch k.KeyType {
	case "NOOP":
	case "SCHEMA":
		if k.Magic != 0 && k.Magic != 1 {
			t.skip(r, text, "a SCHEMA record of the unknown form %d is skipped", k.Magic)
			return nil
		}
		if k.Subject == nil || k.Version < 1 {
			t.skip(r, text, "a SCHEMA record without a subject or a version is skipped")
			return nil
		}
		return t.schema(r, place{name, k.Version})
	case "CONFIG", "MODE":
		return t.setting(r, k.KeyType, name)
	case "DELETE_SUBJECT":
		return t.deleteSubject(r, name)
	case "CLEAR_SUBJECT": // forgets ids of what is soft-deleted: nothing that is kept here
	case "CONTEXT":
		c, err := schemas.ParseContext(k.Context)
		if err != nil {
			t.skip(r, "", "a CONTEXT record is skipped: %v", err)
			return nil
		}
		t.context(c).Listed = r.value != nil
	default:
		t.skip(r, text, "a record of the unknown kind %q is skipped", k.KeyType)
	}
	return nil
}

func (t *topic) context(c schemas.Context) *registry.HeldContext {
	if t.contexts[c] == nil {
		t.contexts[c] = &registry.HeldContext{Name: c}
	}
	return t.contexts[c]
}

// schema puts a version, or takes it away for good.
func (t *topic) schema(r record, at place) error {
	old := t.versions[at]
	if r.value == nil {
		if old != nil {
			t.drop(at, old)
			t.gone[at] = registry.Gone{Version: at.version, GUID: schemas.GUIDOf(old.Source.Text, old.Source.References, old.Metadata, old.RuleSet), Type: old.Source.Type}
		}
		return nil
	}
	var b topicSchema
	if err := json.Unmarshal(r.value, &b); err != nil {
		return fmt.Errorf("line %d: the value: %w", r.line, err)
	}
	subject := at.subject.String()
	kind, err := schemas.ParseType(b.Type)
	switch {
	case err != nil:
		t.skip(r, subject, "version %d is skipped: %v", at.version, err)
		return nil
	case b.ID < 1:
		t.skip(r, subject, "version %d is skipped: its id %d is none", at.version, b.ID)
		return nil
	case b.Metadata != nil && b.Metadata.Properties["__enc__"] != "":
		return fmt.Errorf("line %d: version %d of subject %q has encrypted metadata: decrypt the topic first, or export the registry over HTTP", r.line, at.version, subject)
	}
	held := &registry.Held{Found: schemas.Found{
		Subject: at.subject, Version: at.version, ID: schemas.ID{Context: at.subject.Context, Number: b.ID},
		Source:   schemas.Source{Type: kind, Text: b.Schema, References: referencesOf(b.References)},
		Metadata: b.Metadata.metadata(), RuleSet: b.RuleSet.rules(), Deleted: b.Deleted, Time: r.time,
	}}
	if h := t.ids[held.ID]; h != nil && h.text != held.Source.Text && h.others(at) {
		other := h.named(at)
		t.skip(r, subject, "version %d is skipped: its id %d stands for another text already (subject %q version %d)", at.version, b.ID, other.subject, other.version)
		return nil
	}
	t.checkMD5(r, held, b.MD5)
	if old != nil {
		if held.Time = old.Time; held.Time.IsZero() {
			held.Time = r.time
		}
		t.drop(at, old)
	}
	t.versions[at] = held
	if t.ids[held.ID] == nil {
		t.ids[held.ID] = &holders{text: held.Source.Text, first: at, at: map[place]bool{}}
	}
	t.ids[held.ID].at[at] = true
	delete(t.gone, at)
	c := t.context(at.subject.Context)
	c.Listed, c.High = true, max(c.High, b.ID)
	t.high[at.subject] = max(t.high[at.subject], at.version)
	return nil
}

func (t *topic) drop(at place, v *registry.Held) {
	delete(t.versions, at)
	delete(t.ids[v.ID].at, at)
	if len(t.ids[v.ID].at) == 0 {
		delete(t.ids, v.ID)
	}
}

// holders are the versions that carry an id, all with one text. A schema may be
// under every subject of a registry: none of this asks them all.
type holders struct {
	text  string
	first place
	at    map[place]bool
}

// others tells whether a version beside p carries the id.
func (h *holders) others(p place) bool { return len(h.at) > 1 || !h.at[p] }

// named is the version that messages name beside p: the first that is still
// there, else the smallest.
func (h *holders) named(p place) place {
	if h.first != p && h.at[h.first] {
		return h.first
	}
	list := make([]place, 0, len(h.at))
	for other := range h.at {
		if other != p {
			list = append(list, other)
		}
	}
	h.first = slices.MinFunc(list, func(a, b place) int {
		return cmp.Or(strings.Compare(a.subject.String(), b.subject.String()), cmp.Compare(a.version, b.version))
	})
	return h.first
}

// checkMD5 tells of texts that another version of the registry printed.
func (t *topic) checkMD5(r record, v *registry.Held, told string) {
	if told == "" {
		return
	}
	want, err := base64.StdEncoding.DecodeString(told)
	guid := schemas.GUIDOf(v.Source.Text, v.Source.References, v.Metadata, v.RuleSet)
	if err != nil || len(want) != md5.Size || !slices.Equal(want, guid[:]) {
		t.notes = append(t.notes, r.says(v.Subject.String(), "version %d: its md5 is not that of its text, which is kept as it stands", v.Version))
	}
}

func (t *topic) deleteSubject(r record, name schemas.Subject) error {
	if r.value == nil {
		return nil
	}
	var b struct {
		Version schemas.Version `json:"version"`
	}
	if err := json.Unmarshal(r.value, &b); err != nil {
		return fmt.Errorf("line %d: the value: %w", r.line, err)
	}
	for n := schemas.Version(1); n <= min(b.Version, t.high[name]); n++ {
		if v := t.versions[place{name, n}]; v != nil {
			v.Deleted = true
		}
	}
	return nil
}

func (t *topic) setting(r record, kind string, scope schemas.Subject) error {
	s := t.settings[scope]
	if s == nil {
		s = &registry.Setting{Scope: scope}
		t.settings[scope] = s
	}
	switch {
	case kind == "MODE" && r.value == nil:
		s.Mode = ""
	case kind == "MODE":
		var b struct {
			Mode registry.Mode `json:"mode"`
		}
		if err := json.Unmarshal(r.value, &b); err != nil {
			return fmt.Errorf("line %d: the value: %w", r.line, err)
		}
		switch b.Mode {
		case registry.ReadWrite, registry.ReadOnly, registry.ReadOnlyOverride, registry.Import, registry.Forward:
			s.Mode = b.Mode
		default:
			t.skip(r, scopeName(scope), "the unknown mode %q is skipped", b.Mode)
		}
	case r.value == nil:
		s.Config = nil
	default:
		members := map[string]json.RawMessage{}
		if err := json.Unmarshal(r.value, &members); err != nil {
			return fmt.Errorf("line %d: the value: %w", r.line, err)
		}
		if level, ok := members["compatibilityLevel"]; ok {
			members["compatibility"] = level
		}
		text, err := json.Marshal(members)
		if err != nil {
			return err
		}
		var c registry.Config
		if err := json.Unmarshal(text, &c); err != nil {
			t.skip(r, scopeName(scope), "a config is skipped: %v", err)
			return nil
		}
		s.Config = &c
	}
	return nil
}

func (t *topic) gathered() Gathered {
	g := Gathered{Marked: true, Whole: true, Losses: t.losses, Notes: t.notes}
	for _, v := range t.versions {
		g.Versions = append(g.Versions, *v)
	}
	sortVersions(g.Versions)
	for i := range g.Versions {
		v := &g.Versions[i]
		v.GUID = schemas.GUIDOf(v.Source.Text, v.Source.References, v.Metadata, v.RuleSet)
	}
	for _, c := range t.contexts {
		g.Contexts = append(g.Contexts, *c)
	}
	gone := map[schemas.Subject][]registry.Gone{}
	for at, was := range t.gone {
		gone[at.subject] = append(gone[at.subject], was)
	}
	for name, high := range t.high {
		slices.SortFunc(gone[name], func(a, b registry.Gone) int { return int(a.Version) - int(b.Version) })
		g.Subjects = append(g.Subjects, registry.HeldSubject{Subject: name, High: high, Gone: gone[name]})
	}
	var settings []registry.Setting
	for _, s := range t.settings {
		settings = append(settings, *s)
	}
	g.Settings = tidySettings(settings)
	g.marks()
	return g
}
