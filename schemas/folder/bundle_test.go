package folder_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/folder"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

var bundleTime = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// bundled gives a bundle of two Avro versions, a JSON Schema with a reference in a
// context, and a Protobuf file with metadata.
func bundled(t testing.TB) *folder.Bundle {
	t.Helper()
	found := func(subject string, v schemas.Version, id int32, typ schemas.Type, text string, refs ...schemas.Reference) schemas.Found {
		s := schemas.ParseSubject(subject)
		return schemas.Found{Subject: s, Version: v, ID: schemas.ID{Context: s.Context, Number: id}, Source: schemas.Source{Type: typ, Text: text, References: refs}}
	}
	meta := found("shop/value", 1, 5, schemas.Protobuf, "syntax = \"proto3\"; message Order { int64 id = 1; }")
	meta.Metadata = &schemas.Metadata{Properties: map[string]string{"owner": "billing"}, Tags: map[string][]string{"x": {"PII"}}}
	gone := found("users-value", 1, 1, schemas.Avro, `{"type":"record","name":"User","fields":[]}`)
	gone.Deleted, gone.Time = true, bundleTime.Add(-time.Hour)
	entries := []folder.BundleEntry{
		{Found: found(":.eu:orders-value", 1, 3, schemas.JSON, `{"$ref":"base.json"}`, schemas.Reference{Name: "base.json", Subject: "base", Version: 4}), Latest: true},
		{Found: found(":.eu:base", 4, 2, schemas.JSON, `{"type":"integer"}`)},
		{Found: found("users-value", 2, 4, schemas.Avro, `{"type":"record","name":"User","fields":[{"name":"id","type":"long","default":0}]}`), Latest: true},
		{Found: gone},
		{Found: gone},
		{Found: meta, Latest: true},
	}
	b, err := folder.NewBundle(context.Background(), entries, bundleTime, formats.All)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func packed(t testing.TB, b *folder.Bundle, key ed25519.PrivateKey) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := b.Pack(&out, key, formats.All); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// unzipped gives the files of a bundle as a file system to be changed.
func unzipped(t testing.TB, data []byte) fstest.MapFS {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	out := fstest.MapFS{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = &fstest.MapFile{Data: text}
	}
	return out
}

func signingKey() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
}

func TestBundle(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	made := bundled(t)
	data := packed(t, made, signingKey())
	if !bytes.Equal(data, packed(t, bundled(t), signingKey())) {
		t.Error("the same bundle gives other bytes")
	}
	o := folder.BundleOptions{Formats: formats.All, Key: signingKey().Public().(ed25519.PublicKey)}
	b, err := folder.ReadBundle(ctx, data, o)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(made.Entries(), b.Entries()); d != "" {
		t.Error(d)
	}
	asFolder, err := folder.OpenBundle(ctx, unzipped(t, data), o)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(made.Entries(), asFolder.Entries()); d != "" {
		t.Errorf("as a folder: %s", d)
	}
	if !b.Made().Equal(bundleTime) || !bytes.Equal(b.Signer(), o.Key) {
		t.Errorf("made %v by %x", b.Made(), b.Signer())
	}
	var names []string
	for _, e := range b.Entries() {
		names = append(names, e.Subject.String()+"@"+e.Version.String())
	}
	if d := cmp.Diff([]string{"shop/value@1", "users-value@1", "users-value@2", ":.eu:base@4", ":.eu:orders-value@1"}, names); d != "" {
		t.Errorf("the order: %s", d)
	}
	if want := []string{"bundle.json", "bundle.sig", "schemas/%3a.eu%3abase/4.json", "schemas/%3a.eu%3aorders-value/1.json", "schemas/shop%2fvalue/1.proto", "schemas/users-value/1.avsc", "schemas/users-value/2.avsc"}; !slices.Equal(want, slices.Sorted(maps.Keys(unzipped(t, data)))) {
		t.Errorf("the files are %q", slices.Sorted(maps.Keys(unzipped(t, data))))
	}
}

