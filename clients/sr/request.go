package sr

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

const (
	contentType = "application/vnd.schemaregistry.v1+json"
	accept      = contentType + ", application/vnd.schemaregistry+json, application/json"
	agent       = "cartorio-go"

	// firstWait and longestWait bound the time between tries: a random share of
	// firstWait, doubled each time. A Retry-After beyond longestAsked is not
	// waited for: the caller is told.
	firstWait    = 200 * time.Millisecond
	longestWait  = 5 * time.Second
	longestAsked = 20 * time.Second
)

// request is one call of the contract.
type request struct {
	method string
	path   string // escaped, begins with a slash
	query  url.Values
	body   any  // marshalled when not nil
	once   bool // not to be repeated when the registry may have acted on it
	raw    *string
}

// call makes r and decodes the answer into out (nil: any answer will do).
func (c *Client) call(ctx context.Context, r request, out any) error {
	var body []byte
	if r.body != nil {
		var err error
		if body, err = marshal(r.body); err != nil {
			return fmt.Errorf("ask the registry: %s %s: write the body: %w", r.method, r.path, err)
		}
	}
	first := int(c.good.Load())
	var last *Error
	for try := range c.options.Tries {
		at := (first + try) % len(c.bases)
		if try > 0 {
			if !repeatable(r, last) {
				return last
			}
			if d := pause(try, len(c.bases), last.RetryAfter); d > 0 {
				if d > longestAsked {
					return last
				}
				if err := c.wait(ctx, d); err != nil {
					return last
				}
			}
		}
		answer, failed := c.try(ctx, r, c.bases[at], body)
		if failed == nil {
			c.good.Store(uint32(at))
			return decode(r, c.bases[at], answer, out)
		}
		last = failed
		if ctx.Err() != nil {
			return last
		}
	}
	return last
}

// pause is the time before a try: nothing while there is an address that this
// call has not tried, then full jitter under a doubling bound.
func pause(try, bases int, asked time.Duration) time.Duration {
	if try < bases {
		return 0
	}
	bound := min(firstWait<<min(try-bases, 10), longestWait)
	return max(asked, rand.N(bound)) //nolint:gosec // jitter, not a secret
}

// repeatable tells whether the same call may be made again after e.
func repeatable(r request, e *Error) bool {
	switch e.Status {
	case 0:
		var notSent *notSentError
		return errors.Is(e.Err, schemas.ErrUnreachable) && (!r.once || errors.As(e.Err, &notSent))
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return !r.once
	}
	return false
}

// notSentError marks a failure before anything left this machine.
type notSentError struct{ error }

func (e *notSentError) Unwrap() error { return e.error }

func (c *Client) try(ctx context.Context, r request, b base, body []byte) ([]byte, *Error) {
	address := b.url + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	e := &Error{Method: r.method, URL: address}
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(body))
	if err != nil {
		e.Err = err
		return nil, e
	}
	for name, values := range c.options.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("User-Agent", agent)
	if body != nil {
		req.Header.Set("Content-Type", contentType)
	}
	switch {
	case c.options.Token != nil:
		token, err := c.options.Token(ctx)
		if err != nil {
			e.Err = fmt.Errorf("%w: get a token: %w", schemas.ErrRefused, err)
			return nil, e
		}
		req.Header.Set("Authorization", "Bearer "+token)
	case b.user != "":
		req.SetBasicAuth(b.user, b.password)
	}
	res, err := c.http.Do(req)
	if err != nil {
		e.Err = unreachable(err)
		return nil, e
	}
	defer res.Body.Close() //nolint:errcheck // what was to be read has been read
	answer, err := io.ReadAll(io.LimitReader(res.Body, c.options.Answer+1))
	e.Status = res.StatusCode
	switch {
	case err != nil:
		e.Status = 0
		e.Err = unreachable(err)
		return nil, e
	case int64(len(answer)) > c.options.Answer:
		e.Message = fmt.Sprintf("the answer is over the limit of %d bytes: ask for less, or raise Options.Answer", c.options.Answer)
		e.Err = schemas.ErrUnintelligible
		return nil, e
	case res.StatusCode == http.StatusOK, res.StatusCode == http.StatusNoContent:
		return answer, nil
	case res.StatusCode >= 300 && res.StatusCode < 400:
		e.Message = "the registry is not here, it redirects to " + cut(strconv.Quote(res.Header.Get("Location")), 200) + ": set the base URL to where it is"
		e.Err = schemas.ErrUnintelligible
		return nil, e
	}
	e.RetryAfter = retryAfter(res.Header.Get("Retry-After"), time.Now())
	return nil, errorOf(e, answer)
}

// unreachable wraps a network error; the URL is told once, by Error.
func unreachable(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if isDial(err) {
		err = &notSentError{err}
	}
	return fmt.Errorf("%w: %w", schemas.ErrUnreachable, err)
}

func decode(r request, b base, answer []byte, out any) error {
	if r.raw != nil {
		*r.raw = string(answer)
		return nil
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return &Error{
			Method: r.method, URL: b.url + r.path, Status: http.StatusOK,
			Message: "the answer is not what the contract promises; is the base URL right?",
			Err:     fmt.Errorf("%w: %w", schemas.ErrUnintelligible, err),
		}
	}
	return nil
}

// marshal writes JSON without escaping what HTML would need escaped: texts are
// to arrive as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// retryAfter reads seconds or a date; 0 when it is neither or is past.
func retryAfter(text string, now time.Time) time.Duration {
	if text == "" {
		return 0
	}
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// segment escapes a subject for a path. A dot alone would be walked, and an
// empty segment would vanish: both get a form that the contract reads alike.
func segment(s schemas.Subject) string {
	text := s.String()
	switch text {
	case "":
		return ":.:"
	case ".", "..":
		return strings.ReplaceAll(text, ".", "%2E")
	}
	return url.PathEscape(text)
}

// query collects the parameters that are set.
type query url.Values

func (q query) flag(name string, on bool) query {
	if on {
		url.Values(q).Set(name, "true")
	}
	return q
}

func (q query) text(name, value string) query {
	if value != "" {
		url.Values(q).Set(name, value)
	}
	return q
}

func (q query) page(p Page) query {
	if p.Offset > 0 {
		url.Values(q).Set("offset", strconv.Itoa(p.Offset))
	}
	if p.Limit > 0 {
		url.Values(q).Set("limit", strconv.Itoa(p.Limit))
	}
	return q
}
