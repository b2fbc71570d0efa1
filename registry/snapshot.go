package registry

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"github.com/cartorio-registry/cartorio/schemas"
)

// snapshotForm is the first byte of every snapshot. A snapshot of another form
// is thrown away and the journal folded anew, so it may change at will.
const snapshotForm = 2

// errSnapshot says that a snapshot cannot be used.
var errSnapshot = errors.New("snapshot is unusable")

// settingsBody holds what is rare and small: it is kept as JSON.
type settingsBody struct {
	Configs    []configBody    `json:"configs,omitempty"`
	Modes      []modeBody      `json:"modes,omitempty"`
	Exceptions []exceptionBody `json:"exceptions,omitempty"`
}

// Encode makes the bytes of s, without the texts: a form byte, numbers as
// varints, texts by hash, a CRC-32 at the end. Equal states have equal bytes.
func (s *State) Encode() []byte {
	w := &snapshotWriter{out: make([]byte, 0, 64+len(s.texts)*32+s.versions*48)}
	w.out = append(w.out, snapshotForm)
	w.number(uint64(s.revision))
	w.text(s.installation)

	hashes := slices.SortedFunc(maps.Keys(s.texts), func(a, b Hash) int { return bytes.Compare(a[:], b[:]) })
	at := make(map[*text]uint64, len(hashes))
	w.number(uint64(len(hashes)))
	for i, h := range hashes {
		w.out = append(w.out, h[:]...)
		at[s.texts[h]] = uint64(i)
	}

	spaces := s.spaces()
	w.number(uint64(len(spaces)))
	for _, n := range spaces {
		w.text(string(n.name))
		w.flag(n.listed)
		w.number(uint64(n.high))
		w.number(uint64(len(n.entries)))
		for _, id := range slices.Sorted(maps.Keys(n.entries)) {
			w.entry(s, n.entries[id], at)
		}
		names := slices.DeleteFunc(slices.SortedFunc(maps.Keys(n.subjects), compareText), func(name string) bool { return n.subjects[name].high == 0 })
		w.number(uint64(len(names)))
		for _, name := range names {
			w.subject(s, n.subjects[name])
		}
	}
	w.json(s.settingsBody())
	return binary.BigEndian.AppendUint32(w.out, crc32.ChecksumIEEE(w.out))
}

func (s *State) settingsBody() settingsBody {
	var out settingsBody
	scopes := func(a, b schemas.Subject) int { return compareText(a.String(), b.String()) }
	for _, k := range slices.SortedFunc(maps.Keys(s.configs), scopes) {
		out.Configs = append(out.Configs, configBody{Context: k.Context, Subject: k.Name, After: configToBody(s.configs[k])})
	}
	for _, k := range slices.SortedFunc(maps.Keys(s.modes), scopes) {
		out.Modes = append(out.Modes, modeBody{Context: k.Context, Subject: k.Name, After: s.modes[k]})
	}
	for _, k := range slices.SortedFunc(maps.Keys(s.exceptions), scopes) {
		for _, f := range slices.Sorted(maps.Keys(s.exceptions[k])) {
			b := s.exceptions[k][f]
			b.V = 0
			out.Exceptions = append(out.Exceptions, b)
		}
	}
	return out
}

type snapshotWriter struct{ out []byte }

func (w *snapshotWriter) number(n uint64) { w.out = binary.AppendUvarint(w.out, n) }

func (w *snapshotWriter) signed(n int64) { w.out = binary.AppendVarint(w.out, n) }

func (w *snapshotWriter) flag(b bool) {
	if b {
		w.out = append(w.out, 1)
	} else {
		w.out = append(w.out, 0)
	}
}

func (w *snapshotWriter) text(s string) {
	w.number(uint64(len(s)))
	w.out = append(w.out, s...)
}

func (w *snapshotWriter) json(v any) { w.text(string(encodeBody(v))) }

func (w *snapshotWriter) entry(s *State, e *entry, at map[*text]uint64) {
	w.number(uint64(e.id))
	w.text(string(s.types[e.kind]))
	w.number(at[e.text])
	w.out = append(w.out, e.guid[:]...)
	w.flag(e.more != nil)
	if e.more != nil {
		w.json(registeredBody{
			References: referencesToBody(e.more.references), Metadata: metadataToBody(e.more.metadata), RuleSet: ruleSetToBody(e.more.rules),
			Canonical: hashToBody(e.more.canonical),
		})
	}
}

func (w *snapshotWriter) subject(s *State, u *subject) {
	w.text(u.name)
	w.number(uint64(u.high))
	w.number(uint64(len(u.versions)))
	for i := range u.versions {
		v := &u.versions[i]
		w.number(uint64(v.number))
		w.signed(int64(v.gone))
		w.signed(v.time)
		w.number(uint64(v.entry.id))
	}
	w.number(uint64(len(u.gone)))
	for _, number := range slices.Sorted(maps.Keys(u.gone)) {
		at := u.gone[number]
		w.number(uint64(number))
		w.out = append(w.out, at.guid[:]...)
		w.text(string(s.types[at.kind]))
	}
}

// DecodeState reads what Encode wrote. textOf gives the text of a hash.
//
// Errors: bytes that are no snapshot of this form, or that are damaged; a
// missing text.
func DecodeState(data []byte, textOf func(Hash) (string, bool)) (*State, error) {
	return decodeState(data, func(h Hash) (text, bool) {
		body, ok := textOf(h)
		return text{text: body}, ok
	})
}

