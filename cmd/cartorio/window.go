package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/schemas"
)

// windowing is what window was asked.
type windowing struct {
	registry, environment, format string
	quiet                         time.Duration
}

func (a *app) windowCommand() *cobra.Command {
	var o windowing
	cmd := &cobra.Command{
		Use:   "window SUBJECT",
		Short: "Say which versions are still written and read, and whether old ones can go",
		Long: `Shows how far the change to a subject's newest version is: whether every consumer
accepts it, whether messages of it come, and which older versions still come, when
last, and to whom. A version that is neither written nor needed can be retired, by
a soft delete.

A version counts as written for as long as a message of it came to some consumer
within --quiet. Traffic of consumers that tell nothing is not seen.

` + readersHelp + `

` + remoteHelp,
		Example: `  cartorio window orders-value
  cartorio window orders-value --environment prod --quiet 168h`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.window(cmd.Context(), args[0], o) },
	}
	f := cmd.Flags()
	remoteFlags(cmd, &o.registry)
	f.StringVar(&o.environment, "environment", "", "only consumers that run in this `ENVIRONMENT`")
	f.DurationVar(&o.quiet, "quiet", 24*time.Hour, "how long no message of a version may have come for it to count as no longer written")
	f.StringVar(&o.format, "format", "text", "text or json")
	oneOf(cmd, "format", "text", "json")
	return cmd
}

// versionWindow is the state of a subject.
type versionWindow struct {
	Version  int             `json:"version"`
	Tool     string          `json:"tool"`
	Subject  string          `json:"subject"`
	Latest   schemas.Version `json:"latest"`
	Versions []windowVersion `json:"versions"` // newest first
	// Consumers tell whether each accepts the latest.
	Consumers []consumerSays `json:"consumers"`
	Steps     []windowStep   `json:"steps"`
}

// windowVersion is a version and who has read messages of it.
type windowVersion struct {
	Version schemas.Version `json:"version"`
	State   string          `json:"state"` // written, quiet, unused or retired
	Seen    string          `json:"seen,omitempty"`
	Readers []windowReader  `json:"readers"`

	seen time.Time
}

type windowReader struct {
	Consumer    string `json:"consumer"`
	Environment string `json:"environment,omitempty"`
	Seen        string `json:"seen"`

	seen time.Time
}

// windowStep is one step of the change, in order.
//
// Source: client specification 3.5.
type windowStep struct {
	Step string `json:"step"` // register, consumers, producers, drain, retire
	Done bool   `json:"done"`
	Text string `json:"text"`
}

func (a *app) window(ctx context.Context, name string, o windowing) error {
	if err := oneKnown("format", o.format, "text", "json"); err != nil {
		return err
	}
	if o.quiet <= 0 {
		return failf(exitUsage, "--quiet %s: it must be above zero", o.quiet)
	}
	client, err := dial(o.registry, a.config.Auth)
	if err != nil {
		return err
	}
	defer client.Close()
	w, err := a.windowOf(ctx, client, inContextOf(name, a.config.Context), o)
	if err != nil {
		return err
	}
	now := a.now()
	return a.write("", func(to io.Writer, colours bool) error {
		if o.format == "json" {
			return writeJSON(to, w)
		}
		return w.render(to, colours, now)
	})
}

func (a *app) windowOf(ctx context.Context, client *sr.Client, subject schemas.Subject, o windowing) (*versionWindow, error) {
	latest, err := client.Version(ctx, subject, schemas.Latest, sr.VersionOptions{})
	if err != nil {
		return nil, fail(codeOf(err), err)
	}
	live, err := client.Versions(ctx, subject, sr.LiveOnly, sr.Page{})
	if err != nil {
		return nil, fail(codeOf(err), err)
	}
	told, err := client.Readers(ctx, subject)
	if err != nil {
		return nil, readersFailed(err)
	}
	w := &versionWindow{Version: 1, Tool: "cartorio " + readBuild().Version, Subject: subject.String(), Latest: latest.Version, Versions: []windowVersion{}, Consumers: []consumerSays{}}
	reads := readsOf(told, listing{environment: o.environment})
	used := slices.Clone(live)
	for _, c := range reads {
		for _, u := range c.read.Uses {
			used = append(used, u.Version)
		}
		says, err := consumer(ctx, client, latest, c.read)
		if err != nil {
			return nil, fail(codeOf(err), err)
		}
		says.Consumer = c.who()
		w.Consumers = append(w.Consumers, says)
	}
	slices.Sort(used)
	now := a.now()
	for _, v := range slices.Backward(slices.Compact(used)) {
		one := windowVersion{Version: v, Readers: []windowReader{}}
		for _, c := range reads {
			for _, u := range c.read.Uses {
				if u.Version == v {
					one.Readers = append(one.Readers, windowReader{c.Consumer, c.Environment, rfc3339(u.Seen), u.Seen})
					if u.Seen.After(one.seen) {
						one.seen = u.Seen
					}
				}
			}
		}
		one.Seen = rfc3339(one.seen)
		switch {
		case !one.seen.IsZero() && now.Sub(one.seen) < o.quiet:
			one.State = "written"
		case !slices.Contains(live, v):
			one.State = "retired"
		case !one.seen.IsZero():
			one.State = "quiet"
		default:
			one.State = "unused"
		}
		w.Versions = append(w.Versions, one)
	}
	w.Steps = w.steps(live)
	return w, nil
}

