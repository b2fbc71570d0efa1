package folder

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// ErrTampered says that a bundle is not what it was when it was made, or is not
// signed by the key that one trusts. Nothing of it is to be used.
var ErrTampered = errors.New("the bundle is not as it was made")

// BundleOptions say how a bundle is read. Zero fields mean the defaults.
type BundleOptions struct {
	// Formats are the schema languages that are understood. The fingerprint of
	// an entry of another one cannot be computed; its SHA-256 and GUID are.
	Formats []schemas.Format
	// Key is the ed25519 public key by which the bundle must be signed; nil asks
	// for no signature, and one that is there must still be right.
	Key ed25519.PublicKey
	// Entries is how many versions a bundle may hold, 100,000; Bytes how much
	// text in all, 256 MiB.
	Entries int
	Bytes   int64
}

func (o BundleOptions) orDefault() BundleOptions {
	if o.Entries == 0 {
		o.Entries = 100_000
	}
	if o.Bytes == 0 {
		o.Bytes = 256 << 20
	}
	return o
}

// ReadBundle opens a bundle that is one file, whose bytes are data.
//
// Errors: data is no ZIP archive; wrapped ErrTampered when it holds a file that
// the bundle does not name, or one twice; those of OpenBundle.
func ReadBundle(ctx context.Context, data []byte, o BundleOptions) (*Bundle, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("read a bundle: it is no ZIP archive: %w", err)
	}
	return open(ctx, unpacker{fsys: z, o: o.orDefault(), archive: z.File})
}

// OpenBundle opens a bundle that is a folder, or an archive as one, and proves
// everything in it.
//
// Errors: a file is not there or cannot be read; wrapped ErrTampered when a
// proof fails, with the version that it fails for; a limit.
func OpenBundle(ctx context.Context, fsys fs.FS, options BundleOptions) (*Bundle, error) {
	return open(ctx, unpacker{fsys: fsys, o: options.orDefault()})
}

func open(ctx context.Context, u unpacker) (*Bundle, error) {
	b, err := u.unpack(ctx)
	if err != nil {
		return nil, fmt.Errorf("read a bundle: %w", err)
	}
	return b, nil
}

type unpacker struct {
	fsys    fs.FS
	o       BundleOptions
	bytes   int64
	archive []*zip.File // what one file holds; nil for a folder
}

func (u *unpacker) unpack(ctx context.Context) (*Bundle, error) {
	text, err := u.file(ManifestFile)
	if err != nil {
		return nil, err
	}
	signer, err := u.signer(text)
	if err != nil {
		return nil, err
	}
	var m manifest
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("%s: %w", ManifestFile, err)
	}
	if m.Form != 1 {
		return nil, fmt.Errorf("%s: the form %d is not known: a newer cartorio has made it", ManifestFile, m.Form)
	}
	if len(m.Entries) > u.o.Entries {
		return nil, fmt.Errorf("it holds %d versions, and %d are allowed", len(m.Entries), u.o.Entries)
	}
	if err := u.nothingElse(m); err != nil {
		return nil, err
	}
	b := &Bundle{made: m.Made, signer: signer}
	seen := map[use]bool{}
	for i := range m.Entries {
		e, err := u.entry(&m.Entries[i])
		if err != nil {
			return nil, fmt.Errorf("version %s of %s: %w", m.Entries[i].Version, m.Entries[i].Subject, err)
		}
		at := use{e.Subject, e.Version}
		if e.Version < 1 || seen[at] {
			return nil, fmt.Errorf("version %s of %s: %w: it stands twice, or is no version", e.Version, e.Subject, ErrTampered)
		}
		seen[at] = true
		b.entries = append(b.entries, e)
	}
	b.index()
	for i := range b.entries {
		e := &b.entries[i]
		s, err := b.parse(ctx, e, u.o.Formats)
		if err != nil {
			return nil, fmt.Errorf("version %s of %s: %w", e.Version, e.Subject, err)
		}
		if s != nil && s.Fingerprint() != e.Fingerprint {
			return nil, fmt.Errorf("version %s of %s: %w: its fingerprint is %s, and %s is written there", e.Version, e.Subject, ErrTampered, s.Fingerprint(), e.Fingerprint)
		}
	}
	return b, nil
}

