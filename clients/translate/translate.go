// Package translate turns a declared mapping into the steps by which a
// validator, or a bridge between two destinations, translates messages from one
// version of a subject to the next.
//
// A mapping is a small YAML or JSON file: per subject and pair of neighbouring
// versions a list of changes, each a rename, a default, a drop or a cast. They
// work on documents (see [schemas.Documents]), so one file serves the three
// formats. Nothing is guessed: what a change cannot do exactly is an error, and
// what comes out is judged by the target version, by whoever runs the steps.
//
// Expressions in JSONata are refused by name: no engine was found that is kept
// up and bounds what an expression may cost.
//
// Start with [Parse] and [Mapping.Steps].
package translate

import (
	_ "embed" // the published form of a mapping
	"errors"
	"fmt"
	"slices"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

//go:embed mapping.schema.json
var mappingSchema []byte

// MappingSchema is the JSON Schema (draft 2020-12) of a mapping file.
func MappingSchema() []byte { return slices.Clone(mappingSchema) }

// Mapping is a mapping file that was read.
type Mapping struct {
	Translations []Translation
}

// Translation leads from one version of a subject to the next, or down to the
// one before.
type Translation struct {
	Subject  schemas.Subject
	From, To schemas.Version
	// Changes are made in their order.
	Changes []Change
}

// Steps are the mapping's translations for validate.Expect.Steps.
func (m *Mapping) Steps() []validate.Step {
	out := make([]validate.Step, 0, len(m.Translations))
	for i := range m.Translations {
		t := &m.Translations[i]
		out = append(out, validate.Step{Subject: t.Subject, From: t.From, To: t.To, Apply: t.Apply})
	}
	return out
}

// Apply makes the changes in a document: compact JSON, members in their order.
//
// Errors: the document is no JSON; a change cannot be made, with the change and
// the place.
func (t *Translation) Apply(document []byte) ([]byte, error) {
	limits := schemas.DefaultLimits()
	v, err := jsontext.Parse(string(document), jsontext.Options{Depth: mostDepth, Digits: limits.Digits, Exponent: limits.Exponent, Strict: true})
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	for i := range t.Changes {
		c := &t.Changes[i]
		if err := c.apply(v); err != nil {
			return nil, fmt.Errorf("%s: %w", c, err)
		}
	}
	return v.Append(make([]byte, 0, len(document)+64), false), nil
}

// mostDepth bounds documents: payloads of 128 levels, twice for the names around
// the values of unions.
const mostDepth = 260

// Unsupported tells which contract rules of a schema would have to run to
// migrate data from or to it, and that they do not.
//
// Errors: there is such a rule; nil when there is none.
func Unsupported(set *schemas.RuleSet) error {
	if set == nil {
		return nil
	}
	var errs []error
	for _, r := range set.Migration {
		if !r.Disabled {
			errs = append(errs, fmt.Errorf("the migration rule %q (%s, %s) is not executed: expressions are not run, write what it does as a mapping of rename, default, drop and cast", r.Name, r.Mode, r.Type))
		}
	}
	return errors.Join(errs...)
}
