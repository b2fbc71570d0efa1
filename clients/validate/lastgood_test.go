package validate_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

func openLastGood(t *testing.T, path string, most int64) *validate.LastGood {
	t.Helper()
	l, err := validate.OpenLastGood(path, most)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// TestRestartDuringAnOutageIsWarm starts a second life without a registry.
func TestRestartDuringAnOutageIsWarm(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "last.good")
	f := newFixture()
	base := f.put("base", schemas.JSON, `{"type":"integer"}`)
	refs := []schemas.Reference{{Name: "base.json", Subject: "base", Version: base.Version}}
	user := f.put("refs-value", schemas.JSON, `{"type":"object","properties":{"id":{"$ref":"base.json"}}}`, refs...)
	e := &validate.Expect{Subject: validate.Fixed("orders-value"), Reads: validate.MustReads("1..2")}
	pin := validate.Latest(validate.Fixed("orders-value"), 0)
	messages := []*validate.Message{
		{Headers: stamped(f.order1), Payload: text(`{"id":1}`)},
		{Headers: stamped(user), Payload: text(`{"id":1}`)},
		{Headers: []validate.Header{{Name: "schemaGuid", Value: f.order2.GUID.String()}}, Payload: text(`{"id":1}`)},
	}
	run := func(v *validate.Validator, when string, want validate.Verdict) {
		t.Helper()
		for i, m := range messages {
			expect := e
			if i == 1 {
				expect = &validate.Expect{}
			}
			if o := v.BeforeConsume(ctx, m, expect); o.Verdict != want {
				t.Errorf("%s: message %d: %s %s: %v", when, i, o.Verdict, o.Reason, o.Err)
			}
		}
		err := v.BeforePublish(ctx, &validate.Message{Payload: text(`{"id":1}`)}, &pin)
		if (err == nil) != (want == validate.Accept) {
			t.Errorf("%s: publish: %v", when, err)
		}
	}
	l := openLastGood(t, path, 0)
	v, _ := open(t, f.shelf, validate.Options{LastGood: l})
	run(v, "the first life", validate.Accept)
	v.Close()
	_ = l.Close()

	f.fail(schemas.ErrUnreachable)
	cold, _ := open(t, f.shelf, validate.Options{})
	run(cold, "without a file", validate.Hold)
	asked := len(f.questions())
	warm, c := open(t, f.shelf, validate.Options{LastGood: openLastGood(t, path, 0)})
	run(warm, "the second life", validate.Accept)
	if n := len(f.questions()) - asked; n != 1 {
		t.Errorf("the registry that does not answer was asked %d times", n)
	}
	// What the registry says since then counts, once it answers.
	f.fail(nil)
	c.pass(time.Minute)
	if o := warm.BeforeConsume(ctx, &validate.Message{Headers: stamped(f.shop1), Payload: []byte{8, 1}}, &validate.Expect{}); o.Verdict != validate.Accept {
		t.Errorf("after the outage: %v", o.Err)
	}
	// The latest version is not served beyond MaxStale.
	f.fail(schemas.ErrUnreachable)
	late, c := open(t, f.shelf, validate.Options{LastGood: openLastGood(t, path, 0)})
	c.pass(25 * time.Hour)
	if err := late.BeforePublish(ctx, &validate.Message{Payload: text(`{"id":1}`)}, &pin); !errors.Is(err, validate.ErrUnavailable) {
		t.Errorf("a latest version of yesterday: %v", err)
	}
	if o := late.BeforeConsume(ctx, messages[0], e); o.Verdict != validate.Accept {
		t.Errorf("a version of yesterday: %v", o.Err)
	}
}

// TestTornLastGood cuts the file at every byte, and turns every byte over.
func TestTornLastGood(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "last.good")
	f := newFixture()
	l := openLastGood(t, path, 0)
	v, _ := open(t, f.shelf, validate.Options{LastGood: l})
	e := &validate.Expect{}
	v.BeforeConsume(ctx, &validate.Message{Headers: stamped(f.order1), Payload: text(`{"id":1}`)}, e)
	v.BeforeConsume(ctx, &validate.Message{Headers: stamped(f.user1), Payload: []byte{2}}, e)
	v.Close()
	_ = l.Close()
	whole, err := os.ReadFile(path)
	if err != nil || len(whole) < 500 {
		t.Fatalf("%d bytes, %v", len(whole), err)
	}
	other := filepath.Join(dir, "other")
	load := func(data []byte) (int, int) {
		t.Helper()
		if err := os.WriteFile(other, data, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := validate.OpenLastGood(other, 0)
		if err != nil {
			return -1, 0
		}
		defer l.Close()
		after, _ := os.ReadFile(other)
		return l.Len(), len(after)
	}
	most, before := 0, 0
	for n := range len(whole) + 1 {
		known, left := load(whole[:n])
		if known < most || left > max(n, 22) {
			t.Fatalf("cut at %d of %d: %d are known, %d bytes left", n, len(whole), known, left)
		}
		most = max(most, known)
	}
	if before, _ = load(whole); before != most || most < 6 {
		t.Errorf("the whole has %d names", before)
	}
	head := bytes.IndexByte(whole, '\n') + 1
	for at := head; at < len(whole); at += 7 {
		bad := bytes.Clone(whole)
		bad[at] ^= 0x20
		if known, _ := load(bad); known < 0 || known >= before {
			t.Fatalf("a byte turned over at %d: %d of %d are known", at, known, before)
		}
	}
	if known, _ := load([]byte("#!/bin/sh\nexit 0\n")); known != -1 {
		t.Error("the file of another program is taken")
	}
	if b, _ := os.ReadFile(other); !strings.HasPrefix(string(b), "#!/bin/sh") {
		t.Error("and written over")
	}
}

