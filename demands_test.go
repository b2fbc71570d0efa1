package cartorio_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// demand is one row of docs/demands.md.
type demand struct {
	row, asked, state, where string
	shown                    []string
}

var backticked = regexp.MustCompile("`([^`]+)`")

// demands reads the rows of a page, in order.
func demands(text string) []demand {
	var out []demand
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) != 5 || !strings.HasPrefix(cells[0], "M-") {
			continue
		}
		d := demand{row: cells[0], asked: cells[1], state: cells[2], where: cells[3]}
		for _, m := range backticked.FindAllStringSubmatch(cells[4], -1) {
			d.shown = append(d.shown, m[1])
		}
		out = append(out, d)
	}
	return out
}

// isShown tells whether a proof exists: a script, or a test of a package's folder.
// Sources are read once each.
func isShown(proof string, sources map[string]string) error {
	if strings.HasSuffix(proof, ".txtar") {
		_, err := os.Stat(filepath.FromSlash(proof))
		return err
	}
	dot := strings.LastIndexByte(proof, '.')
	if dot < 0 {
		return fmt.Errorf("%s is neither a script nor folder.Test", proof)
	}
	folder, name := proof[:dot], proof[dot+1:]
	text, read := sources[folder]
	if !read {
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(folder), "*_test.go"))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("%s has no tests", folder)
		}
		for _, file := range files {
			one, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			text += string(one)
		}
		sources[folder] = text
	}
	if !regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(`).MatchString(text) {
		return fmt.Errorf("%s has no test %s", folder, name)
	}
	return nil
}

// TestDemandsAreShown finds every proof that docs/demands.md names.
func TestDemandsAreShown(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/demands.md")
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{}
	list := demands(string(text))
	for i, d := range list {
		if want := fmt.Sprintf("M-%02d", i+1); d.row != want {
			t.Fatalf("row %d is %s, want %s: each demand has one row, in order", i+1, d.row, want)
		}
		if !slices.Contains([]string{"met", "partly", "told"}, d.state) || d.asked == "" || d.where == "" || len(d.shown) == 0 {
			t.Errorf("%s: what is asked, its state, where it is met and what shows it are needed: %+v", d.row, d)
		}
		for _, proof := range d.shown {
			if err := isShown(proof, sources); err != nil {
				t.Errorf("%s: %v", d.row, err)
			}
		}
	}
	if len(list) != 104 {
		t.Errorf("%d demands, want 104", len(list))
	}
}

// TestDemandsThatAreNotShown shows that the test can fail.
func TestDemandsThatAreNotShown(t *testing.T) {
	t.Parallel()
	for proof, isWrong := range map[string]bool{
		"clients/dedupe.TestKill": false, "clients/dedupe.TestKil": true, "clients/dedupe.TestKillAll": true, "clients/nowhere.TestKill": true, "TestKill": true,
		"cmd/cartorio/testdata/script/gate.txtar": false, "cmd/cartorio/testdata/script/none.txtar": true, "clients/dedupe.Example_inMemory": false,
	} {
		if err := isShown(proof, map[string]string{}); (err != nil) != isWrong {
			t.Errorf("%s: %v", proof, err)
		}
	}
	rows := demands("| row | asked | state | where | shown by |\n|---|---|---|---|---|\n| M-01 | a | met | b | `x.TestA` and `y.txtar` |\n| M-02 | too | few |\n")
	if len(rows) != 1 || rows[0].state != "met" || strings.Join(rows[0].shown, " ") != "x.TestA y.txtar" {
		t.Errorf("%+v", rows)
	}
}
