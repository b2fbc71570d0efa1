package brokertest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test that the page of clients names is there.
func TestPageNamesTests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| case | any machine |")
	if !ok {
		t.Fatal("the page has no table of cases")
	}
	packages := []string{"case", "", "rabbitmq", "kafka", "activemq", "amqp10"}
	name := regexp.MustCompile("`(?:([\\w/]+)\\.)?((?:Test|Fuzz)\\w+)`")
	code, named := map[string]string{}, 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		for i, cell := range cells[min(1, len(cells)):] {
			for _, m := range name.FindAllStringSubmatch(cell, -1) {
				in := m[1]
				if in == "" && i < len(packages) {
					in = packages[i]
				}
				if _, read := code[in]; !read {
					code[in] = source(t, in)
				}
				named++
				if !strings.Contains(code[in], "\nfunc "+m[2]+"(") {
					t.Errorf("there is no %s in %s", m[2], in)
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("the page names %d tests only", named)
	}
}

// source is the text of a package's tests.
func source(t *testing.T, name string) string {
	t.Helper()
	folder := filepath.Join("..", filepath.FromSlash(name))
	if strings.Contains(name, "/") {
		folder = filepath.Join("..", "..", filepath.FromSlash(name))
	}
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no tests: %v", name, err)
	}
	all := ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	return all
}
