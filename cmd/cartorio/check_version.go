package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

const ruleVersion = "schema.version-not-raised"

// bump allows the breaks of a pair whose major version was raised, where the
// configuration wants that, and tells of a pair that breaks without.
func (g *gate) bump(r result, c *compat.Comparison) {
	if !g.app.config.Gate.RequireVersionBump || r.pair.New == nil || r.pair.Old == nil {
		return
	}
	breaks := slices.ContainsFunc(c.Findings, func(f compat.Finding) bool { return f.Severity == compat.SeverityBreaking && f.Accepted == nil })
	if !breaks {
		return
	}
	before, after := versionOf(r.pair.Old), versionOf(r.pair.New)
	if major(after) > major(before) && before != "" {
		for i := range c.Findings {
			f := &c.Findings[i]
			if f.Severity == compat.SeverityBreaking {
				f.Override = &compat.Override{From: f.Severity, Source: fmt.Sprintf("gate.require_version_bump: the version went from %s to %s", before, after)}
				f.Severity = compat.Risk
			}
		}
		return
	}
	f := about(ruleVersion, compat.SeverityBreaking, r.pair.New)
	f.Subject, f.Format = r.report.Subject, r.report.Format
	f.Message = fmt.Sprintf("the schema breaks and its version went from %s to %s", orWord(before, "none"), orWord(after, "none"))
	f.Head = compat.Location{File: r.report.Label, Line: 1, Column: 1}
	f.Base = compat.Location{File: c.Old.Label, Line: 1, Column: 1}
	for _, other := range c.Findings { // labels are the same for the whole pair
		f.Head.Label, f.Base.Label = other.Head.Label, other.Base.Label
	}
	r.identify(&f, f.Path)
	g.tell(c, f)
}

// packageVersion is the last part of a package that counts versions.
var packageVersion = regexp.MustCompile(`(?:^|\.)v([0-9]+)(?:(?:alpha|beta)[0-9]*)?$`)

// versionOf is the version that a schema says of itself: the member version or
// x-version of an Avro or JSON Schema, the last part of a Protobuf package; ""
// for none.
func versionOf(e *folder.Entry) string {
	if e.Source.Type == schemas.Protobuf {
		if m := packageVersion.FindStringSubmatch(packageOf(e)); m != nil {
			return m[1]
		}
		return ""
	}
	v, err := jsontext.Parse(e.Source.Text, jsontext.Options{Depth: 1000, Text: mostPlaced, Comments: true})
	if err != nil {
		return ""
	}
	for _, name := range []string{"version", "x-version"} {
		if member := v.Get(name); member != nil && (member.Kind == jsontext.String || member.Kind == jsontext.Number) {
			return strings.Trim(member.String(), `"`)
		}
	}
	return ""
}

// major is the first number of a version; 0 for none.
func major(version string) int {
	first, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return n
}
