package sr

import (
	"context"
	"net/http"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Marks are what a Cartório remembers beside versions, configs and modes.
type Marks struct {
	Contexts []ContextMarks
	Subjects []SubjectMarks
	// Configs and Modes are the scopes that have one; SetMarks does not send them.
	Configs, Modes []schemas.Subject
}

// ContextMarks are a context's: whether it is listed, and the highest id ever
// given in it.
type ContextMarks struct {
	Context   schemas.Context `json:"context"`
	Listed    bool            `json:"listed"`
	HighestID int32           `json:"highestId"`
}

// SubjectMarks are a subject's: the highest number ever given, the numbers that
// were permanently deleted, and those that stand hidden behind another.
type SubjectMarks struct {
	Subject        schemas.Subject
	HighestVersion schemas.Version
	Gone           []GoneVersion
	Hidden         []HiddenVersion
}

// GoneVersion is a number that was permanently deleted, and what it was.
type GoneVersion struct {
	Version schemas.Version
	GUID    schemas.GUID
	Type    schemas.Type
}

// HiddenVersion is a number whose place another one took.
type HiddenVersion struct {
	Version schemas.Version `json:"version"`
	By      schemas.Version `json:"by"`
}

type marksBody struct {
	Contexts []ContextMarks     `json:"contexts,omitempty"`
	Subjects []subjectMarksBody `json:"subjects,omitempty"`
	Configs  []string           `json:"configs,omitempty"`
	Modes    []string           `json:"modes,omitempty"`
}

type subjectMarksBody struct {
	Subject        string          `json:"subject"`
	HighestVersion schemas.Version `json:"highestVersion"`
	Gone           []goneBody      `json:"gone,omitempty"`
	Hidden         []HiddenVersion `json:"hidden,omitempty"`
}

type goneBody struct {
	Version schemas.Version `json:"version"`
	GUID    string          `json:"guid"`
	Type    schemas.Type    `json:"schemaType"`
}

// Marks asks a Cartório what it remembers; other registries have no such route.
//
// GET /api/v1/marks
func (c *Client) Marks(ctx context.Context) (Marks, error) {
	r := request{method: http.MethodGet, path: "/api/v1/marks"}
	var b marksBody
	if err := c.call(ctx, r, &b); err != nil {
		return Marks{}, err
	}
	m := Marks{Contexts: b.Contexts, Configs: subjects(b.Configs), Modes: subjects(b.Modes)}
	for _, s := range b.Subjects {
		u := SubjectMarks{Subject: schemas.ParseSubject(s.Subject), HighestVersion: s.HighestVersion, Hidden: s.Hidden}
		for _, g := range s.Gone {
			guid, err := schemas.ParseGUID(g.GUID)
			if err != nil {
				return m, &Error{Method: r.method, URL: c.bases[c.good.Load()].url + r.path, Status: http.StatusOK, Message: "the member guid: " + err.Error(), Err: schemas.ErrUnintelligible}
			}
			u.Gone = append(u.Gone, GoneVersion{g.Version, guid, g.Type})
		}
		m.Subjects = append(m.Subjects, u)
	}
	return m, nil
}

// SetMarks makes a Cartório remember what another registry did. What it names
// must be in mode IMPORT. It is safe to repeat.
//
// PUT /api/v1/marks
// Errors: an *Error with Code 42205 for a mark that contradicts what is there.
func (c *Client) SetMarks(ctx context.Context, m Marks) error {
	b := marksBody{Contexts: m.Contexts}
	for _, u := range m.Subjects {
		s := subjectMarksBody{Subject: u.Subject.String(), HighestVersion: u.HighestVersion, Hidden: u.Hidden}
		for _, g := range u.Gone {
			s.Gone = append(s.Gone, goneBody{g.Version, g.GUID.String(), g.Type})
		}
		b.Subjects = append(b.Subjects, s)
	}
	return c.call(ctx, request{method: http.MethodPut, path: "/api/v1/marks", body: b}, nil)
}
