package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// writeBytes writes a payload raw, or as a line of text.
func writeBytes(w io.Writer, payload []byte, as string) error {
	var err error
	switch as {
	case "hex":
		_, err = fmt.Fprintln(w, hex.EncodeToString(payload))
	case "base64":
		_, err = fmt.Fprintln(w, base64.StdEncoding.EncodeToString(payload))
	default:
		_, err = w.Write(payload)
	}
	return err
}

// replayingLetters is what dlq replay was asked.
type replayingLetters struct {
	choosing
	registry, bundle, to, reads, format       string
	rate                                      float64
	dry, force, through, keepRules, skipJudge bool
}

// replayDocument is the document of dlq replay.
type replayDocument struct {
	Version int              `json:"version"`
	Tool    string           `json:"tool"`
	Box     string           `json:"box"`
	DryRun  bool             `json:"dry_run"`
	Sent    int              `json:"sent"`
	Stayed  int              `json:"stayed"`
	Letters []replayedLetter `json:"letters"`
	// More are letters that are counted and not listed.
	More  int    `json:"more"`
	Error string `json:"error,omitempty"` // what ended the replay early
}

type replayedLetter struct {
	ID        string `json:"id"`
	MessageID string `json:"message_id,omitempty"`
	To        string `json:"to,omitempty"`
	Problem   string `json:"problem,omitempty"` // why it stays
}

// mostListedLetters bounds what a document holds of letters.
const mostListedLetters = 10_000

func (a *app) dlqReplayCommand() *cobra.Command {
	var r replayingLetters
	cmd := &cobra.Command{
		Use:   "replay ADDRESS",
		Short: "Send letters again to where they came from",
		Long: `Validates each chosen letter with today's schemas and sends it to where it came
from, in order: with its messageId, dlqReplays one higher, without what tells of
retries and of the failure. Only when the broker has confirmed it, it leaves the
dead letter. What is not valid stays, and so does what was replayed 5 times; the
others go on.

On RabbitMQ a letter goes to the queue that it failed in; --through-exchange sends
it to the exchange that it came by, and so to every queue that is bound there.

Exits 1 when letters stay, 4 when broker or registry cannot be asked.

` + brokerHelp + `

` + remoteHelp,
		Example: `  cartorio dlq replay amqp://localhost#orders.dlq --reason version_unsupported --dry-run
  cartorio dlq replay kafka://localhost:9092/orders.DLT --subject orders-value --rate 50
  cartorio dlq replay amqp://localhost#orders.dlq --id 7f3c9a --force`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.dlqReplay(cmd.Context(), args[0], r) },
	}
	r.flags(cmd)
	f := cmd.Flags()
	remoteFlags(cmd, &r.registry)
	f.StringVar(&r.bundle, "bundle", "", "`FILE` or folder of a bundle that is asked before the registry")
	f.StringVar(&r.reads, "reads", "", "the `VERSIONS` that the consumer reads now, such as 1..3; others stay")
	f.StringVar(&r.to, "to", "", "send to this `DESTINATION` instead: a queue, a topic, or EXCHANGE/KEY")
	f.Float64Var(&r.rate, "rate", 0, "at most `N` letters a second; 0 for no bound")
	f.BoolVar(&r.dry, "dry-run", false, "say what would be sent and what would stay")
	f.BoolVar(&r.force, "force", false, "also send what was replayed 5 times")
	f.BoolVar(&r.through, "through-exchange", false, "RabbitMQ: send to the exchange, not to the queue")
	f.BoolVar(&r.keepRules, "keep-rules", false, "keep the headers __rule.…, for which Confluent's deserializers skip a rule")
	f.BoolVar(&r.skipJudge, "skip-validation", false, "send without validating: the consumer sets aside again what it refuses")
	f.StringVar(&r.format, "format", "text", "text or json")
	oneOf(cmd, "format", "text", "json")
	return cmd
}

