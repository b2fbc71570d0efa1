package cartorio_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// everywhere are the names of package syscall that Windows has too, whatever they
// do there.
var everywhere = regexp.MustCompile(`^(SIG(ABRT|ALRM|BUS|FPE|HUP|ILL|INT|KILL|PIPE|QUIT|SEGV|TERM|TRAP)|Signal|WaitStatus|E[A-Z0-9]+|Errno|Conn|RawConn)$`)

// TestEverySystemHasWhatIsUsed: files that Linux and Windows build, tests among them, use of
// package syscall only what it has; what asks for more has a build tag and an
// answer for the others. The whole truth is GOOS=windows go vet ./..., which
// compiles for minutes.
func TestEverySystemHasWhatIsUsed(t *testing.T) {
	t.Parallel()
	windows, linux := build.Default, build.Default
	windows.GOOS, linux.GOOS = "windows", "linux"
	windows.CgoEnabled, linux.CgoEnabled = false, false
	seen := 0
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, noModule := os.Stat(filepath.Join(p, "go.mod"))
			if p != "." && (noModule == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		for _, system := range []*build.Context{&windows, &linux} {
			if built, err := system.MatchFile(filepath.Dir(p), d.Name()); err != nil || !built {
				return err
			}
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			if i.Path.Value == `"golang.org/x/sys/unix"` {
				t.Errorf("%s: Windows builds it and has no %s: give the file a build tag", files.Position(i.Pos()), i.Path.Value)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if of, ok := s.X.(*ast.Ident); ok && of.Name == "syscall" {
				seen++
				if !everywhere.MatchString(s.Sel.Name) {
					t.Errorf("%s: Windows builds it and has no syscall.%s: give what needs it a file with a build tag", files.Position(s.Pos()), s.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Error("no file uses package syscall: is this the whole tree?")
	}
}
