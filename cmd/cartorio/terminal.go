package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// isTerminal tells whether w is a terminal. /dev/null is a character device
// too, and no terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// wantsColours tells whether w is a terminal whose user has not asked for plain
// text (https://no-color.org).
func wantsColours(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// paint wraps text in an SGR code when colours are on.
func paint(on bool, code, text string) string {
	if !on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// write prints to stdout, or to a file that is there whole or not at all.
func (a *app) write(file string, print func(w io.Writer, colours bool) error) error {
	if file == "" {
		if err := print(a.out, wantsColours(a.out)); err != nil {
			return failf(exitNotCompared, "writing the answer: %w", err)
		}
		return nil
	}
	// A device or a pipe is written to: a file in its place would take /dev/null
	// away from the whole machine.
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return a.writeThrough(file, print)
	}
	part, err := os.CreateTemp(dirOf(file), ".cartorio-*")
	if err != nil {
		return failf(exitNotCompared, "writing %s: %w", file, bare(err))
	}
	err = print(part, false)
	if err == nil {
		err = part.Chmod(0o644)
	}
	if closeErr := part.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(part.Name(), file)
	}
	if err != nil {
		_ = os.Remove(part.Name())
		return failf(exitNotCompared, "writing %s: %w", file, bare(err))
	}
	return nil
}

// writeThrough writes to what is there and is no file.
func (a *app) writeThrough(file string, print func(w io.Writer, colours bool) error) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err == nil {
		err = print(f, false)
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}
	if err != nil {
		return failf(exitNotCompared, "writing %s: %w", file, bare(err))
	}
	return nil
}

// progress tells a person at a terminal how far long work has come. Pipes and
// logs see nothing of it.
type progress struct {
	mu         sync.Mutex
	w          io.Writer
	what       string
	done, all  int
	shown, end bool
	timer      *time.Timer
}

// patience is how long work runs before it is talked about.
const patience = time.Second

func (a *app) startProgress(what string) *progress {
	p := &progress{w: a.err, what: what}
	if isTerminal(a.err) {
		p.timer = time.AfterFunc(patience, p.tick)
	}
	return p
}

func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end {
		return
	}
	p.shown = true
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s: %d of %d", p.what, p.done, p.all)
	p.timer.Reset(patience / 5)
}

func (p *progress) total(n int) {
	p.mu.Lock()
	p.all = n
	p.mu.Unlock()
}

func (p *progress) add() {
	p.mu.Lock()
	p.done++
	p.mu.Unlock()
}

func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end = true
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.shown {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
	}
}