// TestLastGoodIsBounded writes more than the file may hold.
func TestLastGoodIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "last.good")
	s := newShelf()
	var last schemas.Found
	for i := range 300 {
		last = s.put(fmt.Sprintf("s%d", i), schemas.JSON, `{"const":"`+strings.Repeat("x", 1000)+strconv.Itoa(i)+`"}`)
	}
	l := openLastGood(t, path, 1)
	v, _ := open(t, s, validate.Options{LastGood: l})
	most := int64(0)
	for i := range 300 {
		if err := v.Warm(ctx, &validate.Expect{Subject: validate.Fixed(fmt.Sprintf("s%d", i))}, ""); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, info.Size())
	}
	if most > 64<<10 || most < 32<<10 {
		t.Errorf("it grew to %d bytes, and 64 KiB are the least limit", most)
	}
	v.Close()
	_ = l.Close()
	again := openLastGood(t, path, 1)
	s.fail(schemas.ErrUnreachable)
	v, _ = open(t, s, validate.Options{LastGood: again})
	if err := v.Warm(ctx, &validate.Expect{Subject: validate.Fixed(last.Subject.Name)}, ""); err != nil {
		t.Errorf("the newest is not known: %v", err)
	}
	if err := v.Warm(ctx, &validate.Expect{Subject: validate.Fixed("s0")}, ""); err == nil {
		t.Error("the oldest is known, and there is no room for it")
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%d files are left", len(files))
	}
}

// TestKilledLastGood kills a program that writes, and reads what it left.
func TestKilledLastGood(t *testing.T) {
	if path := os.Getenv("CARTORIO_TEST_LAST_GOOD"); path != "" {
		writeForEver(path)
	}
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: this system has no SIGKILL, and the test is about a process that cannot clean up")
	}
	kills := 3
	if n, err := strconv.Atoi(os.Getenv("CARTORIO_KILLS")); err == nil {
		kills = n
	}
	path := filepath.Join(t.TempDir(), "last.good")
	known := 0
	for i := range kills {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledLastGood$")
		cmd.Env = append(os.Environ(), "CARTORIO_TEST_LAST_GOOD="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 64<<(i%4)) // a byte for each record that was written
		for n := 0; n < len(buf); {
			got, err := out.Read(buf[n:])
			if err != nil {
				break
			}
			n += got
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		l, err := validate.OpenLastGood(path, 0)
		if err != nil {
			t.Fatal(err)
		}
		if l.Len() < max(known, 64) {
			t.Errorf("kill %d: %d names are known, and it had told of 64 more than %d", i, l.Len(), known)
		}
		known = l.Len()
		_ = l.Close()
	}
}

// writeForEver fetches schemas through a validator until it is killed.
func writeForEver(path string) {
	l, err := validate.OpenLastGood(path, 0)
	if err != nil {
		os.Exit(1)
	}
	s := newShelf()
	v := validate.NewWith(s, validate.Options{LastGood: l}, formats()...)
	for i := l.Len(); ; i++ {
		name := fmt.Sprintf("k%d", i)
		s.put(name, schemas.JSON, fmt.Sprintf(`{"const":%d}`, i))
		pin := validate.Version(validate.Fixed(name), 1)
		if err := v.WarmPin(ctx, &pin, ""); err != nil {
			os.Exit(1)
		}
		_, _ = os.Stdout.Write([]byte{'.'})
	}
}

// TestLastGoodVerdicts knows what the registry said of two versions.
func TestLastGoodVerdicts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "last.good")
	f := newFixture()
	third := f.put("orders-value", schemas.JSON, `{"type":"object","required":["id"],"properties":{"id":{"type":"number"}}}`)
	c := &comparing{shelf: f.shelf, says: map[schemas.Version]string{3: "a number is no integer"}}
	e := &validate.Expect{Subject: validate.Fixed("orders-value"), Reads: validate.ReadsCompatible(2)}
	judge := func(v *validate.Validator, when string) {
		t.Helper()
		for of, want := range map[*schemas.Found]validate.Reason{&f.order1: validate.NoReason, &third: validate.VersionUnsupported} {
			if o := v.BeforeConsume(ctx, &validate.Message{Headers: stamped(*of), Payload: text(`{"id":1}`)}, e); o.Reason != want {
				t.Errorf("%s: version %s: %s %s (%v)", when, of.Version, o.Verdict, o.Reason, o.Err)
			}
		}
	}
	l := openLastGood(t, path, 0)
	v, _ := open(t, c, validate.Options{LastGood: l})
	judge(v, "the first life")
	v.Close()
	_ = l.Close()
	c.fail(schemas.ErrUnreachable)
	v, _ = open(t, c, validate.Options{LastGood: openLastGood(t, path, 0)})
	judge(v, "the second life, in an outage")
}