// replayOptions are what the flags say; closing ends what they opened.
func (a *app) replayOptions(ctx context.Context, at brokers.Address, r replayingLetters) (o deadletter.ReplayOptions, closing func(), err error) {
	closing = func() {}
	if err := oneKnown("format", r.format, "text", "json"); err != nil {
		return o, closing, err
	}
	f, err := r.filter(a.now())
	if err != nil {
		return o, closing, fail(exitUsage, err)
	}
	o = deadletter.ReplayOptions{Filter: f, Through: r.through, Force: r.force, KeepRules: r.keepRules, Dry: r.dry}
	switch {
	case r.rate < 0 || math.IsNaN(r.rate):
		return o, closing, failf(exitUsage, "--rate %g: it cannot be negative", r.rate)
	case r.rate > 0:
		o.Pace = time.Duration(float64(time.Second) / r.rate)
	}
	if r.to != "" {
		to := destinationOf(at, r.to)
		o.To = &to
	}
	if r.skipJudge {
		if r.reads != "" {
			return o, closing, failf(exitUsage, "--reads is for validating: it cannot stand beside --skip-validation")
		}
		return o, closing, nil
	}
	expect := &validate.Expect{Framing: validate.Detect}
	if r.reads != "" {
		if expect.Reads, err = validate.Reads(r.reads); err != nil {
			return o, closing, fail(exitUsage, err)
		}
	}
	client, err := dial(r.registry)
	if err != nil {
		return o, closing, err
	}
	var bundles []validate.Lookup
	if r.bundle != "" {
		b, err := openBundle(ctx, r.bundle)
		if err != nil {
			return o, closing, err
		}
		bundles = append(bundles, b.Bundle)
	}
	v := judgeOver(client, bundles...)
	o.Judge = func(ctx context.Context, m *validate.Message) validate.Outcome {
		return v.BeforeConsume(ctx, m, expect)
	}
	return o, func() { v.Close(); client.Close() }, nil
}

// destinationOf reads --to.
func destinationOf(at brokers.Address, text string) deadletter.Destination {
	if at.Kind == brokers.RabbitMQ {
		if exchange, key, ok := strings.Cut(text, "/"); ok {
			return deadletter.Destination{Name: exchange, RoutingKey: key}
		}
		return deadletter.Destination{Queue: text}
	}
	return deadletter.Destination{Name: text}
}

func (a *app) dlqReplay(ctx context.Context, address string, r replayingLetters) error {
	return a.withBox(ctx, address, func(ctx context.Context, at brokers.Address, box deadletter.Box) error {
		o, closing, err := a.replayOptions(ctx, at, r)
		if err != nil {
			return err
		}
		defer closing()
		doc := replayDocument{Version: 1, Tool: "cartorio " + readBuild().Version, Box: at.String(), DryRun: r.dry, Letters: []replayedLetter{}}
		o.Tell = func(one deadletter.Replayed) {
			l := replayedLetter{ID: one.Letter.ID(), MessageID: one.Letter.MessageID(), To: one.To.String()}
			if one.Err != nil {
				l.Problem = one.Err.Error()
			}
			if errors.Is(one.Err, deadletter.ErrNoOrigin) {
				l.Problem += ", with --to"
			}
			if r.format == "text" {
				a.tellReplayed(l, r.dry)
				return
			}
			if len(doc.Letters) == mostListedLetters {
				doc.More++
				return
			}
			doc.Letters = append(doc.Letters, l)
		}
		result, err := deadletter.Replay(ctx, box, o)
		doc.Sent, doc.Stayed = result.Sent, result.Stayed
		if err != nil {
			doc.Error = err.Error()
		}
		if writeErr := a.write("", func(w io.Writer, _ bool) error {
			if r.format == "json" {
				return writeJSON(w, doc)
			}
			verb := "sent"
			if r.dry {
				verb = "would be sent"
			}
			_, err := fmt.Fprintf(w, "%s: %s %s, %d stayed\n", plain(doc.Box), plural(doc.Sent, "letter", "letters"), verb, doc.Stayed)
			return err
		}); writeErr != nil {
			return writeErr
		}
		switch {
		case err != nil:
			return brokerFailed(at, err)
		case doc.Stayed > 0:
			return fail(exitFindings, nil)
		}
		return nil
	})
}

func (a *app) tellReplayed(l replayedLetter, dry bool) {
	verb := "sent"
	switch {
	case l.Problem != "":
		_, _ = fmt.Fprintf(a.out, "stays   %s: %s\n", plain(l.ID), plain(l.Problem))
		return
	case dry:
		verb = "would be sent"
	}
	_, _ = fmt.Fprintf(a.out, "%-7s %s to %s\n", verb, plain(l.ID), plain(l.To))
}

