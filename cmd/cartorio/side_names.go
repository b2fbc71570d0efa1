package main

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitfs"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// nameSeen is the name by which exceptions may know a file beside its identity: as
// it is seen from the sides' own folder. Where a file at the root bears that name,
// now or before, it is empty: who accepted a break of that one has not accepted
// this one's.
func nameSeen(e *folder.Entry, sides ...*side) string {
	for _, s := range sides {
		if s != nil && s.atRoot != nil && !e.Declared && s.atRoot(e.Path) {
			return ""
		}
	}
	return orWord(e.Subject.String(), e.Path)
}

// besideOnDisk tells of files as they are seen from where identities begin; nil
// where the side's folder is that place.
func besideOnDisk(dir, from string) func(string) bool {
	if from == "" || from == "." {
		return nil
	}
	anchor, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	for p := from; p != "."; p = path.Dir(p) {
		anchor = filepath.Dir(anchor)
	}
	return func(p string) bool {
		_, err := os.Lstat(filepath.Join(anchor, filepath.FromSlash(p)))
		return err == nil
	}
}

// besideInCommit is [besideOnDisk] for a folder of a commit, whose tree is listed
// when first asked. One that cannot be listed holds whatever is asked: then only
// identities count.
func besideInCommit(ctx context.Context, repository *gitfs.Repository, commit, from string) func(string) bool {
	if from == "" || from == "." {
		return nil
	}
	open := sync.OnceValues(func() (*gitfs.Tree, error) {
		tree, _, err := repository.Open(ctx, commit, ".")
		if err == nil {
			err = tree.Close() // names are known without its objects
		}
		return tree, err
	})
	return func(p string) bool {
		tree, err := open()
		if err != nil {
			return true
		}
		_, err = fs.Stat(tree, p)
		return err == nil
	}
}
