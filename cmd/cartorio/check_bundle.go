package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

const (
	bundlePrefix = "bundle:"
	// mostBundle bounds a bundle that is one file, in bytes.
	mostBundle = 256 << 20
)

// versioned is what a comparison reads of a registry; a client is one, and so is
// a bundle.
type versioned interface {
	Version(context.Context, schemas.Subject, schemas.Version, sr.VersionOptions) (schemas.Found, error)
	Versions(context.Context, schemas.Subject, sr.Deleted, sr.Page) ([]schemas.Version, error)
}

// bundled is a bundle where a registry could stand.
type bundled struct{ *folder.Bundle }

// openBundle reads a bundle, one file or a folder, and proves everything in it.
func openBundle(ctx context.Context, name string) (bundled, error) {
	info, err := os.Stat(name)
	if err != nil {
		return bundled{}, failf(exitNotCompared, "reading the bundle %s: %w", name, bare(err))
	}
	var b *folder.Bundle
	o := folder.BundleOptions{Formats: formats.All}
	switch {
	case info.IsDir():
		b, err = folder.OpenBundle(ctx, os.DirFS(name), o)
	case !info.Mode().IsRegular() || info.Size() > mostBundle:
		return bundled{}, failf(exitNotCompared, "reading the bundle %s: it is no file of up to %d bytes", name, mostBundle)
	default:
		var f *os.File
		if f, err = os.Open(name); err != nil {
			return bundled{}, failf(exitNotCompared, "reading the bundle %s: %w", name, bare(err))
		}
		defer f.Close() //nolint:errcheck // it was only read
		var data []byte
		if data, err = io.ReadAll(io.LimitReader(f, mostBundle)); err == nil {
			b, err = folder.ReadBundle(ctx, data, o)
		}
	}
	if err != nil {
		return bundled{}, failf(exitNotCompared, "reading the bundle %s: %s", name, strings.TrimPrefix(err.Error(), "read a bundle: "))
	}
	return bundled{b}, nil
}

// openBundled reads the newest version that a bundle has of each subject as what
// is judged.
func openBundled(ctx context.Context, arg string, r reading) (*side, error) {
	if r.root != "" {
		return nil, failf(exitUsage, "--root: the schemas of %s refer to one another by subject and version", arg)
	}
	b, err := openBundle(ctx, strings.TrimPrefix(arg, bundlePrefix))
	if err != nil {
		return nil, err
	}
	s := &side{label: arg, prefix: arg + ":\x00", close: func() {}, past: b.Bundle}
	if s.folder, err = folder.Newest(b.Bundle, folder.Options{Formats: formats.All, Include: r.include, Exclude: r.exclude}); err != nil {
		return nil, fail(exitUsage, err)
	}
	return s, nil
}

func (b bundled) Version(ctx context.Context, s schemas.Subject, v schemas.Version, _ sr.VersionOptions) (schemas.Found, error) {
	if v == schemas.Latest {
		return b.Latest(ctx, s)
	}
	return b.ByVersion(ctx, s, v)
}

func (b bundled) Versions(ctx context.Context, s schemas.Subject, _ sr.Deleted, _ sr.Page) ([]schemas.Version, error) {
	var list []schemas.Version
	if s.Context == "" {
		s.Context = schemas.DefaultContext
	}
	for _, e := range b.Entries() {
		if e.Subject == s {
			list = append(list, e.Version)
		}
	}
	slices.Sort(list)
	if len(list) == 0 {
		_, err := b.ByVersion(ctx, s, 1)
		return nil, err
	}
	return list, nil
}

// isPast tells the bases that hold versions of subjects instead of files.
func isPast(base string) bool {
	return strings.HasPrefix(base, registryPrefix) || strings.HasPrefix(base, bundlePrefix)
}
