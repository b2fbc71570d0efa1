package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitfs"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// surveyed is what init saw in a repository.
type surveyed struct {
	counts   map[schemas.Type]int
	broken   int
	head     string // the folder that holds all schemas, "." for the root
	base     string // what a pull request starts from
	buf      string // the category of buf.yaml; empty for none
	platform string
}

func (a *app) initCommand() *cobra.Command {
	var platform string
	var force, dry bool
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Look at a repository, and write a cartorio.yaml and a workflow",
		Long: `Looks at the repository of DIR (default: here): which schemas there are and where,
which branch others start from, what runs its checks. Writes a commented
cartorio.yaml, and the workflow of the platform: .github/workflows/schemas.yml, or
.gitlab/cartorio.yml to be included. A file that is there is left alone unless
--force says so; --dry-run prints instead of writing.`,
		Example: "  cartorio init\n  cartorio init --platform gitlab --dry-run",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			if !slices.Contains([]string{"auto", "github", "gitlab", "none"}, platform) {
				return failf(exitUsage, "--platform %q is none of auto, github, gitlab, none", platform)
			}
			return a.init(cmd.Context(), dir, platform, force, dry)
		},
	}
	f := cmd.Flags()
	f.StringVar(&platform, "platform", "auto", "auto, github, gitlab or none")
	f.BoolVar(&force, "force", false, "write over files that are there")
	f.BoolVar(&dry, "dry-run", false, "print what would be written")
	oneOf(cmd, "platform", "auto", "github", "gitlab", "none")
	for _, name := range []string{"platform", "force", "dry-run"} {
		keyed(cmd, name, keyBelow("init", name), "CARTORIO_INIT_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	}
	return cmd
}

func (a *app) init(ctx context.Context, dir, platform string, force, dry bool) error {
	s, err := survey(ctx, dir)
	if err != nil {
		return err
	}
	if platform != "auto" {
		s.platform = platform
	}
	files := [][2]string{{configName, s.configuration()}}
	switch s.platform {
	case "github":
		files = append(files, [2]string{".github/workflows/schemas.yml", s.github()})
	case "gitlab":
		files = append(files, [2]string{".gitlab/cartorio.yml", s.gitlab()})
	}
	var there []string
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f[0]))); err == nil {
			there = append(there, f[0])
		}
	}
	if len(there) > 0 && !force && !dry {
		be := "is"
		if len(there) > 1 {
			be = "are"
		}
		return failf(exitUsage, "%s %s there already: nothing was written: say --force to write over it, or --dry-run to see what would be", strings.Join(there, ", "), be)
	}
	var b strings.Builder
	for _, f := range files {
		if dry {
			fmt.Fprintf(&b, "# %s\n%s\n", f[0], f[1])
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(f[0]))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // others read it
			return failf(exitNotCompared, "writing %s: %w", f[0], bare(err))
		}
		if err := a.write(file, func(w io.Writer, _ bool) error { _, err := io.WriteString(w, f[1]); return err }); err != nil {
			return err
		}
		fmt.Fprintf(&b, "wrote %s\n", f[0])
	}
	if !dry {
		fmt.Fprintf(&b, "%s\n", s.told())
		if s.platform == "none" && platform == "auto" {
			b.WriteString("no workflow was written, since nothing says what runs the checks here: --platform github or gitlab writes one\n")
		}
		if s.platform == "gitlab" { // which runs nothing that is not included
			b.WriteString("add to .gitlab-ci.yml: include: [{local: .gitlab/cartorio.yml}]\n")
		}
		fmt.Fprintf(&b, "try: cartorio check %s\n", s.head)
	}
	_, err = io.WriteString(a.out, b.String())
	return err
}

