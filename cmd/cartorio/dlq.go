package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter"
)

// exitDepth says that a dead letter is deeper than it may be.
const exitDepth = 3

// choosing are the flags that choose letters.
type choosing struct {
	ids, reasons, subjects, versions []string
	older, newer                     time.Duration
	limit                            int
}

func (c *choosing) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&c.ids, "id", nil, "only the letter with this `ID` (messageId, or PARTITION:OFFSET); may stand several times, as all that follow")
	f.StringArrayVar(&c.reasons, "reason", nil, "only letters with this `REASON`, such as version_unsupported")
	f.StringArrayVar(&c.subjects, "subject", nil, "only letters of this `SUBJECT`")
	f.StringArrayVar(&c.versions, "version", nil, "only letters of this schema `VERSION`")
	f.DurationVar(&c.older, "older-than", 0, "only letters that were set aside longer ago than `DURATION`")
	f.DurationVar(&c.newer, "newer-than", 0, "only letters that were set aside less long ago than `DURATION`")
	f.IntVar(&c.limit, "limit", 0, "at most so many letters, the first ones; 0 for all")
}

func (c *choosing) filter(now time.Time) (deadletter.Filter, error) {
	f := deadletter.Filter{IDs: c.ids, Reasons: c.reasons, Subjects: c.subjects, Versions: c.versions, Limit: c.limit}
	switch {
	case c.limit < 0:
		return f, fmt.Errorf("--limit %d: it cannot be negative", c.limit)
	case c.older < 0 || c.newer < 0:
		return f, errors.New("--older-than and --newer-than are durations back from now, and not negative")
	}
	if c.older > 0 {
		f.Before = now.Add(-c.older)
	}
	if c.newer > 0 {
		f.After = now.Add(-c.newer)
	}
	return f, nil
}

// isAll tells whether nothing is chosen in particular.
func (c *choosing) isAll() bool {
	return len(c.ids)+len(c.reasons)+len(c.subjects)+len(c.versions) == 0 && c.older == 0 && c.newer == 0
}

func (a *app) dlqCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dlq",
		Short: "Look into a dead letter, send its messages again, drop, export and import them",
		Long: `Works on the dead letters of RabbitMQ, Kafka, ActiveMQ and AMQP 1.0: those that Cartório's
consumers wrote, and those that brokers and Spring made. A letter leaves only when
the broker has confirmed it elsewhere: whoever is stopped in between has it twice,
with one messageId, and loses none.

On Kafka what is handled is written down in the topic TOPIC.handled, since a topic
forgets nothing on demand. On a quorum queue of RabbitMQ each look counts as a
delivery.

Each exits 2 when there is no such queue or topic (ActiveMQ makes one that is asked
for, so a wrong name looks empty there), 4 when the broker cannot be reached, and 5
when it refuses user and password or what they may do.

` + brokerHelp,
		Example: `  cartorio dlq list amqp://localhost#orders.dlq --threshold 100
  cartorio dlq replay kafka://localhost:9092/orders.DLT --reason version_unsupported --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.dlqListCommand(), a.dlqShowCommand(), a.dlqReplayCommand(), a.dlqDropCommand(), a.dlqExportCommand(), a.dlqImportCommand())
	return cmd
}

// withBox opens a box for as long as work lasts. A signal ends work, which then
// gives back what it looked at.
func (a *app) withBox(ctx context.Context, address string, work func(context.Context, brokers.Address, deadletter.Box) error) error {
	at, err := brokerAddress(address)
	if err != nil {
		return err
	}
	box, err := openBox(at)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	err = work(ctx, at, box)
	if closeErr := box.Close(); err == nil && closeErr != nil {
		err = brokerFailed(at, closeErr)
	}
	return err
}

// listed is the document of dlq list.
type listed struct {
	Version   int           `json:"version"`
	Tool      string        `json:"tool"`
	Box       string        `json:"box"`
	Depth     int           `json:"depth"`
	Chosen    int           `json:"chosen"`
	Threshold *int          `json:"threshold,omitempty"`
	Groups    []listedGroup `json:"groups"`
}

type listedGroup struct {
	deadletter.Group
	Oldest string `json:"oldest,omitempty"`
	Newest string `json:"newest,omitempty"`
}

func (a *app) dlqListCommand() *cobra.Command {
	var c choosing
	var threshold int
	var format string
	cmd := &cobra.Command{
		Use:   "list ADDRESS",
		Short: "Count the letters by reason, subject, version and age",
		Long: `Counts what lies in a dead letter by reason, subject and version. Letters stay.

With --threshold it exits 3 when more letters are chosen than that: for alerts. A
queue that is not there is no empty one: it exits 2.

` + brokerHelp,
		Example: `  cartorio dlq list amqp://localhost#orders.dlq
  cartorio dlq list kafka://localhost:9092/orders.DLT --threshold 0 --format json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := c.filter(a.now())
			if err != nil {
				return fail(exitUsage, err)
			}
			if err := oneKnown("format", format, "text", "json"); err != nil {
				return err
			}
			var limit *int
			if cmd.Flags().Changed("threshold") {
				if limit = &threshold; threshold < 0 {
					return failf(exitUsage, "--threshold %d: it cannot be negative", threshold)
				}
			}
			return a.withBox(cmd.Context(), args[0], func(ctx context.Context, at brokers.Address, box deadletter.Box) error {
				return a.dlqList(ctx, at, box, f, limit, format)
			})
		},
	}
	c.flags(cmd)
	cmd.Flags().IntVar(&threshold, "threshold", 0, "exit 3 when more than `N` letters are chosen (default: no threshold)")
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	oneOf(cmd, "format", "text", "json")
	return cmd
}

