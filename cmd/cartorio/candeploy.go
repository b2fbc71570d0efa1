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

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// deploying is what can-deploy was asked.
type deploying struct {
	registry, subject, version, to, format string
	wait, every                            time.Duration
	dryRun, alone                          bool
}

// pollEvery is the time between two looks of --wait.
const pollEvery = 5 * time.Second

func (a *app) canDeployCommand() *cobra.Command {
	d := deploying{every: pollEvery}
	cmd := &cobra.Command{
		Use:   "can-deploy --subject NAME --version N --to ENVIRONMENT",
		Short: "Say whether all consumers of an environment accept a version",
		Long: `Asks the registry who reads the subject in the environment (validators with
readers' reports tell it) and whether each of them accepts the version: it declares
a range, or is pinned to a version that reads data of this one. The answer is yes
(exit 0), no (exit 1) or unknown (exit 2): of a consumer that declares neither, what
is known is whether the newest version that it has read would read the new one's
data; when that breaks, nobody can tell whether the consumer does.

An environment of which no consumer is known is unknown too, as a misspelt one
would be: --no-consumers takes it as a yes. With --wait, unknown is asked again until
it is something else or the time is over. --dry-run says the answer, once, and exits
0 whatever it is.

When ENVIRONMENT is one of cartorio.yaml, its registry is asked unless --registry
says otherwise.

` + remoteHelp,
		Example: `  cartorio can-deploy --subject orders-value --version 4 --to prod
  cartorio can-deploy --subject orders-value --version latest --to prod --wait 10m`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, e := range a.config.Environments {
				if e.Name != d.to || explicit(cmd, "registry") {
					continue
				}
				address, err := a.environment(d.to)
				if err != nil {
					return err
				}
				d.registry = address
			}
			return a.canDeploy(cmd.Context(), d)
		},
	}
	f := cmd.Flags()
	remoteFlags(cmd, &d.registry)
	f.StringVar(&d.subject, "subject", "", "`NAME` of the subject")
	f.StringVar(&d.version, "version", "", "`N`, or latest: the version that is to be written there")
	f.StringVar(&d.to, "to", "", "`ENVIRONMENT` as consumers report it")
	f.DurationVar(&d.wait, "wait", 0, "how long to ask again while the answer is unknown")
	f.BoolVar(&d.dryRun, "dry-run", false, "say the answer, once, and exit 0")
	f.BoolVar(&d.alone, "no-consumers", false, "take an environment without consumers as a yes")
	f.StringVar(&d.format, "format", "text", "text or json")
	oneOf(cmd, "format", "text", "json")
	for _, name := range []string{"subject", "version", "to", "wait", "dry-run", "no-consumers"} {
		// Variables such as CARTORIO_VERSION and CARTORIO_TO mean other things.
		keyed(cmd, name, "", "CARTORIO_DEPLOY_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	}
	return cmd
}

// The answers.
const (
	answerYes     = "yes"
	answerNo      = "no"
	answerUnknown = "unknown"
)

// deployment is the answer.
type deployment struct {
	Subject     string          `json:"subject"`
	Version     schemas.Version `json:"version"`
	Environment string          `json:"environment"`
	Answer      string          `json:"answer"`
	Reason      string          `json:"reason,omitempty"`
	Consumers   []consumerSays  `json:"consumers"`
}

// consumerSays is what is known of one consumer.
type consumerSays struct {
	Consumer string            `json:"consumer"`
	Answer   string            `json:"answer"`
	Reason   string            `json:"reason"`
	Accepts  string            `json:"accepts,omitempty"`
	Pinned   schemas.Version   `json:"pinned,omitempty"`
	Versions []schemas.Version `json:"versions"`
	Seen     string            `json:"seen,omitempty"` // RFC 3339
}

func (a *app) canDeploy(ctx context.Context, d deploying) error {
	if d.format != "text" && d.format != "json" {
		return failf(exitUsage, "--format %q is neither text nor json", d.format)
	}
	for _, must := range []struct{ flag, text string }{{"subject", d.subject}, {"version", d.version}, {"to", d.to}} {
		if must.text == "" {
			return failf(exitUsage, "--%s is needed: cartorio can-deploy --subject NAME --version N --to ENVIRONMENT", must.flag)
		}
	}
	v, err := schemas.ParseVersion(d.version)
	if err != nil {
		return failf(exitUsage, "--version: %w", err)
	}
	client, err := dial(d.registry, a.config.Auth)
	if err != nil {
		return err
	}
	defer client.Close()
	subject := inContextOf(d.subject, a.config.Context)
	found, err := client.Version(ctx, subject, v, sr.VersionOptions{})
	if err != nil {
		return failf(codeOf(err), "looking for version %s of %s: %w", v, subject, err)
	}
	var end time.Time // of the waiting, which begins with the first answer
	var answer deployment
	for {
		answer, err = consumersOf(ctx, client, found, d)
		var known *failure
		switch {
		case errors.As(err, &known):
			return err
		case err != nil:
			return fail(codeOf(err), err)
		}
		if end.IsZero() {
			end = time.Now().Add(d.wait)
		}
		left := time.Until(end)
		if answer.Answer != answerUnknown || d.dryRun || left <= 0 {
			break
		}
		a.say("unknown: %s; asking again for %s", answer.Reason, left.Round(time.Second))
		select {
		case <-ctx.Done():
			return failf(exitNotCompared, "waiting for an answer: %w", ctx.Err())
		case <-time.After(min(d.every, left)):
		}
	}
	if err := a.write("", func(w io.Writer, colours bool) error { return answer.print(w, colours, d.format) }); err != nil {
		return err
	}
	code := map[string]int{answerYes: exitOK, answerNo: exitFindings, answerUnknown: exitNotCompared}[answer.Answer]
	if d.dryRun || code == exitOK {
		return nil
	}
	return fail(code, nil)
}

// consumersOf asks who reads the subject in the environment, and what each of
// them says.
func consumersOf(ctx context.Context, client *sr.Client, found schemas.Found, d deploying) (deployment, error) {
	out := deployment{Subject: found.Subject.String(), Version: found.Version, Environment: d.to, Answer: answerYes, Consumers: []consumerSays{}}
	list, err := client.Readers(ctx, found.Subject)
	if err != nil {
		if errors.Is(err, schemas.ErrUnintelligible) || codeOf(err) == exitNotCompared {
			return out, failf(exitNotCompared, "asking who reads %s: this registry keeps no readers' reports: %w", found.Subject, err)
		}
		return out, fmt.Errorf("asking who reads %s: %w", found.Subject, err)
	}
	var elsewhere []string
	for _, r := range list {
		if r.Environment != d.to {
			if r.Environment != "" && !slices.Contains(elsewhere, r.Environment) {
				elsewhere = append(elsewhere, r.Environment)
			}
			continue
		}
		for _, read := range r.Reads {
			if read.Subject != found.Subject {
				continue
			}
			says, err := consumer(ctx, client, found, read)
			if err != nil {
				return out, fmt.Errorf("comparing for %s: %w", r.Consumer, err)
			}
			says.Consumer = r.Consumer
			out.Consumers = append(out.Consumers, says)
		}
	}
	slices.SortStableFunc(out.Consumers, func(x, y consumerSays) int { return strings.Compare(x.Consumer, y.Consumer) })
	count := map[string]int{}
	for _, c := range out.Consumers {
		count[c.Answer]++
	}
	switch {
	case count[answerNo] > 0:
		out.Answer, out.Reason = answerNo, fmt.Sprintf("%d of %s would refuse it", count[answerNo], plural(len(out.Consumers), "consumer", "consumers"))
	case count[answerUnknown] > 0:
		out.Answer, out.Reason = answerUnknown, fmt.Sprintf("of %s it is not known", plural(count[answerUnknown], "consumer", "consumers"))
	case len(out.Consumers) == 0 && !d.alone:
		out.Answer, out.Reason = answerUnknown, "no consumer in "+d.to+" has reported that it reads the subject"
		if slices.Sort(elsewhere); len(elsewhere) > 0 {
			out.Reason += ", only in " + strings.Join(elsewhere, ", ")
		}
	}
	return out, nil
}

// consumer judges by what one consumer declares: a range first, then the version
// it is pinned to; both must hold where both are there.
func consumer(ctx context.Context, client *sr.Client, found schemas.Found, read schemas.SubjectRead) (consumerSays, error) {
	c := consumerSays{Answer: answerYes, Accepts: read.Accepts, Pinned: read.Pinned, Versions: append([]schemas.Version{}, read.Versions...)}
	if !read.Seen.IsZero() {
		c.Seen = read.Seen.UTC().Format(time.RFC3339)
	}
	declares := read.Accepts != "" && read.Accepts != validate.Range{}.String()
	reader := read.Pinned
	if text, ok := strings.CutPrefix(read.Accepts, "compatible with "); ok {
		// As validate.ReadsCompatible spells it: whatever that version reads.
		named, err := schemas.ParseVersion(text)
		if declares = err != nil; err == nil && reader == 0 {
			reader = named
		}
	}
	fixed := reader != 0
	if declares {
		covered, err := validate.Reads(read.Accepts)
		if err != nil {
			c.Answer, c.Reason = answerUnknown, fmt.Sprintf("it declares %q, which this cartorio cannot read", read.Accepts)
			return c, nil //nolint:nilerr // that it cannot be read is the answer
		}
		if !covered.Has(found.Version) {
			c.Answer, c.Reason = answerNo, "it accepts "+read.Accepts
			return c, nil
		}
		c.Reason = "it accepts " + read.Accepts
	}
	if !fixed && declares {
		return c, nil
	}
	if !fixed {
		if len(read.Versions) == 0 {
			c.Answer, c.Reason = answerUnknown, "it declares no version, and has read none"
			return c, nil
		}
		reader = slices.Max(read.Versions)
	}
	if reader == found.Version {
		c.Reason = fmt.Sprintf("it reads version %s", reader)
		return c, nil
	}
	ok, why, err := client.CanRead(ctx, found.Subject, reader, found.Version)
	switch {
	case unknown(err):
		c.Answer, c.Reason = answerUnknown, fmt.Sprintf("version %s, which it reads with, is no longer there to compare with", reader)
	case err != nil:
		return c, err
	case ok:
		c.Reason = fmt.Sprintf("version %s, which it reads with, reads this one's data", reader)
	case !fixed:
		c.Answer, c.Reason = answerUnknown, fmt.Sprintf("it declares nothing, and version %s, the newest that it has read, would not read this one's data: %s", reader, why)
	case strings.HasPrefix(why, "the registry could not compare them"):
		c.Answer, c.Reason = answerUnknown, why
	default:
		c.Answer, c.Reason = answerNo, fmt.Sprintf("it reads with version %s: %s", reader, why)
	}
	return c, nil
}

func (d deployment) print(w io.Writer, colours bool, format string) error {
	if format == "json" {
		return writeJSON(w, d)
	}
	var b strings.Builder
	colour := map[string]string{answerYes: green, answerNo: red, answerUnknown: yellow}
	for _, c := range d.Consumers {
		fmt.Fprintf(&b, "%s %s: %s\n", paint(colours, colour[c.Answer], fmt.Sprintf("%-7s", c.Answer)), plain(c.Consumer), plain(c.Reason))
	}
	fmt.Fprintf(&b, "%s: %s version %s to %s", d.Answer, plain(d.Subject), d.Version, plain(d.Environment))
	if d.Reason != "" {
		b.WriteString(": " + plain(d.Reason))
	} else if n := len(d.Consumers); n > 0 {
		fmt.Fprintf(&b, ": %s", plural(n, "consumer accepts it", "consumers accept it"))
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}