// decodeState is DecodeState for states of the past, whose texts may be erased.
func decodeState(data []byte, textOf func(Hash) (text, bool)) (*State, error) {
	if len(data) < 5 || data[0] != snapshotForm {
		return nil, fmt.Errorf("%w: it is of another form", errSnapshot)
	}
	end := len(data) - 4
	if crc32.ChecksumIEEE(data[:end]) != binary.BigEndian.Uint32(data[end:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong", errSnapshot)
	}
	s := NewState()
	r := &snapshotReader{in: data[1:end]}
	revision := Revision(r.number())
	s.installation = r.text()
	hashes := make([]Hash, 0, r.count(len(Hash{})))
	for range cap(hashes) {
		hashes = append(hashes, Hash(r.bytes(len(Hash{}))))
	}
	for range r.count(1) {
		n := s.space(schemas.Context(r.text()))
		n.listed = r.number() == 1
		high := int32(r.number())
		for range r.count(1) {
			if err := r.entry(s, n, hashes, textOf); err != nil {
				return nil, err
			}
		}
		n.high = high
		for range r.count(1) {
			r.subject(s, n)
		}
	}
	var settings settingsBody
	r.json(&settings)
	if r.bad || len(r.in) > 0 {
		return nil, fmt.Errorf("%w: it ends in the wrong place", errSnapshot)
	}
	if err := s.load(settings); err != nil {
		return nil, fmt.Errorf("%w: %w", errSnapshot, err)
	}
	s.revision = revision
	return s, nil
}

func (s *State) load(b settingsBody) error {
	for _, c := range b.Configs {
		if err := s.configure(&c, Record{}); err != nil {
			return err
		}
	}
	for _, m := range b.Modes {
		s.modes[schemas.Subject{Context: m.Context, Name: m.Subject}] = m.After
	}
	for _, e := range b.Exceptions {
		s.except(&e, true)
	}
	return nil
}

// snapshotReader reads and remembers whether anything was wrong; it never goes
// beyond its bytes.
type snapshotReader struct {
	in  []byte
	bad bool
}

func (r *snapshotReader) fail() { r.in, r.bad = nil, true }

func (r *snapshotReader) number() uint64 {
	n, size := binary.Uvarint(r.in)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.in = r.in[size:]
	return n
}

func (r *snapshotReader) signed() int64 {
	n, size := binary.Varint(r.in)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.in = r.in[size:]
	return n
}

// count reads how many things of at least size bytes follow.
func (r *snapshotReader) count(size int) int {
	n := r.number()
	if n > uint64(len(r.in)/size) {
		r.fail()
		return 0
	}
	return int(n)
}

// bytes reads n bytes; zeros when they are not there.
func (r *snapshotReader) bytes(n int) []byte {
	if n > len(r.in) {
		r.fail()
		return make([]byte, min(n, 64))
	}
	out := r.in[:n]
	r.in = r.in[n:]
	return out
}

func (r *snapshotReader) text() string {
	n := r.count(1)
	return string(r.bytes(n))
}

func (r *snapshotReader) json(v any) {
	n := r.count(1)
	if json.Unmarshal(r.bytes(n), v) != nil {
		r.fail()
	}
}

func (r *snapshotReader) entry(s *State, n *namespace, hashes []Hash, textOf func(Hash) (text, bool)) error {
	id, kind, at := r.number(), schemas.Type(r.text()), r.number()
	want := &identity{guid: schemas.GUID(r.bytes(len(schemas.GUID{}))), kind: kind}
	if r.number() == 1 {
		var more registeredBody
		r.json(&more)
		want.references, want.metadata, want.rules = referencesFromBody(more.References), metadataFromBody(more.Metadata), ruleSetFromBody(more.RuleSet)
		var err error
		if want.canonical, err = hashFromBody(more.Canonical); err != nil {
			r.fail()
		}
	}
	if r.bad || at >= uint64(len(hashes)) {
		r.fail()
		return nil
	}
	want.hash = hashes[at]
	body, ok := textOf(want.hash)
	if !ok {
		return fmt.Errorf("load the text of id %d: the journal has none with hash %x: restore the database from a backup", id, want.hash)
	}
	_, err := s.makeEntry(n, int32(id), want, body.text, body.erased)
	return err
}

func (r *snapshotReader) subject(s *State, n *namespace) {
	u := s.makeSubject(schemas.Subject{Context: n.name, Name: r.text()})
	high := schemas.Version(r.number())
	count := r.count(1)
	u.versions = make([]version, 0, count)
	for range count {
		v := version{number: schemas.Version(r.number()), gone: schemas.Version(r.signed()), time: r.signed(), entry: n.entries[int32(r.number())]}
		if v.entry == nil || len(u.versions) > 0 && v.number <= u.versions[len(u.versions)-1].number {
			r.fail()
			return
		}
		s.put(u, v, 0)
	}
	u.high = high
	for range r.count(1 + len(schemas.GUID{}) + 1) {
		number := schemas.Version(r.number())
		at := mark{guid: schemas.GUID(r.bytes(len(schemas.GUID{})))}
		kind, ok := s.kindOf(schemas.Type(r.text()))
		if r.bad || !ok {
			r.fail()
			return
		}
		if at.kind = kind; u.gone == nil {
			u.gone = map[schemas.Version]mark{}
		}
		u.gone[number] = at
	}
}
