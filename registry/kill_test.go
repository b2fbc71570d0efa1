package registry_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
)

const (
	killFile  = "CARTORIO_TEST_KILL_FILE"  // the helper's database
	killRound = "CARTORIO_TEST_KILL_ROUND" // told apart by it
	killCount = 16                         // clients at once
)

// TestMain is also the process that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv(killFile); path != "" {
		fmt.Println("failed:", registerForEver(path, os.Getenv(killRound)))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// registerForEver runs clients that register without end and print each answer
// once they have it.
func registerForEver(path, round string) error {
	j, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	// Snapshots are taken all the time, so that some are cut off too.
	r, err := registry.Open(context.Background(), j, registry.Options{Formats: fakeFormats, Checkers: fakeCheckers, Snapshot: 50})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var clients sync.WaitGroup
	for i := range killCount {
		clients.Go(func() {
			for n := 0; ; n++ {
				// A subject of their own, one that all share, and one schema
				// that all want to be the first to register.
				name := []string{fmt.Sprint("own-", i), "shared", fmt.Sprintf("same-%s-%d-%d", round, i, n)}[n%3]
				text := []string{fmt.Sprintf("A r%s_%d_%d?", round, i, n), fmt.Sprintf("A r%s_%d_%d?", round, i, n), fmt.Sprintf("A r%s_%d?", round, n)}[n%3]
				got, err := r.Register(context.Background(), inSubject(name, text))
				mu.Lock()
				if err != nil {
					fmt.Println("failed:", err)
				} else {
					fmt.Printf("%s %d %d %s\n", name, got.Version, got.ID.Number, strings.ReplaceAll(text, " ", "_"))
				}
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	return nil
}

type acknowledged struct {
	subject, text string
	version, id   int
}

// TestKill kills a process full of registering clients, again and again on the
// same file. Every version that was answered is there with its number and id,
// and none of them is there twice. CARTORIO_KILLS says how often.
func TestKill(t *testing.T) {
	t.Parallel()
	kills := 5
	if text := os.Getenv("CARTORIO_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil || kills < 1 {
			t.Fatalf("CARTORIO_KILLS is %q: a number from 1 is expected", text)
		}
	}
	path := filepath.Join(t.TempDir(), "c.db")
	var all []acknowledged
	for round := range kills {
		got := killOnce(t, path, round)
		all = append(all, got...)
		survived(t, path, all)
		if t.Failed() {
			t.Fatalf("after kill %d, with %d answers", round+1, len(all))
		}
	}
	t.Logf("%d kills, %d answers, all there", kills, len(all))
}

func killOnce(t *testing.T, path string, round int) (got []acknowledged) {
	t.Helper()
	helper := exec.CommandContext(t.Context(), os.Args[0])
	helper.Env = append(os.Environ(), killFile+"="+path, killRound+"="+strconv.Itoa(round))
	helper.Stderr = os.Stderr
	out, err := helper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	// It dies in the middle of its work: some time after its first answer.
	var once sync.Once
	kill := func() { _ = helper.Process.Kill() } // it may be dead already
	for lines := bufio.NewScanner(out); lines.Scan(); {
		once.Do(func() { time.AfterFunc(time.Duration(10+rand.IntN(200))*time.Millisecond, kill) })
		var a acknowledged
		if _, err := fmt.Sscanf(lines.Text(), "%s %d %d %s", &a.subject, &a.version, &a.id, &a.text); err != nil {
			// The last line may be cut; anything else is a failure.
			if strings.HasPrefix(lines.Text(), "failed") {
				t.Errorf("the helper says: %s", lines.Text())
			}
			continue
		}
		got = append(got, a)
	}
	_ = helper.Wait() // it says that it was killed
	if len(got) == 0 {
		t.Fatal("the helper answered nothing")
	}
	return got
}

// survived opens what is left and looks for everything that was answered.
func survived(t *testing.T, path string, all []acknowledged) {
	t.Helper()
	j, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.Open(t.Context(), j, registry.Options{Formats: fakeFormats, Checkers: fakeCheckers})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, a := range all {
		name := schemas.Subject{Context: schemas.DefaultContext, Name: a.subject}
		got, err := r.Version(t.Context(), name, schemas.Version(a.version), false)
		if err != nil || int(got.ID.Number) != a.id || strings.ReplaceAll(got.Source.Text, " ", "_") != a.text {
			t.Errorf("%s version %d was answered with id %d and text %s, and is id %d with %q, %v", a.subject, a.version, a.id, a.text, got.ID.Number, got.Source.Text, err)
		}
	}
	subjects, err := r.Subjects(t.Context(), schemas.Subject{Context: schemas.AnyContext}, registry.WithDeleted, registry.Page{})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[schemas.ID]string{}
	texts := map[string]schemas.ID{}
	for _, s := range subjects {
		numbers, err := r.Versions(t.Context(), s, registry.WithDeleted, registry.Page{})
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range numbers {
			if int(n) != i+1 {
				t.Errorf("%s has versions %v", s, numbers)
				break
			}
			v, err := r.Version(t.Context(), s, n, true)
			if err != nil {
				t.Fatal(err)
			}
			if text, ok := ids[v.ID]; ok && text != v.Source.Text {
				t.Errorf("id %s is %q and %q", v.ID, text, v.Source.Text)
			}
			if id, ok := texts[v.Source.Text]; ok && id != v.ID {
				t.Errorf("%q has ids %s and %s", v.Source.Text, id, v.ID)
			}
			ids[v.ID], texts[v.Source.Text] = v.Source.Text, v.ID
		}
	}
}
