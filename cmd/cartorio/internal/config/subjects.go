package config

import (
	"path"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// Subject is one declared subject, or the subjects of a glob.
type Subject struct {
	Line int
	Name string // or a template, with Files
	// File is the newest version: slash-separated, seen from the configuration's
	// folder. It is empty with Files, and where only the subject's settings are
	// declared.
	File  string
	Files string // a glob instead of File
	Type  schemas.Type
	// History are the versions before File, the oldest first.
	History   []Version
	Choices   Choices
	Mode      string // READWRITE, READONLY or READONLY_OVERRIDE; empty is not said
	Alias     string // the subject that this one stands for; empty is not said
	Owner     string
	Stability string
	// PartitionKey is the field by which messages are spread over partitions or
	// groups; empty is not said.
	PartitionKey string
	// References is nil for "auto", else the references to register with: a
	// version of 0 is the one that the declared subject gets, or the latest.
	References []schemas.Reference
	Metadata   *schemas.Metadata // nil is not said
}

// Version is a version before the newest.
type Version struct {
	File       string
	References []schemas.Reference
	Metadata   *schemas.Metadata
}

func (r *Reader) subjects(list *yaml.Node) {
	if list.Kind != yaml.SequenceNode {
		r.complain(list, "subjects is no list")
		return
	}
	claimed := map[string]string{}
	for _, item := range list.Content {
		s := Subject{Line: item.Line}
		if item.Kind == yaml.ScalarNode && item.Tag == "!!str" && item.Value != "" {
			// A name alone: the repository owns the subject and registers nothing.
			s.Name = item.Value
			r.File.Subjects = append(r.File.Subjects, s)
			continue
		}
		if item.Kind != yaml.MappingNode {
			r.complain(item, "a subject is a mapping with name and file, or its name alone")
			continue
		}
		members := r.choices(&s.Choices)
		members["name"] = func(n *yaml.Node) { r.text("subjects: name", n, &s.Name) }
		members["file"] = func(n *yaml.Node) { r.file("subjects: file", n, &s.File) }
		members["history"] = func(n *yaml.Node) { s.History = r.history(n) }
		members["files"] = func(n *yaml.Node) {
			if r.text("subjects: files", n, &s.Files) {
				if err := folder.CheckPattern(s.Files); err != nil {
					r.complain(n, "subjects: %v", err)
				}
			}
		}
		members["type"] = func(n *yaml.Node) {
			kind, err := schemas.ParseType(n.Value)
			if err != nil {
				r.complain(n, "subjects: %v", err)
			}
			s.Type = kind
		}
		members["owner"] = func(n *yaml.Node) { r.text("subjects: owner", n, &s.Owner) }
		members["stability"] = func(n *yaml.Node) { r.choice("subjects: stability", n, &s.Stability, stabilities...) }
		members["partition_key"] = func(n *yaml.Node) { r.text("subjects: partition_key", n, &s.PartitionKey) }
		members["mode"] = func(n *yaml.Node) {
			r.choice("subjects: mode", n, &s.Mode, "READWRITE", "READONLY", "READONLY_OVERRIDE")
		}
		members["alias"] = func(n *yaml.Node) { r.text("subjects: alias", n, &s.Alias) }
		members["references"] = func(n *yaml.Node) { s.References = r.references(n) }
		members["metadata"] = func(n *yaml.Node) { s.Metadata = r.metadata("subjects: metadata", n) }
		before := len(r.Faults)
		r.mapping("subjects", item, members)
		if len(r.Faults) > before {
			continue
		}
		switch {
		case s.Name == "" && s.Files == "":
			r.complain(item, "a subject needs a name: with file that of the subject, with files a template")
		case s.File != "" && s.Files != "":
			r.complain(item, "subjects: %s has both file and files: take one", s.Name)
		case len(s.History) > 0 && s.File == "":
			r.complain(item, "subjects: %s has a history and no file: the newest version is file", s.Name)
		case s.Files != "" && (s.Alias != "" || s.Metadata != nil && s.Metadata.Properties["confluent:version"] != ""):
			r.complain(item, "subjects: %s has an alias, or a version in its metadata, for many subjects", s.Name)
		case s.Files != "":
			if _, err := folder.ParseNaming(s.Name); err != nil {
				r.complain(item, "subjects: %v", err)
			}
			r.File.Subjects = append(r.File.Subjects, s)
		default:
			r.claim(item, s, claimed)
			r.File.Subjects = append(r.File.Subjects, s)
		}
	}
}

// claim notes the files of a subject: each belongs to one.
func (r *Reader) claim(item *yaml.Node, s Subject, claimed map[string]string) {
	files := []string{s.File}
	for _, v := range s.History {
		files = append(files, v.File)
	}
	for _, file := range files {
		if file == "" {
			continue
		}
		if claimed[file] != "" {
			r.complain(item, "subjects: %s is claimed by %s and %s", file, claimed[file], s.Name)
		}
		claimed[file] = s.Name
	}
}

func (r *Reader) file(key string, n *yaml.Node, to *string) {
	if r.text(key, n, to) {
		*to = path.Clean(strings.ReplaceAll(*to, `\`, "/"))
	}
}

// history reads the versions before the newest: file names, or mappings of file,
// references and metadata.
func (r *Reader) history(n *yaml.Node) []Version {
	if n.Kind != yaml.SequenceNode {
		r.complain(n, "subjects: history is no list of files")
		return nil
	}
	var list []Version
	for _, item := range n.Content {
		var v Version
		if item.Kind == yaml.ScalarNode {
			r.file("subjects: history", item, &v.File)
		} else {
			r.mapping("history", item, map[string]func(*yaml.Node){
				"file":       func(n *yaml.Node) { r.file("history: file", n, &v.File) },
				"references": func(n *yaml.Node) { v.References = r.references(n) },
				"metadata":   func(n *yaml.Node) { v.Metadata = r.metadata("history: metadata", n) },
			})
		}
		if v.File == "" {
			r.complain(item, "subjects: a version of the history needs a file")
		}
		list = append(list, v)
	}
	return list
}

// metadata reads properties, tags and the names of sensitive properties.
func (r *Reader) metadata(key string, n *yaml.Node) *schemas.Metadata {
	m := &schemas.Metadata{}
	r.mapping(key, n, map[string]func(*yaml.Node){
		"properties": func(n *yaml.Node) {
			m.Properties = map[string]string{}
			r.members(key+".properties", n, func(name string, _, value *yaml.Node) {
				var text string
				if r.text(key+".properties: "+name, value, &text) {
					m.Properties[name] = text
				}
			})
		},
		"tags": func(n *yaml.Node) {
			m.Tags = map[string][]string{}
			r.members(key+".tags", n, func(name string, _, value *yaml.Node) {
				for _, e := range r.texts(key+".tags: "+name, value) {
					m.Tags[name] = append(m.Tags[name], e.Text)
				}
			})
		},
		"sensitive": func(n *yaml.Node) {
			for _, e := range r.texts(key+".sensitive", n) {
				m.Sensitive = append(m.Sensitive, e.Text)
			}
		},
	})
	return m
}

// references reads auto, which is nil, or a list.
func (r *Reader) references(n *yaml.Node) []schemas.Reference {
	if n.Kind == yaml.ScalarNode && n.Value == "auto" {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.complain(n, "subjects: references is neither auto nor a list")
		return nil
	}
	list := []schemas.Reference{}
	for _, item := range n.Content {
		var ref schemas.Reference
		version := ""
		r.mapping("references", item, map[string]func(*yaml.Node){
			"name":    func(n *yaml.Node) { r.text("references: name", n, &ref.Name) },
			"subject": func(n *yaml.Node) { r.text("references: subject", n, &ref.Subject) },
			"version": func(n *yaml.Node) { r.text("references: version", n, &version) },
		})
		v, err := schemas.ParseVersion(version)
		if version != "" && err != nil {
			r.complain(item, "references: %v", err)
		}
		if ref.Version = v; v == schemas.Latest {
			ref.Version = 0
		}
		if ref.Name == "" || ref.Subject == "" {
			r.complain(item, "a reference needs both name and subject")
		}
		list = append(list, ref)
	}
	return list
}
