package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) healthCommand() *cobra.Command {
	var base, listen, basePath string
	var ready bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "health [URL]",
		Short: "Ask a server whether it is healthy: a probe for containers",
		Long: `Asks a server's /healthz and exits 0 when it answers 200, 4 otherwise.
Without URL the server that this environment and cartorio.yaml would start is
asked.`,
		Example: "  cartorio health\n  cartorio health http://registry:8081 --ready",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				base = args[0]
			} else {
				var err error
				if base, err = addressOf(listen, basePath); err != nil {
					return fail(exitUsage, err)
				}
			}
			path := "/healthz"
			if ready {
				path = "/readyz"
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			return probe(ctx, base, path)
		},
	}
	cmd.Flags().BoolVar(&ready, "ready", false, "ask whether it is ready to be used, not only alive")
	cmd.Flags().DurationVar(&timeout, "timeout", 2*time.Second, "how long to wait")
	cmd.Flags().StringVar(&listen, "listen", defaultListen, "address that the server listens on")
	cmd.Flags().StringVar(&basePath, "base-path", "", "path that stands before every path of the server")
	keyed(cmd, "listen", "serve.listen", "")
	keyed(cmd, "base-path", "serve.basePath", "")
	return cmd
}

// addressOf makes a URL that reaches a listening address from the same machine.
func addressOf(listen, basePath string) (string, error) {
	if err := checkAddress(listen); err != nil {
		return "", fmt.Errorf("--listen: %w: write HOST:PORT, as in %s", err, defaultListen)
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port) + "/" + strings.Trim(basePath, "/"), nil
}

func probe(ctx context.Context, base, path string) error {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return failf(exitUsage, "asking %q: it is no http or https address", base)
	}
	u = u.JoinPath(path)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return fail(exitUsage, err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return failf(exitUnreachable, "asking %s: %w", u.Redacted(), err)
	}
	defer answer.Body.Close() //nolint:errcheck // it is only read
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	if answer.StatusCode != http.StatusOK {
		return failf(exitUnreachable, "asking %s: it answers %s", u.Redacted(), answer.Status)
	}
	return nil
}
