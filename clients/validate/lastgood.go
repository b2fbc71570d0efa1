package validate

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// LastGood keeps what a registry answered in a file, so that a program that is
// started during an outage knows what it knew before. It is append-only: a
// record is one write, and one that was cut short by a kill is left out when
// the file is opened again. A file belongs to one program at a time.
//
// A record is a length and a CRC-32C of four bytes each, big endian, and a JSON
// object. A record whose GUID is not that of its text is left out, too.
type LastGood struct {
	path  string
	limit int64

	mu    sync.Mutex
	file  *os.File
	size  int64
	known map[name]remembered
	order int64 // of the newest record
}

// remembered is an answer and when it was given.
type remembered struct {
	found   schemas.Found
	at      time.Time
	order   int64
	bytes   int64
	alias   bool     // another name's record holds it
	verdict *verdict // of byVerdict; found is empty then
}

const (
	lastGoodHead   = "cartorio last good 1\n"
	smallestLimit  = 64 << 10
	mostRecord     = 8 << 20
	recordOverhead = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// OpenLastGood opens or makes the file at path. most bounds its size in bytes,
// 64 MiB when 0: a file that would grow beyond is written anew with the newest
// half of what is known.
//
// Errors: the file cannot be opened; it is of another program.
func OpenLastGood(path string, most int64) (*LastGood, error) {
	if most <= 0 {
		most = 64 << 20
	}
	l := &LastGood{path: path, limit: max(most, smallestLimit), known: map[name]remembered{}}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the last-good file: %w", err)
	}
	l.file = f
	if err := l.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("open the last-good file %s: %w", path, err), f.Close())
	}
	return l, nil
}

// Close closes the file. A validator that uses it must be closed before.
func (l *LastGood) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}

// Len is how many answers are known.
func (l *LastGood) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.known)
}

// load reads what is whole, and cuts off what is not.
func (l *LastGood) load() error {
	in := bufio.NewReaderSize(l.file, 1<<16)
	head := make([]byte, len(lastGoodHead))
	n, err := io.ReadFull(in, head)
	switch {
	case err != nil && strings.HasPrefix(lastGoodHead, string(head[:n])):
		// New, or killed while it was made.
		if err := l.file.Truncate(0); err != nil {
			return err
		}
		n, err := l.file.WriteString(lastGoodHead)
		l.size = int64(n)
		return err
	case string(head[:n]) != lastGoodHead:
		return errors.New("it is no last-good file: name another path")
	}
	l.size = int64(n)
	for {
		body, err := readRecord(in)
		if err != nil {
			break // the end, or a torn tail
		}
		l.size += int64(recordOverhead + len(body))
		l.learn(body)
	}
	return l.file.Truncate(l.size)
}

func readRecord(in io.Reader) ([]byte, error) {
	var head [recordOverhead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:4])
	if size > mostRecord {
		return nil, errors.New("no record is as long")
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(in, body); err != nil {
		return nil, err
	}
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(head[4:]) {
		return nil, errors.New("the checksum differs")
	}
	return body, nil
}

// lastGoodRecord is the JSON of a record: a name and what it stands for.
type lastGoodRecord struct {
	Kind    nameKind            `json:"kind"`
	Context schemas.Context     `json:"context,omitempty"`
	Name    string              `json:"name,omitempty"`
	GUID    string              `json:"guid,omitempty"`
	Number  int32               `json:"number,omitempty"`
	Print   schemas.Fingerprint `json:"print,omitzero"`
	At      time.Time           `json:"at"`
	Found   schemas.Found       `json:"found,omitzero"`
	Writer  string              `json:"writer,omitempty"` // of a verdict: the fingerprint
	Verdict *verdict            `json:"verdict,omitempty"`
}

func (l *LastGood) learn(body []byte) {
	var r lastGoodRecord
	if json.Unmarshal(body, &r) != nil {
		return
	}
	n := name{kind: r.Kind, subject: schemas.Subject{Context: r.Context, Name: r.Name}, number: r.Number, print: r.Print}
	if r.GUID != "" {
		g, err := schemas.ParseGUID(r.GUID)
		if err != nil {
			return
		}
		n.guid = g
	}
	if n.foreign = r.Writer; (n.kind == byVerdict) != (r.Verdict != nil) {
		return
	}
	f := r.Found
	if f.GUID != (schemas.GUID{}) && f.GUID != schemas.GUIDOf(f.Source.Text, f.Source.References, f.Metadata, f.RuleSet) {
		return
	}
	l.know(n, remembered{found: f, verdict: r.Verdict, at: r.At, bytes: int64(recordOverhead + len(body))})
}

