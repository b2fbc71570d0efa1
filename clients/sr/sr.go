// Package sr is the Go client of the registry's REST contract.
//
// It works against Cartório and every registry that speaks the same contract.
// It caches nothing: package validate does, and any other caller knows better
// what may be old. It shares no body types with the server: one recorded corpus
// judges both.
//
// Start with [New]. A [Client] is a validate.Lookup.
package sr

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Options are what a client is made of. Only URLs is needed.
type Options struct {
	// URLs are base addresses of one registry, tried in order; a base path and
	// a trailing slash are allowed. User information in one is taken as User
	// and Password for it.
	URLs []string

	// User and Password are sent as HTTP Basic to every URL without its own.
	User, Password string
	// Token gives a bearer token for each request; see StaticToken. It excludes
	// User. An error counts as refused credentials.
	Token func(context.Context) (string, error)
	// TLS configures https, client certificates included.
	TLS *tls.Config
	// Header is sent with every request, beside what the client sets itself.
	Header http.Header

	// Connect bounds one connection attempt, 2 s. Timeout bounds one try from
	// connecting to the last byte, 5 s.
	Connect, Timeout time.Duration
	// Tries is how often one call is tried, 3, and at least once per URL.
	Tries int
	// Answer is the most bytes of one answer, 64 MiB.
	Answer int64

	// Transport replaces the client's own; TLS and Connect are then its affair.
	Transport http.RoundTripper
}

// Client speaks to one registry. It is safe for use by many goroutines.
type Client struct {
	bases   []base
	options Options
	http    *http.Client
	good    atomic.Uint32 // index of the base that answered last
	// wait is time between tries; tests replace it.
	wait func(context.Context, time.Duration) error
}

type base struct {
	url            string // without trailing slash and user information
	user, password string
}

// StaticToken is an Options.Token that never changes.
func StaticToken(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

// New makes a client. It asks the registry nothing.
//
// Errors: no URL, one that is not http or https, both Token and User.
func New(o Options) (*Client, error) {
	if len(o.URLs) == 0 {
		return nil, errors.New("make a registry client: no URL is given: set Options.URLs to the registry's base address")
	}
	c := &Client{options: o, wait: wait}
	for _, text := range o.URLs {
		b, err := parseBase(text)
		if err != nil {
			return nil, fmt.Errorf("make a registry client: %w", err)
		}
		if b.user == "" {
			b.user, b.password = o.User, o.Password
		}
		if b.user != "" && o.Token != nil {
			return nil, errors.New("make a registry client: both a user and a token are given: keep one")
		}
		c.bases = append(c.bases, b)
	}
	set(&c.options.Connect, 2*time.Second)
	set(&c.options.Timeout, 5*time.Second)
	set(&c.options.Tries, 3)
	set(&c.options.Answer, 64<<20)
	c.options.Tries = max(c.options.Tries, len(c.bases))
	transport := o.Transport
	if transport == nil {
		transport = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: c.options.Connect, KeepAlive: 30 * time.Second}).DialContext,
			TLSClientConfig:       o.TLS,
			TLSHandshakeTimeout:   c.options.Connect,
			ForceAttemptHTTP2:     true,
			MaxIdleConnsPerHost:   16,
			IdleConnTimeout:       90 * time.Second,
			ResponseHeaderTimeout: c.options.Timeout,
		}
	}
	c.http = &http.Client{
		Transport: transport,
		// A registry that moved is a configuration to mend, and a redirect is
		// what captive portals answer: nothing is followed anywhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Close gives up idle connections. The client may be used on.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func parseBase(text string) (base, error) {
	u, err := url.Parse(text)
	if err != nil {
		// The parser's own error repeats the text, password included.
		return base{}, errors.New("a base URL does not parse: write http://HOST:PORT or https://HOST:PORT")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return base{}, fmt.Errorf("the base URL %s: write http://HOST:PORT or https://HOST:PORT", u.Redacted())
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return base{}, fmt.Errorf("the base URL %s: it has a query or a fragment: only a path may follow the host", u.Redacted())
	}
	b := base{user: u.User.Username()}
	b.password, _ = u.User.Password()
	u.User = nil
	b.url = strings.TrimRight(u.String(), "/")
	return b, nil
}

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