func TestBundleLookups(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := bundled(t)
	users, eu := schemas.ParseSubject("users-value"), schemas.ParseSubject(":.eu:orders-value")
	at := func(f schemas.Found, err error) string {
		switch {
		case errors.Is(err, schemas.ErrSubjectUnknown):
			return "no subject"
		case errors.Is(err, schemas.ErrVersionUnknown):
			return "no version"
		case errors.Is(err, schemas.ErrSchemaUnknown):
			return "no schema"
		case err != nil:
			return err.Error()
		}
		return f.Subject.String() + "@" + f.Version.String()
	}
	v1, err := b.ByVersion(ctx, users, 1)
	if err != nil || !v1.Deleted || v1.ID.Number != 1 || !v1.Time.Equal(bundleTime.Add(-time.Hour)) {
		t.Errorf("%+v, %v", v1, err)
	}
	for name, got := range map[string]string{
		"users-value@2":       at(b.Latest(ctx, users)),
		"users-value@1":       at(b.ByID(ctx, schemas.ID{Number: 1})),
		":.eu:orders-value@1": at(b.BySource(ctx, eu, schemas.Source{Type: schemas.JSON, Text: `{"$ref":"base.json"}`, References: []schemas.Reference{{Name: "base.json", Subject: "base", Version: 4}}})),
		":.eu:base@4":         at(b.ByID(ctx, schemas.ID{Context: ".eu", Number: 2})),
	} {
		if got != name {
			t.Errorf("%s, want %s", got, name)
		}
	}
	for want, list := range map[string][]string{
		"no version": {at(b.ByVersion(ctx, users, 3)), at(b.Latest(ctx, schemas.ParseSubject(":.eu:base")))},
		"no subject": {at(b.ByVersion(ctx, schemas.ParseSubject(":.eu:x"), 1)), at(b.Latest(ctx, schemas.ParseSubject("x"))), at(b.BySource(ctx, schemas.ParseSubject("x"), v1.Source))},
		"no schema":  {at(b.ByID(ctx, schemas.ID{Context: ".eu", Number: 1})), at(b.ByGUID(ctx, schemas.GUID{1})), at(b.BySource(ctx, eu, v1.Source))},
	} {
		for i, got := range list {
			if got != want {
				t.Errorf("question %d: %s, want %s", i, got, want)
			}
		}
	}
	f, err := b.ByGUID(ctx, v1.GUID)
	if err != nil || f.GUID != v1.GUID || f.Version != 0 || f.ID.Number != 0 || f.Source.Text != v1.Source.Text {
		t.Errorf("by its GUID: %+v, %v", f, err)
	}
}

// TestTamperedBundle is case P7: whatever is changed, the bundle is refused.
func TestTamperedBundle(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	key := signingKey()
	signed, plain := packed(t, bundled(t), key), packed(t, bundled(t), nil)
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
	replace := func(file, old, next string) func(fstest.MapFS) {
		return func(f fstest.MapFS) {
			text := string(f[file].Data)
			if !strings.Contains(text, old) {
				t.Fatalf("%s has no %q", file, old)
			}
			f[file] = &fstest.MapFile{Data: []byte(strings.Replace(text, old, next, 1))}
		}
	}
	guid := bundled(t).Entries()[1].GUID.String()
	print := bundled(t).Entries()[1].Fingerprint.String()
	for _, tt := range []struct {
		name   string
		data   []byte
		key    ed25519.PublicKey
		change func(fstest.MapFS)
		says   string
		broken bool // it cannot be read at all, which is no tampering to be proved
	}{
		{name: "a text", data: plain, change: replace("schemas/users-value/1.avsc", "User", "Ruse"), says: "version 1 of users-value: the bundle is not as it was made: the SHA-256"},
		{name: "a GUID", data: plain, change: replace("bundle.json", guid, schemas.GUID{1}.String()), says: "its GUID is " + guid},
		{name: "a fingerprint", data: plain, change: replace("bundle.json", print, strings.Repeat("0", 64)), says: "its fingerprint is " + print},
		{name: "metadata", data: plain, change: replace("bundle.json", "billing", "somebody"), says: "its GUID is"},
		{name: "what a reference points to", data: plain, change: func(f fstest.MapFS) {
			replace("bundle.json", `"version": 4,`, `"version": 5,`)(f)
			f["schemas/%3a.eu%3abase/5.json"] = f["schemas/%3a.eu%3abase/4.json"]
		}, says: "version is unknown", broken: true},
		{name: "a version twice", data: plain, change: replace("bundle.json", `"version": 2,`, `"version": 1,`), says: "it stands twice"},
		{name: "a path outside", data: plain, change: replace("bundle.json", "schemas/users-value/1.avsc", "../users.avsc"), says: "is no path inside it"},
		{name: "a text that is gone", data: plain, change: func(f fstest.MapFS) { delete(f, "schemas/users-value/1.avsc") }, says: "users-value", broken: true},
		{name: "another form", data: plain, change: replace("bundle.json", `"cartorio_bundle": 1`, `"cartorio_bundle": 2`), says: "the form 2 is not known", broken: true},
		{name: "a member that is not known", data: plain, change: replace("bundle.json", `"made"`, `"extra": 1, "made"`), says: "unknown field", broken: true},
		{name: "no manifest", data: plain, change: func(f fstest.MapFS) { delete(f, "bundle.json") }, says: "bundle.json", broken: true},
		{name: "no signature where one is asked for", data: plain, key: key.Public().(ed25519.PublicKey), says: "it is not signed"},
		{name: "another key", data: signed, key: other.Public().(ed25519.PublicKey), says: "signed by another key"},
		{name: "a signature of another manifest", data: signed, change: replace("bundle.json", `"deleted": true`, `"deleted": false`), says: "the signature is not of this bundle.json"},
		{name: "a signature that is none", data: signed, change: replace("bundle.sig", "ed25519", "none"), says: "no ed25519 signature"},
		{name: "an id, signed", data: signed, change: replace("bundle.json", `"id": 4`, `"id": 9`), says: "the signature is not of this bundle.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := unzipped(t, tt.data)
			if tt.change != nil {
				tt.change(files)
			}
			_, err := folder.OpenBundle(ctx, files, folder.BundleOptions{Formats: formats.All, Key: tt.key})
			if err == nil || !strings.Contains(err.Error(), tt.says) || errors.Is(err, folder.ErrTampered) == tt.broken {
				t.Errorf("it says %v, want %q", err, tt.says)
			}
		})
	}
}