// nothingElse tells whether an archive holds what the bundle names and no more: a
// file that no proof covers would travel under a signature that is right. What
// else lies in a folder is not asked; people put bundles beside other files.
func (u *unpacker) nothingElse(m manifest) error {
	named := map[string]bool{ManifestFile: true, SignatureFile: true}
	for i := range m.Entries {
		named[m.Entries[i].File] = true
	}
	for _, f := range u.archive {
		if strings.HasSuffix(f.Name, "/") && f.UncompressedSize64 == 0 {
			continue // a folder, as other programs write them
		}
		there, known := named[f.Name]
		switch {
		case !known:
			return fmt.Errorf("%w: it holds %q, which %s does not name", ErrTampered, f.Name, ManifestFile)
		case !there:
			return fmt.Errorf("%w: it holds %q twice", ErrTampered, f.Name)
		}
		named[f.Name] = false
	}
	return nil
}

// file reads one file, within what is left of the bytes allowed.
func (u *unpacker) file(path string) ([]byte, error) {
	f, err := u.fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	left := u.o.Bytes - u.bytes
	data, err := io.ReadAll(io.LimitReader(f, left+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > left {
		return nil, fmt.Errorf("%s: the texts have over %d bytes in all", path, u.o.Bytes)
	}
	u.bytes += int64(len(data))
	return data, nil
}

// signer checks the signature and gives whose it is; nil when there is none and
// none is asked for.
func (u *unpacker) signer(text []byte) ([]byte, error) {
	raw, err := u.file(SignatureFile)
	if errors.Is(err, fs.ErrNotExist) {
		if u.o.Key != nil {
			return nil, fmt.Errorf("%w: it is not signed, and the signature of a key is asked for", ErrTampered)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s signature
	if err := json.Unmarshal(raw, &s); err != nil || s.Algorithm != "ed25519" || len(s.Key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%s: %w: it is no ed25519 signature", SignatureFile, ErrTampered)
	}
	if u.o.Key != nil && !u.o.Key.Equal(ed25519.PublicKey(s.Key)) {
		return nil, fmt.Errorf("%w: it is signed by another key", ErrTampered)
	}
	if !ed25519.Verify(s.Key, append([]byte(signedAs), text...), s.Signature) {
		return nil, fmt.Errorf("%w: the signature is not of this %s", ErrTampered, ManifestFile)
	}
	return s.Key, nil
}

// entry reads one version and proves its text and GUID.
func (u *unpacker) entry(m *manifestEntry) (BundleEntry, error) {
	var e BundleEntry
	if !fs.ValidPath(m.File) {
		return e, fmt.Errorf("%w: %q is no path inside it", ErrTampered, m.File)
	}
	text, err := u.file(m.File)
	if err != nil {
		return e, err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != m.SHA256 {
		return e, fmt.Errorf("%w: the SHA-256 of %s is not the one written there", ErrTampered, m.File)
	}
	e.Subject, e.Version = schemas.ParseSubject(m.Subject), m.Version
	e.ID = schemas.ID{Context: e.Subject.Context, Number: m.ID}
	if m.IDContext != "" {
		e.ID.Context = m.IDContext
	}
	e.Metadata, e.RuleSet, e.Time, e.Deleted, e.Latest = m.Metadata, m.RuleSet, m.Time, m.Deleted, m.Latest
	if e.Source.Type, err = schemas.ParseType(string(m.Type)); err != nil {
		return e, err
	}
	e.Source.Text = string(text)
	for _, r := range m.References {
		e.Source.References = append(e.Source.References, schemas.Reference(r))
	}
	if e.GUID, err = schemas.ParseGUID(m.GUID); err != nil {
		return e, err
	}
	if own := schemas.GUIDOf(e.Source.Text, e.Source.References, e.Metadata, e.RuleSet); own != e.GUID {
		return e, fmt.Errorf("%w: its GUID is %s, and %s is written there", ErrTampered, own, e.GUID)
	}
	print, err := hex.DecodeString(m.Fingerprint)
	if err != nil || len(print) != len(e.Fingerprint) {
		return e, fmt.Errorf("%w: %q is no fingerprint", ErrTampered, m.Fingerprint)
	}
	e.Fingerprint = schemas.Fingerprint(print)
	return e, nil
}
