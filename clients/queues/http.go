package queues

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/cartorio-registry/cartorio/clients/brokers"
)

// mostAnswer bounds what a management may answer, in bytes.
const mostAnswer = 16 << 20

// question is one request to a management; body nil is a GET.
type question struct {
	path string // escaped
	body any
}

// management asks one question and reads the answer into out.
func management(ctx context.Context, at brokers.Address, o Options, q question, out any) error {
	base, err := url.Parse(o.Management)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return errors.New("the address of its management is not understood: write http://HOST:PORT") // it may hold a password
	}
	user, password := at.User, at.Password
	if base.User != nil {
		user = base.User.Username()
		password, _ = base.User.Password()
	} else if user == "" && at.Kind == brokers.RabbitMQ {
		user, password = "guest", "guest" // the broker's own default, as its protocol's
	}
	where := base.Scheme + "://" + base.Host
	method, body := http.MethodGet, io.Reader(nil)
	if q.body != nil {
		text, err := json.Marshal(q.body)
		if err != nil {
			return err
		}
		method, body = http.MethodPost, bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, where+strings.TrimSuffix(base.EscapedPath(), "/")+q.path, body)
	if err != nil {
		return errors.New("the address of its management is not understood: write http://HOST:PORT")
	}
	if user != "" {
		r.SetBasicAuth(user, password)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", where) // Jolokia answers nobody without
	client := o.HTTP
	if client == nil {
		// No redirect is followed, and no connection kept: one question is asked.
		transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: at.TLSConfig(), DisableKeepAlives: true}
		client = &http.Client{Timeout: askTime, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	answer, err := client.Do(r)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // its own text repeats the URL
		}
		return fmt.Errorf("reach the management at %s: %w", where, err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read, or does not matter
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer+1))
	switch {
	case answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden:
		return fmt.Errorf("ask the management at %s: %w", where, brokers.ErrRefused)
	case answer.StatusCode == http.StatusNotFound:
		return fmt.Errorf("ask the management at %s: %w, or this is no management", where, brokers.ErrMissing)
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("ask the management at %s: it answers %s", where, answer.Status)
	case err != nil:
		return fmt.Errorf("ask the management at %s: %w", where, err)
	case len(text) > mostAnswer:
		return fmt.Errorf("ask the management at %s: its answer has over %d bytes", where, mostAnswer)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("ask the management at %s: its answer is not understood: %w", where, err)
	}
	return nil
}
