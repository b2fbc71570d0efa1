// Package gitfs shows a folder of a git commit as an [fs.FS].
//
// Objects are read from the object store by git itself; nothing is checked out,
// fetched or written, and no hook runs. It knows nothing of schemas. It is the
// one room that starts other programs, and git is the only one.
//
// Start with [Parse] and [Spec.Open].
package gitfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Spec names a folder or file of a commit.
type Spec struct {
	// Ref is a branch, tag, commit or any other revision that git knows.
	Ref string
	// MergeBase asks for the commit where Ref and the head parted.
	MergeBase bool
	// Tags takes Ref as a pattern of tags: the highest version of those that the
	// head has behind it is meant.
	Tags bool
	// Path is slash-separated, seen from the root of the repository; HasPath
	// tells that it was given.
	Path    string
	HasPath bool
}

// Is tells whether text has the form that Parse reads.
func Is(text string) bool { return strings.HasPrefix(text, "git:") }

// Parse reads "git:REF", "git:merge-base(REF)", "git:tags(PATTERN)", each with "#path=DIR" behind it
// or not.
//
// Errors: any other text; a REF that is empty, begins with "-" or holds a
// space, a control character or ":"; a DIR that leaves the repository.
func Parse(text string) (Spec, error) {
	rest, ok := strings.CutPrefix(text, "git:")
	if !ok {
		return Spec{}, fmt.Errorf("reading %q: a git base begins with git:", text)
	}
	var s Spec
	rest, fragment, hasFragment := strings.Cut(rest, "#")
	if hasFragment {
		dir, ok := strings.CutPrefix(fragment, "path=")
		if !ok {
			return Spec{}, fmt.Errorf("reading %q: what follows # must be path=DIR", text)
		}
		clean := path.Clean(dir)
		if dir == "" || !fs.ValidPath(clean) {
			return Spec{}, fmt.Errorf("reading %q: the path must stay inside the repository and be seen from its root", text)
		}
		s.Path, s.HasPath = clean, true
	}
	if inner, ok := strings.CutPrefix(rest, "merge-base("); ok {
		rest, ok = strings.CutSuffix(inner, ")")
		if !ok {
			return Spec{}, fmt.Errorf("reading %q: the bracket of merge-base( is not closed", text)
		}
		s.MergeBase = true
	} else if inner, ok := strings.CutPrefix(rest, "tags("); ok {
		rest, ok = strings.CutSuffix(inner, ")")
		if !ok {
			return Spec{}, fmt.Errorf("reading %q: the bracket of tags( is not closed", text)
		}
		s.Tags = true
	}
	if rest == "" {
		return Spec{}, fmt.Errorf("reading %q: the ref is missing: write git:main, for example", text)
	}
	if strings.HasPrefix(rest, "-") || strings.ContainsFunc(rest, func(r rune) bool { return r <= ' ' || r == 0x7f || r == ':' }) {
		if ref, dir, ok := strings.Cut(rest, ":"); ok && ref != "" && dir != "" && !hasFragment {
			return Spec{}, fmt.Errorf("reading %q: %q is no ref: write git:%s#path=%s", text, rest, ref, dir)
		}
		return Spec{}, fmt.Errorf("reading %q: %q is no ref", text, rest)
	}
	s.Ref = rest
	return s, nil
}

// String is the text that Parse reads.
func (s Spec) String() string {
	text := s.Ref
	if s.MergeBase {
		text = "merge-base(" + text + ")"
	}
	if s.Tags {
		text = "tags(" + text + ")"
	}
	if s.HasPath {
		text += "#path=" + s.Path
	}
	return "git:" + text
}

// ErrNoPath says that the commit is there and the path in it is not. It is an
// fs.ErrNotExist.
var ErrNoPath error = noPath{}

type noPath struct{}

func (noPath) Error() string        { return "that commit has no such path" }
func (noPath) Is(target error) bool { return target == fs.ErrNotExist }

// MissingError says that a commit is not in this clone. Command fetches it; it
// is empty when fetching cannot help: no remote is known, or history is whole.
type MissingError struct {
	Spec    Spec
	Reason  string
	Command string
	// Whole tells that the ref counts back beyond the first commit.
	Whole bool
}

