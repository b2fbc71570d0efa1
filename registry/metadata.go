package registry

import (
	"maps"
	"slices"
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas"
)

// versionProperty is the metadata property that the registry manages: it holds
// the number of a version that was asked for by number.
//
// Source: REST contract 5.7.
const versionProperty = "confluent:version"

func isEmptyMetadata(m *schemas.Metadata) bool {
	return m == nil || len(m.Tags) == 0 && len(m.Properties) == 0 && len(m.Sensitive) == 0
}

func isEmptyRuleSet(s *schemas.RuleSet) bool {
	return s == nil || len(s.Migration) == 0 && len(s.Domain) == 0 && len(s.Encoding) == 0 && s.EnableAt == ""
}

// tidyMetadata is m with its sets sorted and made distinct, and without what is
// empty in it; nil stays nil.
func tidyMetadata(m *schemas.Metadata) *schemas.Metadata {
	if m == nil {
		return nil
	}
	out := &schemas.Metadata{Properties: maps.Clone(m.Properties), Sensitive: tidySet(m.Sensitive)}
	for path, tags := range m.Tags {
		if out.Tags == nil {
			out.Tags = make(map[string][]string, len(m.Tags))
		}
		out.Tags[path] = tidySet(tags)
	}
	if len(out.Properties) == 0 {
		out.Properties = nil
	}
	return out
}

func tidySet(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// mergeMetadata puts over on top of under: later properties win, sets are
// united. Nothing is nil only where both say nothing.
//
// Source: REST contract 5.7.
func mergeMetadata(under, over *schemas.Metadata) *schemas.Metadata {
	switch {
	case under == nil:
		return over
	case over == nil:
		return under
	}
	out := &schemas.Metadata{Properties: maps.Clone(under.Properties), Tags: maps.Clone(under.Tags), Sensitive: tidySet(slices.Concat(under.Sensitive, over.Sensitive))}
	for k, v := range over.Properties {
		if out.Properties == nil {
			out.Properties = map[string]string{}
		}
		out.Properties[k] = v
	}
	for path, tags := range over.Tags {
		if out.Tags == nil {
			out.Tags = map[string][]string{}
		}
		out.Tags[path] = tidySet(slices.Concat(out.Tags[path], tags))
	}
	return out
}

// property is what a metadata property holds, "" where there is none.
func property(m *schemas.Metadata, name string) string {
	if m == nil {
		return ""
	}
	return m.Properties[name]
}

// compares tells whether versions with these metadata are of one group.
//
// Source: REST contract 5.10.
func (c Config) compares(a, b *schemas.Metadata) bool {
	return c.Group == "" || property(a, c.Group) == property(b, c.Group)
}

// withVersion is m with the managed property set to v.
func withVersion(m *schemas.Metadata, v schemas.Version) *schemas.Metadata {
	out := schemas.Metadata{}
	if m != nil {
		out = *m
	}
	out.Properties = maps.Clone(out.Properties)
	if out.Properties == nil {
		out.Properties = map[string]string{}
	}
	out.Properties[versionProperty] = strconv.Itoa(int(v))
	return &out
}

// withoutVersion is m without the managed property, and what it held. Nothing
// left is nil.
func withoutVersion(m *schemas.Metadata) (rest *schemas.Metadata, held string, ok bool) {
	if m == nil {
		return nil, "", false
	}
	held, ok = m.Properties[versionProperty]
	if !ok {
		return m, "", false
	}
	out := *m
	out.Properties = maps.Clone(out.Properties)
	delete(out.Properties, versionProperty)
	if isEmptyMetadata(&out) {
		return nil, held, true
	}
	return &out, held, true
}

// equalMetadata tells absent from empty, as the GUID does; sets have no order.
func equalMetadata(a, b *schemas.Metadata) bool {
	if a == nil || b == nil {
		return a == b
	}
	return maps.EqualFunc(a.Tags, b.Tags, equalSets) && maps.Equal(a.Properties, b.Properties) && equalSets(a.Sensitive, b.Sensitive)
}

func equalRules(a, b *schemas.RuleSet) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.EnableAt == b.EnableAt && slices.EqualFunc(a.Migration, b.Migration, equalRule) &&
		slices.EqualFunc(a.Domain, b.Domain, equalRule) && slices.EqualFunc(a.Encoding, b.Encoding, equalRule)
}

func equalRule(a, b schemas.ContractRule) bool {
	return a.Name == b.Name && a.Doc == b.Doc && a.Kind == b.Kind && a.Mode == b.Mode && a.Type == b.Type &&
		a.Expr == b.Expr && a.OnSuccess == b.OnSuccess && a.OnFailure == b.OnFailure && a.Disabled == b.Disabled &&
		equalSets(a.Tags, b.Tags) && maps.Equal(a.Params, b.Params)
}

func equalSets(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// equivalentMetadata is equality inside one subject: the managed property counts
// only when both sides have it, and one that is asked for must be the number
// that the stored version has.
//
// Source: REST contract 5.5, step 2.
func equivalentMetadata(asked, stored *schemas.Metadata, number schemas.Version) bool {
	a, wanted, askedHas := withoutVersion(asked)
	b, _, storedHas := withoutVersion(stored)
	switch {
	case askedHas == storedHas:
		return equalMetadata(asked, stored)
	case askedHas && wanted != strconv.Itoa(int(number)):
		return false
	case isEmptyMetadata(a) && isEmptyMetadata(b):
		return true
	}
	return equalMetadata(a, b)
}

// equivalentReferences tells whether a source may be equivalent to a version
// with stored references: they are equal, or an Avro text has its types inline.
//
// Source: REST contract 5.5, step 2.
func equivalentReferences(asked schemas.Source, stored []schemas.Reference) bool {
	return slices.Equal(asked.References, stored) || asked.Type == schemas.Avro && len(asked.References) == 0
}