// know remembers an answer by its name and by those that it tells besides.
func (l *LastGood) know(n name, r remembered) {
	l.order++
	r.order = l.order
	l.known[n] = r
	r.alias = true
	for _, other := range n.besides(r.found) {
		if old, ok := l.known[other]; !ok || old.alias {
			l.known[other] = r
		}
	}
}

// recordOf is the JSON of a record.
func recordOf(n name, one remembered) ([]byte, error) {
	r := lastGoodRecord{
		Kind: n.kind, Context: n.subject.Context, Name: n.subject.Name, Number: n.number, Print: n.print, At: one.at.UTC(),
		Found: one.found, Writer: n.foreign, Verdict: one.verdict,
	}
	if n.guid != (schemas.GUID{}) {
		r.GUID = n.guid.String()
	}
	return json.Marshal(r)
}

// newest picks the names of the newest answers that fit into room, oldest first.
func newest(known map[name]remembered, room int64) []name {
	list := make([]name, 0, len(known))
	for n, r := range known {
		if !r.alias {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b name) int { return cmp.Compare(known[b].order, known[a].order) })
	for i, n := range list {
		if room -= known[n].bytes; room < 0 {
			list = list[:i]
			break
		}
	}
	slices.Reverse(list)
	return list
}

// get gives what is known of a name.
func (l *LastGood) get(n name) (remembered, bool) {
	if l == nil {
		return remembered{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.known[n]
	return r, ok
}

// put remembers an answer. That the file cannot be written is no reason to
// refuse a message: it is known until the program ends then.
func (l *LastGood) put(n name, found schemas.Found, now time.Time) {
	if l == nil || n.kind == byForeign {
		return
	}
	l.keep(n, remembered{found: found, at: now})
}

// rule remembers a verdict.
func (l *LastGood) rule(p pairOfPrints, said verdict, now time.Time) {
	if l != nil {
		l.keep(p.name(), remembered{verdict: &said, at: now})
	}
}

func (l *LastGood) keep(n name, one remembered) {
	body, err := recordOf(n, one)
	if err != nil || len(body) > mostRecord {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// The same answer again need not be written more often than it matters.
	if old, ok := l.known[n]; ok && !old.alias && one.at.Sub(old.at) < 10*time.Minute && old.same(&one) {
		return
	}
	size := int64(recordOverhead + len(body))
	if l.size+size > l.limit {
		l.compact(l.limit/2 - size)
	}
	one.bytes = size
	l.know(n, one)
	if l.size+size <= l.limit && writeRecord(l.file, body) == nil {
		l.size += size
	}
}

// same tells whether two answers say the same.
func (r *remembered) same(o *remembered) bool {
	if r.verdict != nil && o.verdict != nil {
		return *r.verdict == *o.verdict
	}
	a, b := &r.found, &o.found
	return a.Subject == b.Subject && a.Version == b.Version && a.ID == b.ID && a.GUID == b.GUID && a.Deleted == b.Deleted && a.Source.Text == b.Source.Text
}

// writeRecord appends one record by one call, so that only a tail can be torn.
func writeRecord(to io.Writer, body []byte) error {
	out := make([]byte, 0, recordOverhead+len(body))
	out = binary.BigEndian.AppendUint32(out, uint32(len(body)))
	out = binary.BigEndian.AppendUint32(out, crc32.Checksum(body, castagnoli))
	_, err := to.Write(append(out, body...))
	return err
}

// compact writes the newest answers into a file of its own, which then takes the
// place of the old one. After an error the old one stays as it is.
func (l *LastGood) compact(room int64) {
	keep := newest(l.known, room)
	f, err := os.CreateTemp(filepath.Dir(l.path), filepath.Base(l.path)+".*")
	if err != nil {
		return
	}
	next := &LastGood{path: l.path, file: f}
	size, err := next.fill(keep, l.known)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(f.Name(), l.path)
	}
	if err != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
		return
	}
	_ = l.file.Close()
	l.file, l.size = f, size
	old := l.known
	l.known = make(map[name]remembered, len(keep))
	for _, n := range keep {
		l.know(n, old[n])
	}
}

func (l *LastGood) fill(keep []name, known map[name]remembered) (size int64, err error) {
	n, err := l.file.WriteString(lastGoodHead)
	size = int64(n)
	for _, k := range keep {
		if err != nil {
			break
		}
		var body []byte
		if body, err = recordOf(k, known[k]); err == nil {
			err = writeRecord(l.file, body)
			size += int64(recordOverhead + len(body))
		}
	}
	return size, err
}
