package main

import (
	"context"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitfs"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// goBack opens what the base was before: the changes of a git ref, or the tags
// of a pattern, --all-versions of them with the base itself.
func (c *checking) goBack(ctx context.Context, head, base *side, r reading) error {
	if !gitfs.Is(c.against) {
		return failf(exitUsage, "--all-versions needs a base with a history: a git ref or a registry, and %s is neither", c.against)
	}
	spec, err := gitfs.Parse(c.against)
	if err != nil {
		return fail(exitUsage, err)
	}
	if base.absent || base.commit == "" {
		return nil // there is nothing before what is not there
	}
	repository, err := gitfs.Find(ctx, base.root)
	if err != nil {
		return fail(exitNotCompared, err)
	}
	var list []gitfs.Change
	if spec.Tags {
		from := "HEAD"
		if head.commit != "" {
			from = head.commit
		}
		list, err = repository.Tags(ctx, spec.Ref, from, c.allVersions)
	} else {
		list, err = repository.History(ctx, base.commit, base.dir, c.allVersions)
		if err == nil && len(list) < c.allVersions && repository.IsShallow(ctx) {
			return failf(exitNotCompared, "reading the last %d versions of %s: this clone is shallow and has %d: run: git fetch --unshallow", c.allVersions, c.against, len(list))
		}
	}
	if err != nil {
		return fail(exitNotCompared, err)
	}
	for _, change := range list {
		if change.Commit == base.commit {
			continue
		}
		// The same place, at another commit.
		then := gitfs.Spec{Ref: change.Label, Path: spec.Path, HasPath: spec.HasPath}
		s, err := openGit(ctx, then, head, true, r)
		if err != nil {
			return err
		}
		was := map[*folder.Entry]*folder.Entry{}
		for _, p := range folder.Pair(s.folder, head.folder) {
			if p.New != nil && p.Old != nil {
				was[p.New] = p.Old
			}
		}
		c.older = append(c.older, older{s, was})
	}
	return nil
}
