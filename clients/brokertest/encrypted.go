package brokertest

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Encrypted is an adapter's way through a line that speaks TLS.
type Encrypted struct {
	// Publish publishes a message by c to the broker at host:port, where ctx is how
	// long it is tried.
	Publish func(ctx context.Context, address string, c *tls.Config) error
	// Consume runs a consumer and answers nil when it has handled that message, else
	// why it did not start.
	Consume func(ctx context.Context, address string, c *tls.Config) error
}

// TLS has an adapter speak TLS to the broker at target. With the right authority a
// message goes there and back; otherwise both sides say what is wrong with the
// certificate, and that trying again may help.
func (w *Workshop) TLS(t *testing.T, target string, e Encrypted) {
	t.Helper()
	line, roots := NewTLSLine(t, target)
	_, port, err := net.SplitHostPort(line.Address)
	if err != nil {
		t.Fatal(err)
	}
	trusting := func() *tls.Config { return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12} }
	for _, address := range []string{line.Address, net.JoinHostPort("localhost", port)} {
		patient, cancel := context.WithTimeout(t.Context(), patience)
		if err := e.Publish(patient, address, trusting()); err != nil {
			t.Errorf("publish to %s: %v", address, err)
		}
		if err := e.Consume(patient, address, trusting()); err != nil {
			t.Errorf("consume from %s: %v", address, err)
		}
		cancel()
	}
	misnamed := trusting()
	misnamed.ServerName = "elsewhere.example"
	for _, tt := range []struct {
		name, says string
		c          *tls.Config
	}{
		{"an authority that nobody knows", "certificate signed by unknown authority", &tls.Config{MinVersion: tls.VersionTLS12}},
		{"another's certificate", "certificate is valid for localhost, not elsewhere.example", misnamed},
	} {
		// It is tried to the end, and has to have found out why by then.
		brief, cancel := context.WithTimeout(t.Context(), 6*time.Second)
		err := e.Publish(brief, line.Address, tt.c)
		if err == nil || !strings.Contains(err.Error(), tt.says) || !errors.Is(err, validate.ErrUnavailable) {
			t.Errorf("%s: publish: %v", tt.name, err)
		}
		cancel()
		patient, cancel := context.WithTimeout(t.Context(), patience)
		if err := e.Consume(patient, line.Address, tt.c); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: consume: %v", tt.name, err)
		}
		cancel()
		t.Logf("%s: %v", tt.name, err)
	}
}

// Handled answers nil when what is asked for was handled: run is a consumer's, and
// handled is closed by its handler.
func Handled(ctx context.Context, run func(context.Context) error, handled <-chan struct{}) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- run(running) }()
	select {
	case <-handled:
		stop()
		return <-ended
	case err := <-ended:
		return errors.Join(err, ctx.Err())
	}
}