// steps says how far the change to the latest version is.
func (w *versionWindow) steps(live []schemas.Version) []windowStep {
	ready, open := 0, 0
	for _, c := range w.Consumers {
		switch c.Answer {
		case answerYes:
			ready++
		case answerUnknown:
			open++
		}
	}
	written := func(old bool) (list []string) {
		for _, v := range slices.Backward(w.Versions) {
			if v.State == "written" && old == (v.Version != w.Latest) {
				list = append(list, v.Version.String())
			}
		}
		return list
	}
	fresh, stale := written(false), written(true)
	var left []string
	for _, v := range live {
		if v != w.Latest {
			left = append(left, v.String())
		}
	}
	consumers := fmt.Sprintf("%d of %s version %s", ready, plural(len(w.Consumers), "consumer accepts", "consumers accept"), w.Latest)
	if open > 0 {
		consumers += fmt.Sprintf(", of %d it is not known", open)
	}
	steps := []windowStep{
		{"register", true, fmt.Sprintf("version %s is registered", w.Latest)},
		{"consumers", len(w.Consumers) > 0 && ready == len(w.Consumers), consumers},
		{"producers", len(fresh) > 0, fmt.Sprintf("messages of version %s come", w.Latest)},
		{"drain", len(w.Consumers) > 0 && len(stale) == 0, "no messages of older versions come"},
		{"retire", len(left) == 0, "older versions are retired"},
	}
	if len(fresh) == 0 {
		steps[2].Text = fmt.Sprintf("no message of version %s has come", w.Latest)
	}
	switch {
	case len(w.Consumers) == 0:
		steps[1].Text, steps[3].Text = "no consumer has told what it reads", "nobody tells whether messages of older versions come"
	case len(stale) > 0:
		steps[3].Text = fmt.Sprintf("messages of %s still come", namedVersions(stale))
	}
	if len(left) > 0 {
		steps[4].Text = "not retired yet: " + namedVersions(left)
	}
	return steps
}

// namedVersions names versions so that none is taken for a count.
func namedVersions(list []string) string {
	word := "versions "
	if len(list) == 1 {
		word = "version "
	}
	return word + strings.Join(list, ", ")
}

func (w *versionWindow) render(to io.Writer, colours bool, now time.Time) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, latest version %s\n", paint(colours, bold, plain(w.Subject)), w.Latest)
	for _, s := range w.Steps {
		mark, colour := "open", yellow
		if s.Done {
			mark, colour = "done", green
		}
		fmt.Fprintf(&b, "  %s  %s\n", paint(colours, colour, mark), plain(s.Text))
	}
	for _, v := range w.Versions {
		fmt.Fprintf(&b, "version %s: %s", v.Version, v.State)
		if !v.seen.IsZero() {
			fmt.Fprintf(&b, ", last message %s ago", age(now.Sub(v.seen)))
		}
		b.WriteString("\n")
		for _, r := range v.Readers {
			who := r.Consumer
			if r.Environment != "" {
				who += " in " + r.Environment
			}
			fmt.Fprintf(&b, "  read by %s, %s ago\n", plain(who), age(now.Sub(r.seen)))
		}
	}
	for _, c := range w.Consumers {
		if c.Answer != answerYes {
			fmt.Fprintf(&b, "%s: %s\n", plain(c.Consumer), plain(c.Reason))
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}