// TestCutBundle cuts and turns over bytes of the file: an error, never a panic,
// and never other contents.
func TestCutBundle(t *testing.T) {
	t.Parallel()
	data := packed(t, bundled(t), signingKey())
	want := bundled(t).Entries()
	for n := 0; n < len(data); n += 3 {
		if _, err := folder.ReadBundle(context.Background(), data[:n], folder.BundleOptions{Formats: formats.All}); err == nil {
			t.Fatalf("cut at %d of %d it is read", n, len(data))
		}
		bad := bytes.Clone(data)
		bad[n] ^= 0x11
		b, err := folder.ReadBundle(context.Background(), bad, folder.BundleOptions{Formats: formats.All})
		if err == nil && !cmp.Equal(b.Entries(), want) {
			t.Fatalf("a byte turned over at %d gives other entries", n)
		}
	}
}

func TestBundleLimits(t *testing.T) {
	t.Parallel()
	data := packed(t, bundled(t), nil)
	for says, o := range map[string]folder.BundleOptions{"holds 5 versions": {Entries: 4}, "over 500 bytes": {Bytes: 500}} {
		if _, err := folder.ReadBundle(context.Background(), data, o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	// A program that links one format proves the others without a fingerprint.
	b, err := folder.ReadBundle(context.Background(), data, folder.BundleOptions{Formats: []schemas.Format{avro.Format}})
	if err != nil || len(b.Entries()) != 5 {
		t.Error(err)
	}
	var none fs.FS = fstest.MapFS{}
	if _, err := folder.OpenBundle(context.Background(), none, folder.BundleOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestNewBundleRefuses(t *testing.T) {
	t.Parallel()
	one := schemas.Found{Subject: schemas.ParseSubject("s"), Version: 1, Source: schemas.Source{Type: schemas.JSON, Text: `{}`}}
	wrong, dangling, broken := one, one, one
	wrong.GUID = schemas.GUID{1}
	dangling.Source.References = []schemas.Reference{{Name: "x", Subject: "x", Version: 1}}
	dangling.Source.Text = `{"$ref":"x"}`
	broken.Source.Text = `{`
	for says, f := range map[string]schemas.Found{"the registry says GUID": wrong, "subject is unknown": dangling, "bundle version 1 of s": broken} {
		if _, err := folder.NewBundle(context.Background(), []folder.BundleEntry{{Found: f}}, bundleTime, formats.All); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	if _, err := folder.NewBundle(context.Background(), []folder.BundleEntry{{Found: one}}, bundleTime, nil); err == nil {
		t.Error("an entry without a format is taken")
	}
}

// What no proof covers must not travel under a signature that is right.
func TestBundleHoldsNothingElse(t *testing.T) {
	t.Parallel()
	key := signingKey().Public().(ed25519.PublicKey)
	files := unzipped(t, packed(t, bundled(t), signingKey()))
	for name, tt := range map[string]struct {
		more []string
		says string
	}{
		"as it was":            {},
		"folders of its own":   {more: []string{"schemas/", "schemas/users-value/"}},
		"another file":         {more: []string{"run.sh"}, says: `it holds "run.sh", which bundle.json does not name`},
		"another text":         {more: []string{"schemas/users-value/3.avsc"}, says: "does not name"},
		"a path that leads up": {more: []string{"../evil"}, says: `it holds "../evil"`},
		"a manifest twice":     {more: []string{"bundle.json"}, says: `it holds "bundle.json" twice`},
		"a text twice":         {more: []string{"schemas/users-value/2.avsc"}, says: "twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			z := zip.NewWriter(&out)
			for _, path := range append(slices.Sorted(maps.Keys(files)), tt.more...) {
				w, err := z.Create(path)
				if err != nil {
					t.Fatal(err)
				}
				if f, there := files[path]; there {
					if _, err := w.Write(f.Data); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			_, err := folder.ReadBundle(context.Background(), out.Bytes(), folder.BundleOptions{Formats: formats.All, Key: key})
			if (err == nil) != (tt.says == "") || err != nil && (!strings.Contains(err.Error(), tt.says) || !errors.Is(err, folder.ErrTampered)) {
				t.Errorf("it says %v, want %q", err, tt.says)
			}
		})
	}
}
