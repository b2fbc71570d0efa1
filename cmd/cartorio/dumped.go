package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cartorio-registry/cartorio/schemas"
)

// dumpFolder is where dump puts schemas. Older versions lie in a folder that is
// not walked: a tree with two versions of a name could not be read.
const dumpFolder = "schemas"

// dumpEndings are those of the files that dump writes.
var dumpEndings = map[schemas.Type]string{schemas.Avro: ".avsc", schemas.JSON: ".json", schemas.Protobuf: ".proto"}

// The form of cartorio.yaml, as far as dump writes it.
type dumpedFile struct {
	Version  int             `yaml:"version"`
	Registry *dumpedRegistry `yaml:"registry,omitempty"`
	Scope    *dumpedScope    `yaml:"scope,omitempty"`
	Defaults *dumpedChoices  `yaml:"defaults,omitempty"`
	Subjects []dumpedSubject `yaml:"subjects"`
}

type dumpedRegistry struct {
	Context string `yaml:"context"`
}

type dumpedScope struct {
	Prefix string `yaml:"prefix"`
}

type dumpedChoices struct {
	Level         string `yaml:"level,omitempty"`
	Policy        string `yaml:"policy,omitempty"`
	VerdictPolicy string `yaml:"verdict_policy,omitempty"`
}

type dumpedSubject struct {
	Name          string       `yaml:"name"`
	File          string       `yaml:"file,omitempty"`
	Type          schemas.Type `yaml:"type,omitempty"`
	dumpedChoices `yaml:",inline"`
	Normalize     *bool            `yaml:"normalize,omitempty"`
	Mode          string           `yaml:"mode,omitempty"`
	Alias         string           `yaml:"alias,omitempty"`
	References    dumpedReferences `yaml:"references,omitempty"`
	Metadata      *dumpedMetadata  `yaml:"metadata,omitempty"`
	History       []dumpedVersion  `yaml:"history,omitempty"`
}

type dumpedVersion struct {
	File       string           `yaml:"file"`
	References dumpedReferences `yaml:"references"` // always: none is not the newest's
	Metadata   *dumpedMetadata  `yaml:"metadata,omitempty"`
}

type dumpedReferences []dumpedReference

type dumpedReference struct {
	Name    string `yaml:"name"`
	Subject string `yaml:"subject"`
	Version int    `yaml:"version,omitempty"`
}

type dumpedMetadata struct {
	Properties map[string]string   `yaml:"properties,omitempty"`
	Tags       map[string][]string `yaml:"tags,omitempty"`
	Sensitive  []string            `yaml:"sensitive,omitempty"`
}

func dumpedMetadataOf(m *schemas.Metadata) *dumpedMetadata {
	if m == nil {
		return nil
	}
	return &dumpedMetadata{m.Properties, m.Tags, m.Sensitive}
}

func (f dumpedFile) bytes() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# Written by cartorio dump. cartorio plan compares it with a registry, and\n# cartorio apply makes a registry alike.\n")
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(f); err != nil {
		return nil, fmt.Errorf("writing %s: %w", configName, err)
	}
	return b.Bytes(), nil
}

// laidOut is a text as people read it. Canonical forms do not see the layout.
func laidOut(s schemas.Source) string {
	text := s.Text
	var b bytes.Buffer
	if s.Type != schemas.Protobuf && json.Indent(&b, []byte(text), "", "  ") == nil {
		text = b.String()
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// pathOf is a file for a subject: its name, or the one that it is imported by,
// with what file systems do not take escaped. No two are one where upper and lower case count as the same.
func (d *dump) pathOf(s schemas.Subject, kind schemas.Type) string {
	name := s.Name
	if as := d.imported[s]; kind == schemas.Protobuf && as != "" {
		name = as
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = escaped(part)
	}
	stem := strings.Join(parts, "/")
	if ending := dumpEndings[kind]; strings.HasSuffix(strings.ToLower(stem), ending) && len(path.Base(stem)) > len(ending) {
		stem = stem[:len(stem)-len(ending)]
	}
	for n := 1; ; n++ {
		file := stem
		if n > 1 {
			file = fmt.Sprintf("%s~%d", stem, n)
		}
		file = dumpFolder + "/" + file + dumpEndings[kind]
		if key := strings.ToLower(file); !d.taken[key] {
			d.taken[key] = true
			return file
		}
	}
}

// reservedOnWindows cannot be names of files there, with any ending.
var reservedOnWindows = map[string]bool{"con": true, "prn": true, "aux": true, "nul": true}

func escaped(part string) string {
	var b strings.Builder
	for i := range len(part) {
		c := part[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' && i > 0
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	text := b.String()
	if first, _, _ := strings.Cut(strings.ToLower(text), "."); text == "" || reservedOnWindows[first] {
		text = "%" + text
	}
	if len(text) > 200 { // most file systems take 255 bytes
		text = text[:200]
	}
	return text
}
