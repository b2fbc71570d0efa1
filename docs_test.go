package cartorio_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	// What the pages show is compiled against these: a test that did not import them
	// would be answered from a cache that does not see how they change.
	_ "github.com/cartorio-registry/cartorio/clients/activemq"
	_ "github.com/cartorio-registry/cartorio/clients/amqp10"
	_ "github.com/cartorio-registry/cartorio/clients/claim"
	_ "github.com/cartorio-registry/cartorio/clients/dedupe"
	_ "github.com/cartorio-registry/cartorio/clients/kafka"
	_ "github.com/cartorio-registry/cartorio/clients/outbox"
	_ "github.com/cartorio-registry/cartorio/clients/rabbitmq"
	_ "github.com/cartorio-registry/cartorio/clients/retry"
	_ "github.com/cartorio-registry/cartorio/clients/signals"
	_ "github.com/cartorio-registry/cartorio/clients/sr"
	_ "github.com/cartorio-registry/cartorio/clients/translate"
	_ "github.com/cartorio-registry/cartorio/clients/validate"
	_ "github.com/cartorio-registry/cartorio/schemas/avro"
	_ "github.com/cartorio-registry/cartorio/schemas/folder"
	_ "github.com/cartorio-registry/cartorio/schemas/formats"
)

// visible are the packages that a piece of Go text may name without importing
// them, by the name that it uses, beside ours that are imported above.
var visible = map[string]string{
	"amqp": "github.com/rabbitmq/amqp091-go", "kgo": "github.com/twmb/franz-go/pkg/kgo", "scram": "github.com/twmb/franz-go/pkg/sasl/scram",
	"context": "context", "errors": "errors", "fmt": "fmt", "http": "net/http", "json": "encoding/json", "log": "log", "os": "os", "slog": "log/slog", "sql": "database/sql", "time": "time", "tls": "crypto/tls", "x509": "crypto/x509",
}

// importable are the outside packages that a piece of Go text may import.
var importable = []string{"github.com/Azure/go-amqp"}

// givens are what a piece of Go text may use without declaring it: the parameters
// of the function that it becomes the body of.
var givens = map[string]string{
	"ctx": "context.Context", "db": "*sql.DB", "tx": "*sql.Tx", "headers": "[]validate.Header", "message": "*validate.Message", "m": "dedupe.Message", "id": "string",
	"registry": "string", "url": "string", "folder": "string", "data": "[]byte", "publicKey": "[]byte", "request": "*http.Request", "handle": "rabbitmq.Handler",
	"client": "*sr.Client", "validator": "*validate.Validator", "expect": "*validate.Expect", "pin": "validate.Pin", "keeper": "*claim.Keeper", "store": "claim.Store",
	"authorities": "*x509.CertPool", "connector": "*rabbitmq.Connector", "producer": "*rabbitmq.Producer",
}

// block is one piece of Go text on a page.
type block struct {
	page, info, text string
	line             int
}

// blocks finds the pieces of Go text of a page. Those of an info string "go
// foreign" are of programs of other modules, which this one cannot compile.
func blocks(page, text string) []block {
	var out []block
	var b *block
	indent := ""
	n := 0
	for line := range strings.Lines(text) {
		n++
		trimmed := strings.TrimSpace(line)
		switch {
		case b == nil && strings.HasPrefix(trimmed, "```go") && (trimmed == "```go" || trimmed[5] == ' '):
			b = &block{page: page, info: strings.TrimSpace(trimmed[5:]), line: n + 1}
			indent = line[:len(line)-len(strings.TrimLeft(line, " "))]
		case b != nil && trimmed == "```":
			out = append(out, *b)
			b = nil
		case b != nil:
			b.text += strings.TrimPrefix(line, indent)
		}
	}
	if b != nil {
		out = append(out, *b) // it does not end, which its reader sees too
	}
	return out
}

// pages are the Markdown files that people read.
func pages(t *testing.T) []string {
	t.Helper()
	list := []string{"README.md", "CHANGELOG.md"}
	for _, root := range []string{"docs", "examples", "clients/suites", "deploy", "action"} {
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			if err == nil && !d.IsDir() && strings.HasSuffix(file, ".md") {
				list = append(list, filepath.ToSlash(file))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(list)
	return list
}

// program makes a file of a piece of Go text: as it is when it is one; otherwise
// its imports come first, then those of visible packages that it names, and what
// follows are declarations, or the body of a function whose open braces are closed.
func (b *block) program(packages, names map[string]string) string {
	if strings.HasPrefix(strings.TrimSpace(b.text), "package ") {
		return b.text
	}
	body := b.text
	imported := map[string]string{} // by name
	if f, err := parser.ParseFile(token.NewFileSet(), "", "package p;"+body, parser.ImportsOnly); f != nil && len(f.Imports) > 0 && err == nil {
		for _, spec := range f.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			name := names[path]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			imported[name] = path
		}
		// Lines stay lines, so that an error names the page's own.
		end := int(f.Decls[len(f.Decls)-1].End()) - len("package p;") - 1
		body = strings.Repeat("\n", strings.Count(body[:end], "\n")) + body[end:]
	}
	use := func(name string) {
		if imported[name] == "" && packages[name] != "" {
			imported[name] = packages[name]
		}
	}
	for name := range packages {
		if strings.Contains(body, name+".") {
			use(name)
		}
	}
	parameters := ""
	for _, name := range slices.Sorted(maps.Keys(givens)) {
		kind := givens[name]
		if imported[name] != "" || !mentions(body, name) {
			continue
		}
		of, _, _ := strings.Cut(strings.TrimLeft(kind, "*[]"), ".")
		use(of)
		parameters += name + " " + kind + ", "
	}
	var head strings.Builder
	head.WriteString("package page; ")
	for _, name := range slices.Sorted(maps.Keys(imported)) {
		fmt.Fprintf(&head, "import %s %q; ", name, imported[name])
	}
	declarations := head.String() + body
	if f, err := parser.ParseFile(token.NewFileSet(), "", declarations, 0); err == nil && len(f.Decls) > len(f.Imports) {
		return declarations
	}
	open := strings.Count(body, "{") - strings.Count(body, "}")
	return head.String() + "func _(" + parameters + ") error { {" + body + strings.Repeat("}", max(open, 0)) + "}; panic(0) }"
}

// mentions tells whether a text uses a word.
func mentions(text, word string) bool {
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p; func _() {"+text+strings.Repeat("}", max(strings.Count(text, "{")-strings.Count(text, "}"), 0))+"}", parser.SkipObjectResolution)
	if f == nil || err != nil && len(f.Decls) == 0 {
		return strings.Contains(text, word)
	}
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == word {
			found = true
		}
		return true
	})
	return found
}