// Error tells what to run.
func (e *MissingError) Error() string {
	text := fmt.Sprintf("reading %s: %s", e.Spec, e.Reason)
	if e.Whole {
		return text
	}
	if e.Command == "" {
		return text + ", and there is nowhere to fetch it from: check the spelling"
	}
	return text + ": run: " + e.Command
}

// Repository is where a folder of the disk lies.
type Repository struct {
	dir  string
	hook []string
	// Prefix is the folder's path inside the repository, "." for its root.
	Prefix string
}

// Find looks for the repository that holds dir, a folder of the disk; "" is the
// current one.
//
// Errors: git is not installed, or dir is in no repository that git will read.
func Find(ctx context.Context, dir string) (*Repository, error) {
	if dir == "" {
		dir = "."
	}
	hook, err := hookEnvironment()
	if err != nil {
		return nil, fmt.Errorf("looking for the git repository of %s: %w", dir, err)
	}
	r := &Repository{dir: dir, hook: hook}
	out, err := r.git(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, fmt.Errorf("looking for the git repository of %s: %w", dir, err)
	}
	r.Prefix = path.Clean(strings.TrimSuffix(strings.TrimSuffix(out, "\n"), "/"))
	return r, nil
}

// Commit answers the full id of the commit that spec names. head is the commit
// that a merge base is sought with: an id, or HEAD.
//
// Errors: *MissingError.
func (r *Repository) Commit(ctx context.Context, s Spec, head string) (string, error) {
	if s.Tags {
		list, err := r.Tags(ctx, s.Ref, head, 1)
		if err != nil {
			return "", err
		}
		return list[0].Commit, nil
	}
	out, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", s.Ref+"^{commit}")
	if err != nil {
		if stopped(ctx, err) {
			return "", fmt.Errorf("reading %s: %w", s, err)
		}
		return "", r.missing(ctx, s, s.Ref+" is not in this clone")
	}
	commit := strings.TrimSpace(out)
	if !s.MergeBase {
		return commit, nil
	}
	out, err = r.git(ctx, "merge-base", head, commit)
	if err != nil {
		if stopped(ctx, err) {
			return "", fmt.Errorf("reading %s: %w", s, err)
		}
		return "", r.missing(ctx, s, "no commit is known that the head and "+s.Ref+" have in common")
	}
	return strings.TrimSpace(out), nil
}

