package api

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas"
)

// members are those of one JSON object that a request is made of. Each is read
// as what it must be; the first that is something else is the error, and what is
// read behind it is empty.
type members struct {
	names  []string
	values []value
	err    error // 400 with the pointer and both types
}

// get is the member with a name that was picked.
func (m *members) get(name string) value {
	for i, known := range m.names {
		if known == name {
			return m.values[i]
		}
	}
	return value{}
}

func (m *members) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

// text is a string; null and absent are empty.
func (m *members) text(name string) string {
	v := m.get(name)
	if v.null() {
		return ""
	}
	var s string
	if v.raw[0] != '"' || json.Unmarshal(v.raw, &s) != nil {
		m.fail(v.wrong("a string"))
	}
	return s
}

// boolean is true or false; null and absent are nil.
func (m *members) boolean(name string) *bool {
	v := m.get(name)
	if v.null() {
		return nil
	}
	is := string(v.raw) == "true"
	if !is && string(v.raw) != "false" {
		m.fail(v.wrong("true or false"))
		return nil
	}
	return &is
}

// integer is a whole number of 32 bits; null and absent are nil.
func (m *members) integer(name string) *int32 {
	v := m.get(name)
	if v.null() {
		return nil
	}
	n, err := strconv.ParseInt(string(v.raw), 10, 32)
	if err != nil {
		m.fail(v.wrong(fmt.Sprintf("a whole number from %d to %d", math.MinInt32, math.MaxInt32)))
		return nil
	}
	i := int32(n)
	return &i
}

// mostReferences bounds what one request makes us keep; how many a schema may
// have is the domain's limit.
const mostReferences = 20_000

// references is a list of SchemaReference; whether one is complete is the
// domain's question.
func (m *members) references(name string) []schemas.Reference {
	var list []schemas.Reference
	err := m.get(name).each(mostReferences, func(v value) error {
		one, err := v.pick("name", "subject", "version")
		if err != nil {
			return err
		}
		r := schemas.Reference{Name: one.text("name"), Subject: one.text("subject")}
		if n := one.integer("version"); n != nil {
			r.Version = schemas.Version(*n)
		}
		list = append(list, r)
		return one.err
	})
	if err != nil {
		m.fail(err)
	}
	return list
}
