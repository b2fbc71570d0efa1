package folder

import (
	"fmt"
	"path"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Naming makes subject names from one template: {path} is the file's path in
// the tree with its ending, {stem} the same without, {name} the full name that
// the file is known by (Avro named type, $id, Protobuf's first message). A
// template may begin with a context (":.ctx:{stem}"). Empty means {path} for
// Protobuf, where it is the import path, and {stem} for the others.
type Naming string

const (
	byPath = Naming("{path}")
	byStem = Naming("{stem}")
)

var placeholders = []string{"path", "stem", "name"}

// IsFixed tells whether n names every file alike.
func (n Naming) IsFixed() bool {
	return n != "" && !strings.Contains(string(n), "{")
}

// ParseNaming reads a template.
//
// Errors: an unknown placeholder, an unclosed brace.
func ParseNaming(text string) (Naming, error) {
	n := Naming(text)
	return n, n.check()
}

func (n Naming) check() error {
	_, err := n.expand(func(string) string { return "x" })
	return err
}

func (n Naming) expand(value func(placeholder string) string) (string, error) {
	var b strings.Builder
	rest := string(n)
	for {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		word, tail, closed := strings.Cut(after, "}")
		if !closed {
			return "", fmt.Errorf("subject template %q: the brace before %q is not closed", string(n), after)
		}
		known := false
		for _, p := range placeholders {
			known = known || p == word
		}
		if !known {
			return "", fmt.Errorf("subject template %q: {%s} is none of {path}, {stem}, {name}", string(n), word)
		}
		b.WriteString(value(word))
		rest = tail
	}
}

// Subject names a file as a tree of these formats would.
//
// Errors: the template asks for a name, and the file has none.
func (n Naming) Subject(e *Entry, formats []schemas.Format) (schemas.Subject, error) {
	for _, f := range formats {
		if f.Type == e.Source.Type {
			return n.subjectOf(e, f.Extensions)
		}
	}
	return n.subjectOf(e, nil)
}

// subjectOf names one file. extensions are its format's.
func (n Naming) subjectOf(e *Entry, extensions []string) (schemas.Subject, error) {
	if n == "" {
		n = byStem
		if e.Source.Type == schemas.Protobuf {
			n = byPath
		}
	}
	unnamed := false
	text, err := n.expand(func(placeholder string) string {
		switch placeholder {
		case "path":
			return e.Path
		case "stem":
			return stem(e.Path, extensions)
		}
		name := knownAs(e)
		unnamed = name == ""
		return name
	})
	if err != nil {
		return schemas.Subject{}, err
	}
	if unnamed {
		return schemas.Subject{}, fmt.Errorf("naming %s by %q: the file defines no name: declare its subject, or use {stem}", e.Path, string(n))
	}
	return schemas.ParseSubject(text), nil
}

// knownAs is the name that a file is known by wherever it lies: for Protobuf
// the first message (its first name is its path), for the others the first.
func knownAs(e *Entry) string {
	names := e.Names
	if e.Source.Type == schemas.Protobuf && len(names) > 0 {
		names = names[1:]
	}
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// stem cuts the longest ending of the format, else whatever ending there is.
func stem(p string, extensions []string) string {
	longest := ""
	for _, x := range extensions {
		if len(x) > len(longest) && strings.HasSuffix(strings.ToLower(p), x) {
			longest = p[len(p)-len(x):]
		}
	}
	if longest == "" {
		longest = path.Ext(p)
	}
	if s := strings.TrimSuffix(p, longest); path.Base(p) != longest {
		return s
	}
	return p
}