func (a *app) dlqDropCommand() *cobra.Command {
	var c choosing
	var dry, all bool
	cmd := &cobra.Command{
		Use:   "drop ADDRESS",
		Short: "Remove letters for good",
		Long: `Removes the chosen letters for good; export them first to have them again. Without
a choice it needs --all.

` + brokerHelp,
		Example: `  cartorio dlq drop amqp://localhost#orders.dlq --reason payload_invalid --older-than 720h
  cartorio dlq drop amqp://localhost#orders.dlq --all --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := c.filter(a.now())
			if err != nil {
				return fail(exitUsage, err)
			}
			if c.isAll() != all {
				return failf(exitUsage, "say which letters: --id, --reason, --subject, --version, --older-than, --newer-than, or --all and none of them")
			}
			return a.withBox(cmd.Context(), args[0], func(ctx context.Context, at brokers.Address, box deadletter.Box) error {
				verb := "dropped"
				if dry {
					verb = "would be dropped"
				}
				n, err := deadletter.Drop(ctx, box, f, dry, func(l *deadletter.Letter) error {
					_, err := fmt.Fprintf(a.out, "%s %s (%s)\n", verb, plain(l.ID()), plain(l.Reason()))
					return err
				})
				_, _ = fmt.Fprintf(a.out, "%s: %s %s\n", plain(at.String()), plural(n, "letter", "letters"), verb)
				if err != nil {
					return brokerFailed(at, err)
				}
				return nil
			})
		},
	}
	c.flags(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be dropped")
	cmd.Flags().BoolVar(&all, "all", false, "every letter")
	return cmd
}

func (a *app) dlqExportCommand() *cobra.Command {
	var c choosing
	var output string
	cmd := &cobra.Command{
		Use:   "export ADDRESS",
		Short: "Write letters into a file of JSON lines",
		Long: `Writes the chosen letters into FILE or to stdout, one JSON object a line, with all
headers in order and the payload in Base64. Letters stay. The file is read by
import, by inspect, and by check --messages.

` + brokerHelp,
		Example: `  cartorio dlq export amqp://localhost#orders.dlq -o letters.jsonl
  cartorio check schemas/ --messages letters.jsonl`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := c.filter(a.now())
			if err != nil {
				return fail(exitUsage, err)
			}
			return a.withBox(cmd.Context(), args[0], func(ctx context.Context, at brokers.Address, box deadletter.Box) error {
				n := 0
				var failed error
				if err := a.write(output, func(w io.Writer, _ bool) error {
					n, failed = deadletter.Drop(ctx, box, f, true, func(l *deadletter.Letter) error { return deadletter.Write(w, l) })
					return failed
				}); failed == nil && err != nil {
					return err
				}
				if failed != nil {
					return brokerFailed(at, failed)
				}
				a.say("%s: %s exported", at, plural(n, "letter", "letters"))
				return nil
			})
		},
	}
	c.flags(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "", "`FILE` to write (default: stdout)")
	return cmd
}

func (a *app) dlqImportCommand() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "import ADDRESS FILE",
		Short: "Put the letters of an export into a dead letter",
		Long: `Puts the letters of FILE, or of stdin as "-", into a dead letter, in their order;
each is confirmed by the broker. From there they can be replayed. A file may move
letters from one broker to another: what the other has no place for (Kafka's key on
RabbitMQ, properties of AMQP on Kafka) is left out.

` + brokerHelp,
		Example: `  cartorio dlq import amqp://localhost#orders.dlq letters.jsonl
  cartorio dlq import kafka://localhost:9092/orders.DLT - < letters.jsonl`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := a.in
			if args[1] != "-" {
				f, err := os.Open(args[1])
				if err != nil {
					return failf(exitNotCompared, "reading %s: %w", args[1], bare(err))
				}
				defer f.Close() //nolint:errcheck // it was only read
				in = f
			}
			return a.withBox(cmd.Context(), args[0], func(ctx context.Context, at brokers.Address, box deadletter.Box) error {
				broken := &brokenBox{Box: box}
				n, err := deadletter.Import(ctx, broken, in, dry)
				verb := "imported"
				if dry {
					verb = "would be imported"
				}
				_, _ = fmt.Fprintf(a.out, "%s: %s %s\n", plain(at.String()), plural(n, "letter", "letters"), verb)
				switch {
				case broken.err != nil:
					return brokerFailed(at, err)
				case err != nil:
					return failf(exitNotCompared, "reading %s: %w", args[1], err)
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only read the file")
	return cmd
}

// brokenBox remembers that it was the broker that failed, not the file.
type brokenBox struct {
	deadletter.Box
	err error
}

func (b *brokenBox) Put(ctx context.Context, l *deadletter.Letter) error {
	b.err = b.Box.Put(ctx, l)
	return b.err
}