// survey looks at a folder as check would.
func survey(ctx context.Context, dir string) (surveyed, error) {
	s := surveyed{counts: map[schemas.Type]int{}, platform: "none", head: "."}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return s, failf(exitNotCompared, "reading %s: %w", dir, bare(err))
	}
	defer root.Close() //nolint:errcheck // it was only read
	ignored, err := ignoredIn(ctx, dir)
	if err != nil {
		return s, failf(exitNotCompared, "reading %s: %w", dir, err)
	}
	f, err := folder.Open(ctx, root.FS(), folder.Options{Formats: formats.All, Skip: ignored})
	if err != nil {
		return s, failf(exitNotCompared, "reading %s: %w", dir, err)
	}
	var paths []string
	for _, e := range f.Entries {
		if e.Err != nil {
			s.broken++
		}
		s.counts[e.Source.Type]++
		paths = append(paths, e.Path)
	}
	s.head = above(paths)
	s.buf = bufCategory(root.FS())
	for name, platform := range map[string]string{".github": "github", ".gitlab-ci.yml": "gitlab"} {
		if _, err := fs.Stat(root.FS(), name); err == nil && s.platform != "github" {
			s.platform = platform
		}
	}
	if repositoryRoot(dir) != "" {
		if repository, err := gitfs.Find(ctx, dir); err == nil {
			s.base = repository.State(ctx).Default
		}
	}
	return s, nil
}

// above is the deepest folder that holds all files.
func above(paths []string) string {
	if len(paths) == 0 {
		return "."
	}
	common := path.Dir(paths[0])
	for _, p := range paths[1:] {
		for common != "." && !strings.HasPrefix(p, common+"/") {
			common = path.Dir(common)
		}
	}
	return common
}

// bufCategory is the rule set that a buf.yaml asks of breaking.
func bufCategory(fsys fs.FS) string {
	text, err := fs.ReadFile(fsys, "buf.yaml")
	if err != nil {
		return ""
	}
	_, breaking, ok := strings.Cut(string(text), "breaking:")
	if !ok {
		return "FILE" // what buf takes when nothing is said
	}
	words := strings.FieldsFunc(breaking, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
	for _, w := range words {
		if slices.Contains([]string{"FILE", "PACKAGE", "WIRE_JSON", "WIRE", "CSR"}, w) {
			return w
		}
	}
	return "FILE"
}

func (s surveyed) told() string {
	var parts []string
	for _, t := range []struct {
		kind schemas.Type
		name string
	}{{schemas.Avro, "Avro"}, {schemas.JSON, "JSON Schema"}, {schemas.Protobuf, "Protobuf"}} {
		if n := s.counts[t.kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, t.name))
		}
	}
	if len(parts) == 0 {
		return "no schema was found: put one here, or look into another folder"
	}
	text := "found " + strings.Join(parts, ", ") + " under " + s.head
	if s.broken > 0 {
		text += fmt.Sprintf("; %s not readable: check tells why", plural(s.broken, "file is", "files are"))
	}
	return text
}

func (s surveyed) against() string {
	return "git:merge-base(" + orWord(s.base, "origin/main") + ")"
}

// configuration is the file, with what is not needed in comments.
func (s surveyed) configuration() string {
	var b strings.Builder
	b.WriteString("# Cartório: what `cartorio check` asks of the schemas in this repository.\n# Every key: https://github.com/cartorio-registry/cartorio/blob/main/docs/configuration.md\n# Where a value comes from: cartorio doctor.\nversion: 1\n\n")
	fmt.Fprintf(&b, "check:\n  # What a change is compared with. Read from git; nothing is checked out.\n  against: %s\n", s.against())
	b.WriteString("  # Paths that the gate does not look at.\n  # ignore: [examples/**]\n\n")
	b.WriteString("defaults:\n  # BACKWARD: new readers read old data. FORWARD: old readers read new data. FULL: both.\n  level: BACKWARD\n")
	if s.counts[schemas.Protobuf] > 0 {
		if s.buf != "" {
			fmt.Fprintf(&b, "  # Protobuf is judged by this rule set of buf, as buf.yaml has it.\n  category: %s\n", s.buf)
		} else {
			b.WriteString("  # For Protobuf, a rule set of buf instead of the level: FILE, PACKAGE, WIRE_JSON or WIRE.\n  # category: WIRE_JSON\n")
		}
	}
	if s.counts[schemas.JSON] > 0 {
		b.WriteString("  # LENIENT loosens JSON Schema's closed models.\n  # policy: LENIENT\n")
	}
	b.WriteString("\ngate:\n  # breaking or risk: the lowest severity that fails a pull request.\n  fail_on: breaking\n\n")
	b.WriteString("# Subjects whose names or levels differ.\n# subjects:\n# - {name: orders-value, file: schemas/order.avsc, level: FULL, owner: team-orders}\n# - {files: 'events/*.avsc', name: '{name}-value', stability: beta}\n\n")
	b.WriteString("# How settled a subject or package is: draft and alpha are not gated, beta warns.\n# stability:\n#   com.acme.preview: alpha\n\n")
	b.WriteString("# registry:\n#   url: https://registry.example\n")
	return b.String()
}

