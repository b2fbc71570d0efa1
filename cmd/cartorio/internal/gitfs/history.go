package gitfs

import (
	"context"
	"fmt"
	"strings"
)

// Ignored lists what git leaves out below the folder of the repository that Find
// was given: files that are not tracked and that its rules exclude, as seen from
// that folder. A folder that is left out whole ends with "/"; "./" is that folder
// itself.
func (r *Repository) Ignored(ctx context.Context) ([]string, error) {
	out, err := r.git(ctx, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
	if err != nil {
		return nil, fmt.Errorf("looking for what git ignores: %w", err)
	}
	var list []string
	for name := range strings.SplitSeq(out, "\x00") {
		if name != "" {
			list = append(list, name)
		}
	}
	return list, nil
}

// Change is a commit in a history.
type Change struct {
	Commit string // full id
	Label  string // what people know it by: a tag, or a short id
}

// History lists the commits that changed the folder or file p, from commit
// backward along first parents, the newest first, at most n.
func (r *Repository) History(ctx context.Context, commit, p string, n int) ([]Change, error) {
	at := ":(top,literal)" + p
	if p == "." {
		at = ":(top)"
	}
	out, err := r.git(ctx, "-c", "log.showSignature=false", "log", "--first-parent", "--format=%H", fmt.Sprintf("--max-count=%d", n), "--end-of-options", commit, "--", at)
	if err != nil {
		return nil, fmt.Errorf("reading the history of %s: %w", p, err)
	}
	var list []Change
	for _, id := range strings.Fields(out) {
		list = append(list, Change{Commit: id, Label: short(id)})
	}
	return list, nil
}

// IsShallow tells whether older commits are missing from this clone.
func (r *Repository) IsShallow(ctx context.Context) bool {
	out, err := r.git(ctx, "rev-parse", "--is-shallow-repository")
	return err == nil && strings.TrimSpace(out) == "true"
}

// Tags lists the tags of a pattern that the history of head has, the highest
// version first, at most n.
//
// Errors: *MissingError when there is none.
func (r *Repository) Tags(ctx context.Context, pattern, head string, n int) ([]Change, error) {
	out, err := r.git(ctx, "for-each-ref", "--merged="+head, "--sort=-version:refname", fmt.Sprintf("--count=%d", n),
		"--format=%(refname:strip=2) %(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)", "refs/tags/"+pattern)
	if err != nil {
		return nil, fmt.Errorf("looking for the tags %s: %w", pattern, err)
	}
	var list []Change
	for line := range strings.Lines(out) {
		name, id, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok {
			list = append(list, Change{Commit: id, Label: name})
		}
	}
	if len(list) == 0 {
		e := &MissingError{Spec: Spec{Ref: pattern, Tags: true}, Reason: "the history of " + head + " has no such tag in this clone"}
		if remotes, err := r.git(ctx, "remote"); err == nil && strings.TrimSpace(remotes) != "" {
			e.Command = "git fetch --tags " + strings.Fields(remotes)[0]
			if r.IsShallow(ctx) {
				e.Command = "git fetch --tags --unshallow " + strings.Fields(remotes)[0]
			}
		}
		return nil, e
	}
	return list, nil
}

// State is what is known of a clone.
type State struct {
	Version string // of git
	Branch  string // that is checked out; empty for none
	Default string // the branch that others start from, such as origin/main; empty when unknown
	Remotes []string
	Shallow bool
	Commits int // that are reachable from HEAD; 0 in an empty repository
}

// State looks at the clone.
func (r *Repository) State(ctx context.Context) State {
	word := func(args ...string) string {
		out, err := r.git(ctx, args...)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(out)
	}
	s := State{Shallow: r.IsShallow(ctx), Branch: word("symbolic-ref", "--quiet", "--short", "HEAD"), Remotes: strings.Fields(word("remote"))}
	s.Version = strings.TrimPrefix(word("version"), "git version ")
	_, _ = fmt.Sscan(word("rev-list", "--count", "HEAD"), &s.Commits)
	for _, remote := range s.Remotes {
		if s.Default = word("symbolic-ref", "--quiet", "--short", "refs/remotes/"+remote+"/HEAD"); s.Default != "" {
			return s
		}
	}
	candidates := []string{"main", "master", "trunk", "develop"}
	for _, remote := range s.Remotes {
		for _, name := range candidates {
			if word("rev-parse", "--verify", "--quiet", "refs/remotes/"+remote+"/"+name) != "" {
				s.Default = remote + "/" + name
				return s
			}
		}
	}
	for _, name := range candidates {
		if word("rev-parse", "--verify", "--quiet", "refs/heads/"+name) != "" {
			s.Default = name
			return s
		}
	}
	return s
}
