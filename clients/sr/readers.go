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
	r := request{method: http.MethodGet, path: "/api/v1/subjects/" + segment(s) + "/readers"}
	var b readersAnswer
	if err := c.call(ctx, r, &b); err != nil {
		return nil, err
	}
	out := make([]schemas.Readership, 0, len(b))
	for _, one := range b {
		reader := schemas.Readership{Consumer: one.Consumer, Environment: one.Environment}
		for _, read := range one.Reads {
			subject := schemas.ParseSubject(read.Subject)
			if read.Context != "" {
				subject = schemas.Subject{Context: read.Context, Name: subject.Name}
			}
			known := schemas.SubjectRead{
				Subject: subject, Versions: read.Versions, Accepts: read.Accepts, Pinned: read.Pinned,
				Accepted: read.Accepted, Rejected: read.Rejected,
			}
			if read.Seen != "" {
				at, err := time.Parse(time.RFC3339, read.Seen)
				if err != nil {
					return nil, &Error{Method: r.method, URL: c.bases[c.good.Load()].url + r.path, Status: http.StatusOK, Message: "the member seen: " + err.Error(), Err: schemas.ErrUnintelligible}
				}
				known.Seen = at
			}
			reader.Reads = append(reader.Reads, known)
		}
		out = append(out, reader)
	}
	return out, nil
}
