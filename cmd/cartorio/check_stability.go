package main

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitfs"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

const ruleStability = "schema.stability-lowered"

// unstable is a Protobuf package whose last part says that it may change.
var unstable = regexp.MustCompile(`\.v[0-9]+((alpha|beta)[0-9]*|p[0-9]+(alpha|beta)[0-9]*|test.*)$`)

// settled is how settled a configuration calls a file's subject, and the line
// that says so; "" when none does.
func (g *gate) settled(cfg config.File, e *folder.Entry) (level string, line int) {
	own := declarations{filepath.Dir(g.app.config.Name), cfg.Subjects, true, ""}.of(g.pathOf(e), e.Subject.String())
	if own.Stability != "" {
		return own.Stability, own.Line
	}
	if len(cfg.Stability) == 0 && cfg.Check.IgnoreUnstable == nil {
		return "", 0
	}
	pkg := packageOf(e)
	for _, s := range cfg.Stability {
		for _, name := range []string{e.Subject.String(), pkg} {
			if hit, _ := path.Match(s.Of.Text, name); hit || name != "" && strings.HasPrefix(name, s.Of.Text+".") {
				return s.Level, s.Of.Line
			}
		}
	}
	if cfg.Check.IgnoreUnstable != nil && unstable.MatchString("."+pkg) {
		return "draft", cfg.Check.IgnoreUnstable.Line
	}
	return "", 0
}

// stabilityOf is how settled a file's subject is, and who says so.
func (g *gate) stabilityOf(e *folder.Entry) (level, source string) {
	level, line := g.settled(g.app.config, e)
	if level == "" {
		return "", ""
	}
	return level, g.at(line) + ": stability " + level
}

// readBefore reads the configuration as it was at a base of git: a change that
// calls its own subject a draft must not pass unseen.
func (g *gate) readBefore(ctx context.Context, base *side) {
	if base == nil || base.commit == "" || g.app.config.Name == "" {
		return
	}
	dir := filepath.Dir(g.app.config.Name)
	repository, err := gitfs.Find(ctx, dir)
	if err != nil {
		return // the configuration lies outside
	}
	tree, _, err := repository.Open(ctx, base.commit, repository.Prefix)
	if err != nil {
		return // there was no such folder
	}
	defer tree.Close() //nolint:errcheck // it was only read
	text, err := fs.ReadFile(tree, filepath.Base(g.app.config.Name))
	if err != nil {
		return // there was no such file
	}
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || doc.Kind == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return // what it said cannot be told any more
	}
	r := config.NewReader(g.app.config.Name)
	members := doc.Content[0].Content
	for i := 0; i+1 < len(members); i += 2 {
		if key := members[i].Value; key == "subjects" || key == "stability" {
			r.Take(key, members[i+1])
		}
	}
	g.before = &r.File
}

// stabilityLowered tells of a subject that the same change made less settled.
func (g *gate) stabilityLowered(r result, c compat.Comparison) (compat.Finding, bool) {
	if g.before == nil || r.pair.New == nil || r.pair.Old == nil {
		return compat.Finding{}, false
	}
	now, line := g.settled(g.app.config, r.pair.New)
	was, _ := g.settled(*g.before, r.pair.Old)
	order := config.Stabilities()
	rankOf := func(level string) int {
		if level == "" {
			level = "stable" // what nobody loosened blocks
		}
		return slices.Index(order, level)
	}
	if rankOf(now) >= rankOf(was) {
		return compat.Finding{}, false
	}
	f := about(ruleStability, compat.SeverityBreaking, r.pair.New)
	f.Subject, f.Format = r.report.Subject, r.report.Format
	f.Message = fmt.Sprintf("its stability went from %s to %s", orWord(was, "stable"), now)
	f.Head = compat.Location{File: filepath.ToSlash(g.app.config.Name), Line: max(line, 1), Column: 1}
	f.Base = compat.Location{File: c.Old.Label}
	r.identify(&f, f.Path+" "+orWord(was, "stable")+" "+now)
	return f, true
}
