package transfer

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Bounds of what an archive may unpack to.
const (
	mostManifest = 256 << 20
	mostFile     = 64 << 20
	mostFiles    = 5_000_000
	// What is unpacked may be so much larger than what was read: schema texts
	// that repeat each other shrink to a fiftieth at most.
	mostRatio, freeBytes = 200, 64 << 20
)

// ToArchive writes g as a gzipped tar: the manifest first, then the files in the
// order of their paths. The same g gives the same bytes.
func ToArchive(ctx context.Context, w io.Writer, g Gathered) error {
	m, files, err := filesOf(g)
	if err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	head, err := m.bytes()
	if err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	zip := gzip.NewWriter(w)
	out := tar.NewWriter(zip)
	for i, f := range append([]file{{manifestName, head}}, files...) {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.path, Size: int64(len(f.data)), Mode: 0o644, Format: tar.FormatPAX}); err != nil {
			return fmt.Errorf("write the archive: %s: %w", f.path, err)
		}
		if _, err := out.Write(f.data); err != nil {
			return fmt.Errorf("write the archive: %s: %w", f.path, err)
		}
	}
	if err := errors.Join(out.Close(), zip.Close()); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	return nil
}

// counter counts what is read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// FromArchive reads what ToArchive wrote. Nothing is unpacked to the disk.
//
// Errors: a file that the manifest does not name, that it names and is not
// there, that comes twice, whose SHA-256 is another or whose path leaves the
// archive; an archive that unpacks to more than is believable.
func FromArchive(ctx context.Context, r io.Reader) (Gathered, error) {
	g, err := readArchive(ctx, r)
	if err != nil {
		return Gathered{}, fmt.Errorf("read the archive: %w", err)
	}
	return g, nil
}

// IsArchive tells whether r begins as what ToArchive wrote, whole or not.
func IsArchive(r io.Reader) bool {
	zip, err := gzip.NewReader(r)
	if err != nil {
		return false
	}
	in := tar.NewReader(io.LimitReader(zip, mostManifest+1024))
	h, err := in.Next()
	if err != nil || h.Name != manifestName {
		return false
	}
	text, err := io.ReadAll(in)
	var m manifest
	return err == nil && json.Unmarshal(text, &m) == nil && m.Format == exportFormat
}

func readArchive(ctx context.Context, r io.Reader) (Gathered, error) {
	packed := &counter{r: r}
	zip, err := gzip.NewReader(packed)
	if err != nil {
		return Gathered{}, fmt.Errorf("it is no gzipped tar: %w", err)
	}
	unpacked := &counter{r: zip}
	in := tar.NewReader(unpacked)
	believable := func() error {
		if unpacked.n > freeBytes+packed.n*mostRatio {
			return fmt.Errorf("%d bytes unpack to %d or more: no archive of schemas does", packed.n, unpacked.n)
		}
		return nil
	}
	next := func() (*tar.Header, error) {
		h, err := in.Next()
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg || !fs.ValidPath(h.Name) {
			return nil, fmt.Errorf("the entry %q is no file inside the archive", h.Name)
		}
		return h, ctx.Err()
	}
	h, err := next()
	if err != nil || h.Name != manifestName {
		return Gathered{}, errors.Join(fmt.Errorf("it does not begin with %s: it is no export of a registry", manifestName), err)
	}
	if h.Size > mostManifest {
		return Gathered{}, fmt.Errorf("%s has %d bytes, more than %d", manifestName, h.Size, mostManifest)
	}
	head, err := readAll(in, h.Size, believable)
	if err != nil {
		return Gathered{}, fmt.Errorf("%s: %w", manifestName, err)
	}
	m, want, err := readManifest(head)
	if err != nil {
		return Gathered{}, err
	}
	data := make(map[string][]byte, len(want))
	for {
		h, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Gathered{}, err
		}
		if _, twice := data[h.Name]; twice {
			return Gathered{}, fmt.Errorf("%s comes twice", h.Name)
		}
		f, named := want[h.Name]
		if !named || f.Bytes != h.Size {
			return Gathered{}, fmt.Errorf("%s is not in the manifest, or not with %d bytes", h.Name, h.Size)
		}
		text, err := readAll(in, h.Size, believable)
		if err == nil {
			err = f.check(text)
		}
		if err != nil {
			return Gathered{}, fmt.Errorf("%s: %w", h.Name, err)
		}
		data[h.Name] = text
	}
	// The checksum of the whole stands behind the last entry.
	if _, err := io.Copy(io.Discard, io.LimitReader(unpacked, 1<<20)); err != nil {
		return Gathered{}, err
	}
	for _, f := range m.Files {
		if _, ok := data[f.Path]; !ok {
			return Gathered{}, fmt.Errorf("%s is in the manifest and not in the archive", f.Path)
		}
	}
	return heldOf(m, data)
}

// readAll reads size bytes, and no more memory than there are bytes.
func readAll(r io.Reader, size int64, believable func() error) ([]byte, error) {
	const step = 1 << 20
	out := make([]byte, 0, min(size, step))
	for int64(len(out)) < size {
		n := min(size-int64(len(out)), step)
		at := len(out)
		out = append(out, make([]byte, n)...)
		if _, err := io.ReadFull(r, out[at:]); err != nil {
			return nil, err
		}
		if err := believable(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (f manifestFile) check(data []byte) error {
	sum := sha256.Sum256(data)
	if hex.EncodeToString(sum[:]) != f.SHA256 {
		return errors.New("its SHA-256 is not that of the manifest: it was changed after it was exported")
	}
	return nil
}

// readManifest reads a manifest and indexes its files.
func readManifest(text []byte) (manifest, map[string]manifestFile, error) {
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return m, nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	switch {
	case m.Format != exportFormat:
		return m, nil, fmt.Errorf("%s: its format %q is not %q: it is no export of a registry", manifestName, m.Format, exportFormat)
	case m.Version < 1 || m.Version > exportVersion:
		return m, nil, fmt.Errorf("%s: it has version %d and this program reads 1 to %d: use the program that wrote it, or a newer one", manifestName, m.Version, exportVersion)
	case !m.Complete:
		return m, nil, fmt.Errorf("%s: the export was interrupted: export again", manifestName)
	case len(m.Files) > mostFiles:
		return m, nil, fmt.Errorf("%s: it names %d files, more than %d", manifestName, len(m.Files), mostFiles)
	}
	want := make(map[string]manifestFile, len(m.Files))
	for _, f := range m.Files {
		_, twice := want[f.Path]
		if twice || !fs.ValidPath(f.Path) || f.Path == manifestName || f.Bytes < 0 || f.Bytes > mostFile {
			return m, nil, fmt.Errorf("%s: the file %q comes twice, leaves the export or has %d bytes, which is more than %d", manifestName, f.Path, f.Bytes, mostFile)
		}
		want[f.Path] = f
	}
	return m, want, nil
}
