package folder

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// The files of a bundle. The signature is over signedAs and the bytes of the
// manifest, which holds the SHA-256 of every text.
const (
	ManifestFile  = "bundle.json"
	SignatureFile = "bundle.sig"
	signedAs      = "cartorio bundle 1\n"
)

// manifest is bundle.json: everything of a bundle but the texts.
type manifest struct {
	Form    int             `json:"cartorio_bundle"`
	Made    time.Time       `json:"made"`
	Entries []manifestEntry `json:"entries"`
}

type manifestEntry struct {
	Subject     string              `json:"subject"` // qualified
	Version     schemas.Version     `json:"version"`
	ID          int32               `json:"id,omitempty"`
	IDContext   schemas.Context     `json:"id_context,omitempty"` // where it is not the subject's
	GUID        string              `json:"guid"`
	Fingerprint string              `json:"fingerprint"`
	Type        schemas.Type        `json:"type"`
	File        string              `json:"file"`
	SHA256      string              `json:"sha256"`
	References  []manifestReference `json:"references,omitempty"`
	Metadata    *schemas.Metadata   `json:"metadata,omitempty"`
	RuleSet     *schemas.RuleSet    `json:"rule_set,omitempty"`
	Time        time.Time           `json:"time,omitzero"`
	Deleted     bool                `json:"deleted,omitempty"`
	Latest      bool                `json:"latest,omitempty"`
}

type manifestReference struct {
	Name    string          `json:"name"`
	Subject string          `json:"subject"`
	Version schemas.Version `json:"version"`
}

// signature is bundle.sig.
type signature struct {
	Algorithm string `json:"algorithm"` // "ed25519"
	Key       []byte `json:"key"`       // the public key
	Signature []byte `json:"signature"`
}

// manifestOf writes what a bundle holds; extension gives a type's file ending.
func manifestOf(b *Bundle, extension func(schemas.Type) string) manifest {
	m := manifest{Form: 1, Made: b.made, Entries: []manifestEntry{}}
	for _, e := range b.entries {
		sum := sha256.Sum256([]byte(e.Source.Text))
		one := manifestEntry{
			Subject: e.Subject.String(), Version: e.Version, ID: e.ID.Number, GUID: e.GUID.String(), Fingerprint: e.Fingerprint.String(),
			Type: e.Source.Type, File: fileOf(e.Subject, e.Version, extension(e.Source.Type)), SHA256: hex.EncodeToString(sum[:]),
			Metadata: e.Metadata, RuleSet: e.RuleSet, Time: e.Time.UTC(), Deleted: e.Deleted, Latest: e.Latest,
		}
		if e.ID.Context != e.Subject.Context && e.ID.Number != 0 {
			one.IDContext = e.ID.Context
		}
		for _, r := range e.Source.References {
			one.References = append(one.References, manifestReference(r))
		}
		m.Entries = append(m.Entries, one)
	}
	return m
}

// fileOf is where a version's text stands: schemas/SUBJECT/VERSION.ENDING, with
// everything but letters, digits, dash, underscore and inner dots escaped, so
// that every file system takes it. Long names are cut and told apart by a hash.
func fileOf(s schemas.Subject, v schemas.Version, extension string) string {
	const hexDigits = "0123456789abcdef"
	var name strings.Builder
	text := s.String()
	for i := range len(text) {
		c := text[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' && i > 0 && i < len(text)-1
		if plain {
			name.WriteByte(c)
			continue
		}
		name.Write([]byte{'%', hexDigits[c>>4], hexDigits[c&15]})
	}
	out := name.String()
	if len(out) > 100 {
		sum := sha256.Sum256([]byte(text))
		out = out[:80] + "~" + hex.EncodeToString(sum[:8])
	}
	return "schemas/" + out + "/" + strconv.Itoa(int(v)) + extension
}

func compareUses(a, b use) int {
	return cmp.Or(cmp.Compare(a.subject.Context, b.subject.Context), cmp.Compare(a.subject.Name, b.subject.Name), cmp.Compare(a.version, b.version))
}