// Added lists the files at or under p that came into being on the way from commit
// to head, an id or HEAD: sorted, as seen from p, "." for p itself.
func (r *Repository) Added(ctx context.Context, commit, head, p string) ([]string, error) {
	at := ":(top,literal)" + p
	if p == "." {
		at = ":(top)"
	}
	out, err := r.git(ctx, "-c", "log.showSignature=false", "-c", "diff.relative=false", "log", "--format=", "--name-only", "-z", "--no-renames", "--diff-filter=A",
		"--end-of-options", commit+".."+head, "--", at)
	if err != nil {
		return nil, fmt.Errorf("looking for the commits that added %s: %w", p, err)
	}
	var names []string
	for name := range strings.SplitSeq(out, "\x00") {
		switch name = strings.TrimPrefix(name, "\n"); {
		case name == "":
		case p == ".":
			names = append(names, name)
		case name == p:
			names = append(names, ".")
		default:
			names = append(names, strings.TrimPrefix(name, p+"/"))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

var (
	hexID   = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	release = regexp.MustCompile(`^v?[0-9]+\.[0-9]`)
	steps   = regexp.MustCompile(`[~^@].*$`)
)

// missing builds the command that makes spec readable, for the depth and remote
// of this clone.
func (r *Repository) missing(ctx context.Context, s Spec, reason string) error {
	e := &MissingError{Spec: s, Reason: reason}
	out, _ := r.git(ctx, "rev-parse", "--is-shallow-repository")
	shallow := strings.TrimSpace(out) == "true"
	if from := steps.ReplaceAllString(s.Ref, ""); from != s.Ref && s.Ref[len(from)] != '@' && !shallow {
		if _, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", from+"^{commit}"); err == nil {
			e.Reason, e.Whole = from+" has no such parent: its history ends before", true
			if s.Ref == from+"~1" || s.Ref == from+"~" || s.Ref == from+"^" || s.Ref == from+"^1" {
				e.Reason = from + " has no parent: it is the first commit"
			}
			return e
		}
	}
	out, err := r.git(ctx, "remote")
	if err != nil {
		return e
	}
	remotes := strings.Fields(out)
	if len(remotes) == 0 {
		return e
	}
	remote, ref := remotes[0], strings.TrimPrefix(s.Ref, "refs/remotes/")
	tracked := false
	for _, name := range remotes {
		if name == "origin" {
			remote = name
		}
	}
	for _, name := range remotes {
		if branch, ok := strings.CutPrefix(ref, name+"/"); ok {
			remote, ref, tracked = name, branch, true
		}
	}
	base := steps.ReplaceAllString(ref, "")
	depth := ""
	start, _, _ := strings.Cut(s.Ref, ref)
	switch _, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", start+base+"^{commit}"); {
	case err == nil && shallow:
		// The ref, or where it starts from, is there: history is what lacks.
		e.Command = "git fetch --unshallow " + remote
		return e
	case err == nil:
		return e
	case shallow && !s.MergeBase:
		depth = "--depth=1 "
	case shallow:
		depth = "--unshallow "
	}
	e.Command = "git fetch " + depth + remote + " "
	switch {
	case hexID.MatchString(base):
		e.Command += base
	case tracked:
		e.Command += quote("+refs/heads/" + base + ":refs/remotes/" + remote + "/" + base)
	case strings.HasPrefix(base, "refs/"):
		e.Command += quote("+" + base + ":" + base)
	case release.MatchString(base):
		e.Command += "tag " + quote(base)
	default:
		e.Command += quote(base + ":" + base)
	}
	return e
}

// quote makes a word safe to paste into a shell.
func quote(word string) string {
	if !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+:/._-@", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// stopped tells whether a failure has nothing to do with what git found.
func stopped(ctx context.Context, err error) bool {
	var exit *exec.ExitError
	return ctx.Err() != nil || !errors.As(err, &exit)
}

// git runs one command in the repository and answers what it prints.
func (r *Repository) git(ctx context.Context, args ...string) (string, error) {
	cmd := r.command(ctx, args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return "", explain(err, complaint.String())
	}
	return out.String(), nil
}

func (r *Repository) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", r.dir, "--no-pager"}, args...)...)
	// One language for what we read; no question, no lock. No protocol is allowed,
	// since a partial clone would else fetch the objects that it left out.
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	cmd.Env = append(cmd.Env, r.hook...)
	return cmd
}

// hookEnvironment makes absolute what git tells a hook by paths seen from the
// current folder: git is started in another one. A repository named without its
// work tree has the current folder for it.
func hookEnvironment() ([]string, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range []string{"GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"} {
		value := os.Getenv(name)
		if value == "" {
			continue
		}
		list := filepath.SplitList(value)
		for i, p := range list {
			if !filepath.IsAbs(p) {
				list[i] = filepath.Join(here, p)
			}
		}
		out = append(out, name+"="+strings.Join(list, string(filepath.ListSeparator)))
	}
	if os.Getenv("GIT_DIR") != "" && os.Getenv("GIT_WORK_TREE") == "" {
		out = append(out, "GIT_WORK_TREE="+here)
	}
	return out, nil
}

// gitError is a failure that git explained; what its process exited with helps
// nobody.
type gitError struct {
	exit error
	text string
}

func (e *gitError) Error() string { return e.text }
func (e *gitError) Unwrap() error { return e.exit }

// explain adds the first line that git complained with.
func explain(err error, complaint string) error {
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("git is not installed or not on PATH")
	}
	line, _, _ := strings.Cut(strings.TrimSpace(complaint), "\n")
	if line == "" {
		return err
	}
	line = strings.TrimPrefix(line, "fatal: ")
	if strings.Contains(line, "dubious ownership") {
		if _, dir, ok := strings.Cut(line, "'"); ok {
			line += ": run: git config --global --add safe.directory " + quote(strings.TrimSuffix(dir, "'"))
		}
	}
	return &gitError{err, line}
}
