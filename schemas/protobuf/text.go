package protobuf

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"

	"github.com/cartorio-registry/cartorio/schemas"
)

// unit is one parsed text. It may be shared by many graphs.
type unit struct {
	path string
	file *File
	scan *scanned
	// symbols and canonical are made at their first use.
	symbols   func() symbols
	canonical func() string

	counted sync.Once
	effort  int // see graph.effortOf

	mu    sync.Mutex
	known *known
	root  *ast.FileNode // nil where it was not needed, and once it was released
}

// known is the fingerprint of a unit that was asked for last.
type known struct {
	names       []string
	uses        []schemas.Fingerprint
	fingerprint schemas.Fingerprint
}

// fingerprint is the unit's with what its references are; a tree asks for the
// same one again and again.
func (u *unit) fingerprint(names []string, uses []schemas.Fingerprint) schemas.Fingerprint {
	u.mu.Lock()
	last := u.known
	u.mu.Unlock()
	if last == nil || !slices.Equal(last.names, names) || !slices.Equal(last.uses, uses) {
		last = &known{names, uses, schemas.FingerprintOf(schemas.Protobuf, u.canonical(), names, uses)}
		u.mu.Lock()
		u.known = last
		u.mu.Unlock()
	}
	return last.fingerprint
}

func newUnit(path string, f *File, s *scanned, tree *ast.FileNode) *unit {
	u := &unit{path: path, file: f, scan: s, root: tree}
	u.symbols = sync.OnceValue(func() symbols { return symbolsOf(u.file) })
	u.canonical = sync.OnceValue(func() string { return u.file.print(true) })
	return u
}

// tree is the syntax tree, parsed now if it is not there.
//
// Errors: none for a text that parsed once.
func (u *unit) tree() (*ast.FileNode, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.root == nil {
		return parser.Parse(u.path, strings.NewReader(u.scan.text), reporter.NewHandler(nil))
	}
	return u.root, nil
}

// hasWeak tells whether the text has a weak import, which a schema changes in
// its own file.
func (u *unit) hasWeak() bool {
	return slices.ContainsFunc(u.file.Imports, func(i Import) bool { return i.Weak })
}

// release drops the syntax tree, which is many times the size of the rest.
func (u *unit) release() {
	u.mu.Lock()
	u.root = nil
	u.mu.Unlock()
}

// readSource parses a text, or else the base64 of a descriptor.
//
// Errors: schemas.SyntaxErrors, *schemas.LimitError.
func readSource(path, text string, limits schemas.Limits, stored bool) (*unit, error) {
	u, err := readText(path, text, limits, stored)
	var limit *schemas.LimitError
	if err == nil || errors.As(err, &limit) && limit.Limit == schemas.LimitText {
		return u, err
	}
	// Any other limit may be one of names or digits, which base64 is full of.
	canonical, ok, problem := textOfBase64(text)
	switch {
	case !ok:
		return nil, err
	case problem != nil:
		return nil, schemas.SyntaxErrors{{Summary: "the base64 text is a file descriptor that cannot be used", Detail: problem.Error()}}
	}
	return readText(path, canonical, limits, stored)
}

// readText parses one text to its File, resolving nothing.
//
// Errors: schemas.SyntaxErrors, *schemas.LimitError.
func readText(path, text string, limits schemas.Limits, stored bool) (u *unit, err error) {
	if stored {
		limits = schemas.DefaultLimits()
	}
	s, err := scan(text, limits, stored)
	if err != nil {
		return nil, err
	}
	if len(s.breaks) == 0 {
		if f, ok := plainFile(path, s.text); ok {
			return newUnit(path, f, s, nil), nil
		}
	}
	return parseText(path, s)
}

// parseText is the rest of readText, by the parser.
func parseText(path string, s *scanned) (u *unit, err error) {
	defer func() {
		if p := recover(); p != nil {
			u, err = nil, schemas.SyntaxErrors{{Summary: "the text cannot be parsed", Detail: fmt.Sprintf("the parser gave up: %v", p)}}
		}
	}()
	c := &collector{scans: map[string]*scanned{path: s}, main: path}
	tree, err := parser.Parse(path, strings.NewReader(s.text), reporter.NewHandler(c.reporter()))
	if tree != nil && tree.Edition != nil {
		if edition := tree.Edition.Edition.AsString(); edition != "2023" {
			at := s.position(tree.NodeInfo(tree.Edition.Edition).Start().Offset)
			return nil, schemas.SyntaxErrors{{
				Position: at, Summary: fmt.Sprintf("edition %q is not supported", edition),
				Detail: `use edition "2023", or syntax "proto3" or "proto2"`,
			}}
		}
	}
	if err != nil {
		return nil, c.errors(err)
	}
	return newUnit(path, build(path, tree, s), s, tree), nil
}

// collector gathers what the compiler says.
type collector struct {
	main  string
	scans map[string]*scanned
	list  schemas.SyntaxErrors
	seen  map[schemas.SyntaxError]bool
}

func (c *collector) reporter() reporter.Reporter {
	return reporter.NewReporter(func(err reporter.ErrorWithPos) error {
		c.add(err)
		return nil
	}, nil)
}

// mostErrors bounds what is kept: a text can have an error for each byte.
const mostErrors = 200

func (c *collector) add(err reporter.ErrorWithPos) {
	if len(c.list) >= mostErrors {
		return
	}
	at := err.GetPosition()
	one := schemas.SyntaxError{Summary: c.summary(err.Unwrap().Error())}
	if s := c.scans[at.Filename]; s != nil && at.Line > 0 {
		one.Position = s.position(at.Offset)
	}
	if at.Filename != c.main {
		one.Detail = fmt.Sprintf("in the file %q, at line %s", at.Filename, one.Position)
		one.Position = schemas.Position{}
	}
	if c.seen == nil {
		c.seen = map[schemas.SyntaxError]bool{}
	}
	if !c.seen[one] {
		c.seen[one] = true
		c.list = append(c.list, one)
	}
}

// otherPlace is how the compiler writes a second place inside a message.
var otherPlace = regexp.MustCompile(`\bat (\S+):(\d+):(\d+)`)

// summary rewrites places to the text as given.
func (c *collector) summary(text string) string {
	return otherPlace.ReplaceAllStringFunc(text, func(found string) string {
		m := otherPlace.FindStringSubmatch(found)
		s := c.scans[m[1]]
		if s == nil {
			return found
		}
		line, _ := strconv.Atoi(m[2])
		column, _ := strconv.Atoi(m[3])
		at := s.placed(line, column)
		where := fmt.Sprintf("at line %d, column %d", at.Line, at.Column)
		if m[1] != c.main {
			where += fmt.Sprintf(" of %q", m[1])
		}
		return where
	})
}

// errors are the collected ones in reading order, or err when there are none.
func (c *collector) errors(err error) schemas.SyntaxErrors {
	var placed reporter.ErrorWithPos
	if errors.As(err, &placed) {
		c.add(placed)
	}
	// The parser says it twice when the tokenizer has said it already.
	c.list = slices.DeleteFunc(c.list, func(e schemas.SyntaxError) bool {
		return len(c.list) > 1 && e.Summary == "syntax error: unexpected error"
	})
	if len(c.list) == 0 {
		c.list = append(c.list, schemas.SyntaxError{Summary: "the schema cannot be compiled", Detail: err.Error()})
	}
	sortErrors(c.list)
	return c.list
}