// oneKnown refuses a flag's value that is none of a few.
func oneKnown(flag, value string, values ...string) error {
	for _, v := range values {
		if v == value {
			return nil
		}
	}
	return failf(exitUsage, "--%s %q is none of %s", flag, value, strings.Join(values, ", "))
}

func (a *app) dlqList(ctx context.Context, at brokers.Address, box deadletter.Box, f deadletter.Filter, threshold *int, format string) error {
	groups, depth, err := deadletter.List(ctx, box, f)
	if err != nil {
		return brokerFailed(at, err)
	}
	doc := listed{Version: 1, Tool: "cartorio " + readBuild().Version, Box: at.String(), Depth: depth, Threshold: threshold, Groups: []listedGroup{}}
	moment := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	for _, g := range groups {
		doc.Chosen += g.Count
		doc.Groups = append(doc.Groups, listedGroup{g, moment(g.Oldest), moment(g.Newest)})
	}
	now := a.now()
	if err := a.write("", func(w io.Writer, colours bool) error {
		if format == "json" {
			return writeJSON(w, doc)
		}
		return doc.render(w, colours, now)
	}); err != nil {
		return err
	}
	if warning := madeByAsking(at); doc.Depth == 0 && warning != "" {
		a.say("%s: %s", at, warning)
	}
	if threshold != nil && doc.Chosen > *threshold {
		return failf(exitDepth, "%s holds %s, and the threshold is %d", at, plural(doc.Chosen, "letter", "letters"), *threshold)
	}
	return nil
}

func (d listed) render(w io.Writer, colours bool, now time.Time) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", paint(colours, bold, plain(d.Box)), plural(d.Depth, "letter", "letters"))
	if d.Chosen != d.Depth {
		fmt.Fprintf(&b, ", %d chosen", d.Chosen)
	}
	b.WriteString("\n")
	for _, g := range d.Groups {
		what := g.Subject
		if g.Version != "" {
			what += "@" + g.Version
		}
		fmt.Fprintf(&b, "%7d  %-24s %s", g.Count, plain(g.Reason), plain(orWord(what, "no subject")))
		if !g.Group.Oldest.IsZero() {
			fmt.Fprintf(&b, "  oldest %s, newest %s ago", age(now.Sub(g.Group.Oldest)), age(now.Sub(g.Group.Newest)))
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// age is a duration for people, in its largest unit.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

func (a *app) dlqShowCommand() *cobra.Command {
	var i inspecting
	var as string
	cmd := &cobra.Command{
		Use:   "show ADDRESS [ID]",
		Short: "Show a letter decoded by the registry, or as its bytes",
		Long: `Shows one letter, the first when no ID is given: its headers with the reason, and
the message decoded by its schema. Letters stay.

` + brokerHelp + `

` + remoteHelp,
		Example: `  cartorio dlq show amqp://localhost#orders.dlq 7f3c9a
  cartorio dlq show kafka://localhost:9092/orders.DLT 0:42 --as base64`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				i.id = args[1]
			}
			if err := oneKnown("as", as, "decoded", "raw", "hex", "base64"); err != nil {
				return err
			}
			if as != "decoded" {
				return a.dlqRaw(cmd.Context(), args[0], i.id, as)
			}
			i.encoding, i.framing, i.limit = "auto", "auto", 1
			if !brokers.Is(args[0]) {
				_, err := brokerAddress(args[0])
				return err
			}
			err := a.inspect(cmd.Context(), args[:1], i)
			// That a letter is not valid is why it is one.
			if f := new(failure); errors.As(err, &f) && f.code == exitFindings {
				return nil
			}
			return err
		},
	}
	f := cmd.Flags()
	remoteFlags(cmd, &i.registry)
	f.StringVar(&i.bundle, "bundle", "", "`FILE` or folder of a bundle that is asked before the registry")
	f.StringVar(&as, "as", "decoded", "decoded, or the payload alone: raw, hex or base64")
	f.StringVar(&i.format, "format", "text", "text or json")
	oneOf(cmd, "as", "decoded", "raw", "hex", "base64")
	oneOf(cmd, "format", "text", "json")
	return cmd
}

// dlqRaw writes a letter's payload.
func (a *app) dlqRaw(ctx context.Context, address, id, as string) error {
	return a.withBox(ctx, address, func(ctx context.Context, at brokers.Address, box deadletter.Box) error {
		f := deadletter.Filter{}
		if id != "" {
			f.IDs = []string{id}
		}
		l, err := deadletter.Find(ctx, box, f)
		if err != nil {
			return brokerFailed(at, err)
		}
		return a.write("", func(w io.Writer, _ bool) error { return writeBytes(w, l.Message.Payload, as) })
	})
}
