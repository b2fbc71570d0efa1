package folder

import (
	"archive/zip"
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Pack writes the bundle as one file, a ZIP archive of bundle.json and the texts.
// With a key it is signed. The same bundle gives the same bytes.
//
// Errors: those of to.
func (b *Bundle) Pack(to io.Writer, key ed25519.PrivateKey, formats []schemas.Format) error {
	files, err := b.files(key, formats)
	if err != nil {
		return err
	}
	z := zip.NewWriter(to)
	for _, f := range files {
		// The time of every file is the bundle's, in the archive's own reckoning.
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: b.made.UTC().Truncate(2 * time.Second)})
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			return fmt.Errorf("pack a bundle: %s: %w", f.path, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("pack a bundle: %w", err)
	}
	return nil
}

type packed struct {
	path string
	data []byte
}

// files are what a bundle consists of, the manifest first.
func (b *Bundle) files(key ed25519.PrivateKey, formats []schemas.Format) ([]packed, error) {
	m := manifestOf(b, func(t schemas.Type) string {
		for _, f := range formats {
			if f.Type == t && len(f.Extensions) > 0 {
				return f.Extensions[0]
			}
		}
		return ".txt"
	})
	text, err := indented(m)
	if err != nil {
		return nil, fmt.Errorf("pack a bundle: %w", err)
	}
	files := []packed{{ManifestFile, text}}
	if key != nil {
		public, ok := key.Public().(ed25519.PublicKey)
		if !ok {
			return nil, fmt.Errorf("pack a bundle: the key is no ed25519 key")
		}
		sig, err := indented(signature{"ed25519", public, ed25519.Sign(key, append([]byte(signedAs), text...))})
		if err != nil {
			return nil, fmt.Errorf("pack a bundle: %w", err)
		}
		files = append(files, packed{SignatureFile, sig})
	}
	for i, e := range b.entries {
		files = append(files, packed{m.Entries[i].File, []byte(e.Source.Text)})
	}
	return files, nil
}

func indented(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return out.Bytes(), err
}
