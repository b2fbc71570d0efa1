package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkGatePullRequest compares a repository of a thousand files of each format
// with the commit before, of which three files differ.
func BenchmarkGatePullRequest(b *testing.B) {
	if _, err := exec.LookPath("git"); err != nil {
		b.Skip("NOT RUN: git is not installed")
	}
	dir := b.TempDir()
	for _, format := range []string{"avro", "json", "proto"} {
		part := b.TempDir()
		corpus{1000, 50, true}.write(b, part, format)
		if err := os.MkdirAll(filepath.Join(dir, "old"), 0o750); err != nil {
			b.Fatal(err)
		}
		if err := os.Rename(filepath.Join(part, "old"), filepath.Join(dir, "old", format)); err != nil {
			b.Fatal(err)
		}
	}
	old := filepath.Join(dir, "old")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"commit", "-q", "-m", "one"}} {
		cmd := exec.CommandContext(b.Context(), "git", append([]string{"-C", old, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, format := range []string{"avro", "json", "proto"} {
		for i := range 1000 {
			var name, was, text string
			for _, changed := range []bool{false, true} {
				was = text
				switch format {
				case "avro":
					name, text = avroFile(i, changed)
				case "json":
					name, text = jsonFile(i, changed)
				default:
					name, text = corpus{1000, 50, true}.proto(i, changed)
				}
			}
			if i < 900 || was == text {
				continue
			}
			if err := os.WriteFile(filepath.Join(old, format, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
			break
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if code := run(b.Context(), []string{"check", old, "--against", "git:main", "--format", "json"}, nil, io.Discard, io.Discard); code != exitFindings {
			b.Fatalf("exit code %d", code)
		}
	}
}