func (s surveyed) headArgument() string {
	if s.head == "." {
		return ""
	}
	if strings.ContainsFunc(s.head, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-", r)
	}) {
		return "'" + strings.ReplaceAll(s.head, "'", `'\''`) + "' "
	}
	return s.head + " "
}

const modulePath = "github.com/cartorio-registry/cartorio"

// released are the versions that are tags of the repository.
var released = regexp.MustCompile(`^v\d+\.\d+\.\d+(-(rc|beta|alpha)[.0-9]*)?$`)

// pinned is what a workflow names this very cartorio by: the whole commit, which
// nobody can move, else the tag; remark says which release that is, or that nothing
// better is known. otherwise is what stands there when neither is known.
func pinned(b build, otherwise string) (ref, remark string) {
	isTag := released.MatchString(b.Version)
	switch {
	case len(b.Commit) == 40 && isTag:
		return b.Commit, " # " + b.Version
	case len(b.Commit) == 40:
		return b.Commit, ""
	case isTag:
		return b.Version, ""
	}
	return otherwise, " # this build knows neither its commit nor its tag: name one"
}

func (s surveyed) github() string {
	ref, remark := pinned(readBuild(), "main")
	with := ""
	if s.head != "." {
		with = "\n        with:\n          path: " + yamlText(s.head)
	}
	return `name: schemas
on:
  pull_request:
  push:
    branches: [` + yamlText(s.branch()) + `]
permissions:
  contents: read
  pull-requests: write # for the one comment that it keeps up to date
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0 # the base is read from history
      - uses: actions/setup-go@v5 # the action is built from the commit that is named
        with:
          go-version: stable
      - uses: cartorio-registry/cartorio/action@` + ref + remark + with + "\n"
}

// branch is the one that others start from.
func (s surveyed) branch() string {
	return strings.TrimPrefix(orWord(s.base, "main"), "origin/")
}

// yamlText writes a text so that YAML reads it as one, in a list too.
func yamlText(text string) string {
	if plainYAML.MatchString(text) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off"}, strings.ToLower(text)) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

var plainYAML = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9/._-]*$`)

func (s surveyed) gitlab() string {
	ref, remark := pinned(readBuild(), "latest")
	return `# In .gitlab-ci.yml:
#   include: [{local: .gitlab/cartorio.yml}]
schemas:
  image: golang:latest
  variables:
    GIT_DEPTH: 0 # the base is read from history
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    # The widget shows the difference to the report of the default branch.
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - go install ` + modulePath + `/cmd/cartorio@` + ref + remark + `
    - git fetch origin "${CI_MERGE_REQUEST_TARGET_BRANCH_NAME:-$CI_DEFAULT_BRANCH}"
    - cartorio check ` + s.headArgument() + `--against "git:merge-base(FETCH_HEAD)" --format text --format gitlab-code-quality=code-quality.json --format junit=junit.xml
  artifacts:
    when: always
    reports:
      codequality: code-quality.json
      junit: junit.xml
`
}
