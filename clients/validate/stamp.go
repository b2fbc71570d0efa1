package validate

import (
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas"
)

// stampText is the text of a header, and the same as a header's value, so that
// neither is made for each message. The zero stampText is no header.
type stampText struct {
	text  string
	value any
}

func stampTextOf(text string) stampText {
	if text == "" {
		return stampText{}
	}
	return stampText{text, text}
}

// stampTexts are what messages of one version of a subject are stamped with.
type stampTexts struct {
	of                              use
	subject, version, id, guid, typ stampText
}

// use is a version of a subject.
type use struct {
	subject schemas.Subject
	version schemas.Version
}

// texts gives the stamps of a record as a version of a subject, 0 when that is
// not known.
func (r *record) texts(s schemas.Subject, v schemas.Version) *stampTexts {
	of := use{s, v}
	if t := r.stamped.Load(); t != nil && t.of == of {
		return t
	}
	f := &r.found
	t := &stampTexts{of: of, subject: stampTextOf(s.String()), typ: stampTextOf(string(f.Source.Type))}
	if v != 0 {
		t.version = stampTextOf(v.String())
	}
	if f.ID.Number != 0 {
		t.id = stampTextOf(strconv.Itoa(int(f.ID.Number)))
	}
	if f.GUID != (schemas.GUID{}) {
		t.guid = stampTextOf(f.GUID.String())
	}
	r.stamped.Store(t)
	return t
}
