package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/schemas"
)

// listing is what consumers was asked.
type listing struct{ registry, environment, consumer, format string }

const readersHelp = `Who reads what is known of consumers whose validators tell it (validate.Options.
Readership), and is forgotten 30 days after they told it last.`

func (a *app) consumersCommand() *cobra.Command {
	var l listing
	cmd := &cobra.Command{
		Use:   "consumers [SUBJECT]",
		Short: "List who reads a subject, or all of them, and which versions",
		Long: `Lists the consumers that have told the registry what they read: which versions they
declare, which they have read and when last, and how many messages they accepted and
rejected.

` + readersHelp + `

` + remoteHelp,
		Example: `  cartorio consumers orders-value
  cartorio consumers --environment prod --format json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			subject := ""
			if len(args) == 1 {
				subject = args[0]
			}
			return a.consumers(cmd.Context(), subject, l)
		},
	}
	f := cmd.Flags()
	remoteFlags(cmd, &l.registry)
	f.StringVar(&l.environment, "environment", "", "only consumers that run in this `ENVIRONMENT`")
	f.StringVar(&l.consumer, "consumer", "", "only this `CONSUMER`")
	f.StringVar(&l.format, "format", "text", "text or json")
	oneOf(cmd, "format", "text", "json")
	return cmd
}

// consumerRead is what one consumer reads of one subject, as it is printed.
type consumerRead struct {
	Subject     string          `json:"subject"`
	Consumer    string          `json:"consumer"`
	Environment string          `json:"environment,omitempty"`
	Accepts     string          `json:"accepts,omitempty"`
	Pinned      schemas.Version `json:"pinned,omitempty"`
	Uses        []consumerUse   `json:"uses"`
	Accepted    uint64          `json:"accepted"`
	Rejected    uint64          `json:"rejected"`
	Told        string          `json:"told,omitempty"`
	read        schemas.SubjectRead
}

type consumerUse struct {
	Version schemas.Version `json:"version"`
	Seen    string          `json:"seen"`
}

// readersFailed is the failure of a question about readers.
func readersFailed(err error) error {
	if errors.Is(err, schemas.ErrUnintelligible) {
		return failf(exitNotCompared, "the registry keeps no readers: only Cartório does: %w", err)
	}
	return fail(codeOf(err), err)
}

func (a *app) consumers(ctx context.Context, subject string, l listing) error {
	if err := oneKnown("format", l.format, "text", "json"); err != nil {
		return err
	}
	client, err := dial(l.registry, a.config.Auth)
	if err != nil {
		return err
	}
	defer client.Close()
	var told []schemas.Readership
	if subject != "" {
		told, err = client.Readers(ctx, inContextOf(subject, a.config.Context))
	} else {
		told, err = client.AllReaders(ctx)
	}
	if err != nil {
		return readersFailed(err)
	}
	list := readsOf(told, l)
	now := a.now()
	return a.write("", func(w io.Writer, colours bool) error {
		if l.format == "json" {
			return writeJSON(w, struct {
				Version   int            `json:"version"`
				Tool      string         `json:"tool"`
				Consumers []consumerRead `json:"consumers"`
			}{1, "cartorio " + readBuild().Version, list})
		}
		return renderConsumers(w, colours, list, now)
	})
}

// readsOf flattens what consumers told, by subject, environment and consumer.
func readsOf(told []schemas.Readership, l listing) []consumerRead {
	list := []consumerRead{}
	for _, one := range told {
		if l.environment != "" && one.Environment != l.environment || l.consumer != "" && one.Consumer != l.consumer {
			continue
		}
		for _, read := range one.Reads {
			c := consumerRead{
				Subject: read.Subject.String(), Consumer: one.Consumer, Environment: one.Environment, Accepts: read.Accepts, Pinned: read.Pinned,
				Uses: []consumerUse{}, Accepted: read.Accepted, Rejected: read.Rejected, Told: rfc3339(read.Told), read: read,
			}
			for _, u := range read.Uses {
				c.Uses = append(c.Uses, consumerUse{u.Version, rfc3339(u.Seen)})
			}
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b consumerRead) int {
		for _, d := range []int{strings.Compare(a.Subject, b.Subject), strings.Compare(a.Environment, b.Environment), strings.Compare(a.Consumer, b.Consumer)} {
			if d != 0 {
				return d
			}
		}
		return 0
	})
	return list
}

func rfc3339(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func renderConsumers(w io.Writer, colours bool, list []consumerRead, now time.Time) error {
	var b strings.Builder
	subject := ""
	for _, c := range list {
		if c.Subject != subject {
			subject = c.Subject
			b.WriteString(paint(colours, bold, plain(subject)) + "\n")
		}
		fmt.Fprintf(&b, "  %s\n", plain(c.line(now)))
	}
	if len(list) == 0 {
		b.WriteString("no consumer has told what it reads\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line is a consumer in one line.
func (c consumerRead) line(now time.Time) string {
	parts := []string{c.who()}
	switch {
	case c.Accepts != "":
		parts = append(parts, "accepts "+c.Accepts)
	default:
		parts = append(parts, "declares no versions")
	}
	if c.Pinned != 0 {
		parts = append(parts, fmt.Sprintf("reads with version %s", c.Pinned))
	}
	var uses []string
	for _, u := range c.read.Uses {
		uses = append(uses, fmt.Sprintf("%s (%s ago)", u.Version, age(now.Sub(u.Seen))))
	}
	if len(uses) == 0 {
		uses = []string{"nothing yet"}
	}
	parts = append(parts, "has read "+strings.Join(uses, ", "), fmt.Sprintf("%d accepted, %d rejected", c.Accepted, c.Rejected))
	if !c.read.Told.IsZero() {
		parts = append(parts, "told "+age(now.Sub(c.read.Told))+" ago")
	}
	return strings.Join(parts, "; ")
}

func (c consumerRead) who() string {
	if c.Environment == "" {
		return c.Consumer
	}
	return c.Consumer + " in " + c.Environment
}
