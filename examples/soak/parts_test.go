package soak_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/clients/dedupe"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas/formats"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// partVariable makes this binary play a part of the soak: what is killed must be
// a process.
const partVariable = "CARTORIO_SOAK_PART"

// part is what a process does.
type part struct {
	Play                              string // "registry" or "consume"
	Kind, Address, Registry, Name, DB string
	Index                             int
	Seed                              uint64
}

func TestMain(m *testing.M) {
	text := os.Getenv(partVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	var p part
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if p.Play == "registry" {
			err = p.serve(ctx)
		} else {
			err = p.consume(ctx)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve is a registry on a file.
func (p *part) serve(ctx context.Context) error {
	journal, err := sqlite.Open(p.DB)
	if err != nil {
		return err
	}
	reg, err := registry.Open(ctx, journal, registry.Options{Formats: formats.All, Checkers: checkers.All()})
	if err != nil {
		return err
	}
	defer reg.Close()
	server := &http.Server{Addr: p.Address, Handler: api.New(reg, api.Options{}), ReadHeaderTimeout: time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// consume works on what comes: one row for each message, whatever happens.
func (p *part) consume(ctx context.Context) error {
	client, err := sr.New(sr.Options{URLs: []string{p.Registry}})
	if err != nil {
		return err
	}
	defer client.Close()
	v := validate.New(client, jsonschema.Format)
	defer v.Close()
	db, err := openEffects(p.DB)
	if err != nil {
		return err
	}
	defer db.Close()
	r := rand.New(rand.NewPCG(p.Seed, uint64(os.Getpid())))
	var mu sync.Mutex
	fails := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return r.IntN(100) == 0
	}
	expect := &validate.Expect{Subject: validate.Fixed(p.Name), Reads: validate.MustReads("1..2")}
	return consume[p.Kind](ctx, p, v, expect, func(ctx context.Context, id, key string, payload []byte) error {
		if fails() {
			return errors.New("the database is busy")
		}
		var order struct{ N int }
		if err := json.Unmarshal(payload, &order); err != nil {
			return err
		}
		if _, err := db.ExecContext(ctx, `UPDATE tries SET n = n + 1`); err != nil {
			return err
		}
		return dedupe.Once(ctx, db, dedupe.SQLite, dedupe.Message{Consumer: p.Name, ID: id}, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO effects (id, key, sequence) VALUES (?, ?, ?)`, id, key, order.N)
			return err
		})
	})
}

// process is a part that runs.
type process struct {
	part part
	cmd  *exec.Cmd
	out  bytes.Buffer
}

func (p *process) start(t *testing.T) {
	text, err := json.Marshal(p.part)
	if err != nil {
		t.Error(err)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
		return
	}
	p.out.Reset()
	p.cmd = exec.Command(self) // it is ended by hand, and below
	p.cmd.Env = append(os.Environ(), partVariable+"="+string(text))
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	running := p.cmd
	t.Cleanup(func() {
		if running.ProcessState == nil {
			_ = running.Process.Kill()
			_ = running.Wait()
		}
	})
}

// kill ends it without a word. One that has ended by itself is an error, however
// young it is.
func (p *process) kill(t *testing.T) {
	if err := p.end(syscall.SIGKILL); p.signal() != syscall.SIGKILL {
		t.Errorf("%s %s %d had ended: %v: %s", p.part.Play, p.part.Kind, p.part.Index, err, &p.out)
	}
}

// stop asks it to end. One that is so young that it does not listen yet dies of
// that, and has begun nothing.
func (p *process) stop(t *testing.T) {
	if err := p.end(syscall.SIGTERM); err != nil && p.signal() != syscall.SIGTERM {
		t.Errorf("%s %s %d: %v: %s", p.part.Play, p.part.Kind, p.part.Index, err, &p.out)
	}
}

func (p *process) end(s syscall.Signal) error {
	if p.cmd.Process == nil {
		return errors.New("it was never started")
	}
	_ = p.cmd.Process.Signal(s) // where it has ended, Wait tells
	return p.cmd.Wait()
}

// signal is what it died of, 0 for none.
func (p *process) signal() syscall.Signal {
	if p.cmd.ProcessState == nil {
		return 0
	}
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return 0
	}
	return status.Signal()
}

// registryProcess is the registry, at one address whatever happens to it.
type registryProcess struct {
	process
	url string
}

func startRegistry(t *testing.T, file string) *registryProcess {
	t.Helper()
	address := freeAddress(t)
	p := &registryProcess{process: process{part: part{Play: "registry", Address: address, DB: file}}, url: "http://" + address}
	p.start(t)
	p.await(t)
	return p
}

// await waits until it answers.
func (p *registryProcess) await(t *testing.T) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get(p.url + "/subjects")
		if err == nil {
			_ = answer.Body.Close()
			return
		}
	}
	t.Errorf("the registry does not answer: %s", &p.out)
}