// compiler checks programs against what the module's packages export.
type compiler struct {
	fset     *token.FileSet
	importer types.Importer
	packages map[string]string // paths by name, of those that need no import
	names    map[string]string // by path, of all
}

func newCompiler(t *testing.T) *compiler {
	t.Helper()
	c := &compiler{fset: token.NewFileSet(), packages: map[string]string{}, names: map[string]string{}}
	self, err := parser.ParseFile(c.fset, "docs_test.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	list := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Name}}\t{{.Export}}"}
	for _, spec := range self.Imports {
		if spec.Name != nil {
			list = append(list, strings.Trim(spec.Path.Value, `"`))
		}
	}
	for name, path := range visible {
		c.packages[name] = path
		list = append(list, path)
	}
	list = append(list, importable...)
	out, err := exec.CommandContext(t.Context(), "go", list...).Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("go list: %s", failed.Stderr)
		}
		t.Fatal(err)
	}
	files := map[string]string{} // of what packages export
	for line := range strings.Lines(string(out)) {
		path, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		name, file, _ := strings.Cut(rest, "\t")
		files[path], c.names[path] = file, name
		if strings.HasPrefix(path, module+"/") && strings.Count(path, "/") <= 4 && name != "main" {
			c.packages[name] = path
		}
	}
	c.importer = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, fmt.Errorf("no package %s is known here", path)
		}
		return os.Open(files[path])
	})
	return c
}

// check compiles a piece of Go text. Variables that it declares and does not use
// are forgiven, as in any excerpt.
func (c *compiler) check(b *block) []string {
	program := b.program(c.packages, c.names)
	f, err := parser.ParseFile(c.fset, "", program, 0)
	if err != nil {
		return []string{fmt.Sprintf("%s:%d: %v", b.page, b.line, err)}
	}
	var wrong []string
	config := types.Config{Importer: c.importer, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && !e.Soft {
			wrong = append(wrong, fmt.Sprintf("%s:%d: %s", b.page, b.line+c.fset.Position(e.Pos).Line-1, e.Msg))
		}
	}}
	_, _ = config.Check("page", c.fset, []*ast.File{f}, nil)
	return wrong
}

// TestPagesShowWhatCompiles compiles every piece of Go text on every page.
func TestPagesShowWhatCompiles(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	n := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks(page, string(text)) {
			switch b.info {
			case "":
				n++
				for _, wrong := range c.check(&b) {
					t.Error(wrong)
				}
			case "foreign":
			default:
				t.Errorf("%s:%d: a piece of Go text is %q: that is neither nothing nor foreign", b.page, b.line, b.info)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d pieces of Go text were found", n)
	}
}

// TestPagesThatWouldNotCompile shows that the test can fail, and names the line.
func TestPagesThatWouldNotCompile(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	for _, tt := range []struct{ name, text, want string }{
		{"a fragment", "expect := &validate.Expect{Reader: 3}\n", ""},
		{"an open brace", "if err := relay(ctx); err != nil {\n", "undefined: relay"},
		{"a member that does not exist", "e := &validate.Expect{\n\tVersion: 3,\n}\n", "page.md:7: unknown field Version"},
		{"what was given", "if err := client.Close(); err != nil {\n", "used as value"},
		{"declarations", "func f(v *validate.Validator) { v.Close() }\n", ""},
		{"wrong declarations", "func f(v *validate.Validator) int { v.Close() }\n", "missing return"},
		{"a file", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1) }\n", ""},
		{"imports", "import (\n\t\"github.com/cartorio-registry/cartorio/clients/sr\"\n)\n\nc, err := sr.New(1)\n", "page.md:10: cannot use 1"},
		{"a name of its own", "import (\n\t\"github.com/Azure/go-amqp\"\n\trabbit \"github.com/rabbitmq/amqp091-go\"\n)\n\nvar a amqp.ConnOptions\nvar b rabbit.Table\na = b\n", "page.md:13: cannot use b"},
		{"no Go", "a := = b\n", "expected operand"},
	} {
		got := strings.Join(c.check(&block{page: "page.md", line: 6, text: tt.text}), "\n")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	list := blocks("p", "```go\na\n```\n- x\n  ```go foreign\n  b\n    c\n  ```\n```golang\n```\n")
	if len(list) != 2 || list[0].text != "a\n" || list[0].line != 2 || list[1].text != "b\n  c\n" || list[1].info != "foreign" || list[1].line != 6 {
		t.Errorf("%+v", list)
	}
	if !bytes.Contains([]byte(strings.Join(pages(t), " ")), []byte("docs/pt/")) {
		t.Error("the Portuguese pages are not among the pages")
	}
}
