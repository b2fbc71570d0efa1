package sr

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// readersAnswer is the list of readers, bare or as the member readers.
type readersAnswer []readerBody

type readerBody struct {
	Consumer    string           `json:"consumer"`
	Environment string           `json:"environment"`
	Reads       []readAnswerBody `json:"reads"`
}

type readAnswerBody struct {
	Subject  string            `json:"subject"`
	Context  schemas.Context   `json:"context"`
	Versions []schemas.Version `json:"versions"`
	Accepts  string            `json:"accepts"`
	Pinned   schemas.Version   `json:"pinned"`
	Seen     string            `json:"seen"` // RFC 3339
	Accepted uint64            `json:"accepted"`
	Rejected uint64            `json:"rejected"`
	Told     string            `json:"told"` // RFC 3339
	Uses     []struct {
		Version schemas.Version `json:"version"`
		Seen    string          `json:"seen"`
	} `json:"uses"`
}

func (a *readersAnswer) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		return json.Unmarshal(data, (*[]readerBody)(a))
	}
	var whole struct {
		Readers *[]readerBody `json:"readers"`
	}
	if err := json.Unmarshal(data, &whole); err != nil {
		return err
	}
	if whole.Readers == nil {
		// Silence is not the same as nobody.
		return errors.New("there is no member readers")
	}
	*a = *whole.Readers
	return nil
}

// Readers lists the consumers that have told the registry what they read of a
// subject, in all environments. Only a Cartório that keeps readers' reports
// answers.
//
// GET /api/v1/subjects/{s}/readers
// Errors: ErrUnintelligible when the registry keeps none.
func (c *Client) Readers(ctx context.Context, s schemas.Subject) ([]schemas.Readership, error) {
	return c.readers(ctx, request{method: http.MethodGet, path: "/api/v1/subjects/" + segment(s) + "/readers"})
}

// AllReaders lists the consumers that have told the registry what they read, of
// all subjects.
//
// GET /api/v1/readers
// Errors: ErrUnintelligible when the registry keeps none.
func (c *Client) AllReaders(ctx context.Context) ([]schemas.Readership, error) {
	return c.readers(ctx, request{method: http.MethodGet, path: "/api/v1/readers"})
}

func (c *Client) readers(ctx context.Context, r request) ([]schemas.Readership, error) {
	var b readersAnswer
	if err := c.call(ctx, r, &b); err != nil {
		return nil, err
	}
	out := make([]schemas.Readership, 0, len(b))
	for _, one := range b {
		reader := schemas.Readership{Consumer: one.Consumer, Environment: one.Environment}
		for i := range one.Reads {
			read, err := one.Reads[i].read()
			if err != nil {
				return nil, &Error{Method: r.method, URL: c.bases[c.good.Load()].url + r.path, Status: http.StatusOK, Message: "the member seen: " + err.Error(), Err: schemas.ErrUnintelligible}
			}
			reader.Reads = append(reader.Reads, read)
		}
		out = append(out, reader)
	}
	return out, nil
}

// read is a body in our words.
//
// Errors: a moment that is none.
func (b *readAnswerBody) read() (r schemas.SubjectRead, err error) {
	r = schemas.SubjectRead{Subject: schemas.ParseSubject(b.Subject), Versions: b.Versions, Accepts: b.Accepts, Pinned: b.Pinned, Accepted: b.Accepted, Rejected: b.Rejected}
	if b.Context != "" {
		r.Subject = schemas.Subject{Context: b.Context, Name: r.Subject.Name}
	}
	moment := func(text string) (at time.Time) {
		if text != "" && err == nil {
			at, err = time.Parse(time.RFC3339, text)
		}
		return at
	}
	r.Seen, r.Told = moment(b.Seen), moment(b.Told)
	for _, u := range b.Uses {
		r.Uses = append(r.Uses, schemas.VersionUse{Version: u.Version, Seen: moment(u.Seen)})
	}
	return r, err
}
