package jsonschema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// mender proposes patches for one change. Whatever it proposes is read and
// compared by compat before anybody sees it, so a proposal may be bold: what
// does not parse, or does not help, is dropped there.
//
// There is no step to roll out first: which values fit is a matter of inclusion,
// so whatever lies between two schemas of which one does not hold the other
// breaks on one side of it.
type mender struct {
	is   jsontext.Editor  // the new text, or the one that the new schema refers to
	was  jsontext.Editor  // the old one
	o, n *jsonschema.Node // where the change stands
	f    *finding
	list []compat.Patch

	backward, forward bool
}

// restored are the keywords that say what a rule's change is about: with them as
// they were, it is undone.
var restored = map[string][]string{
	typeNarrowed.ID: {"type"}, typeWidened.ID: {"type"}, typeChanged.ID: {"type"},
	enumNarrowed.ID: {"enum", "const"}, enumWidened.ID: {"enum", "const"}, enumChanged.ID: {"enum", "const"},
	lowRaised.ID: {"minimum", "exclusiveMinimum"}, lowLowered.ID: {"minimum", "exclusiveMinimum"},
	highLowered.ID: {"maximum", "exclusiveMaximum"}, highRaised.ID: {"maximum", "exclusiveMaximum"},
	stepTightened.ID: {"multipleOf"}, stepLoosened.ID: {"multipleOf"}, stepChanged.ID: {"multipleOf"},
	minLengthRaised.ID: {"minLength"}, minLengthLowered.ID: {"minLength"}, maxLengthLowered.ID: {"maxLength"}, maxLengthRaised.ID: {"maxLength"},
	patternAdded.ID: {"pattern"}, patternRemoved.ID: {"pattern"}, patternChanged.ID: {"pattern"},
	formatAdded.ID: {"format"}, formatRemoved.ID: {"format"}, formatChanged.ID: {"format"},
	contentChanged.ID: {"contentEncoding", "contentMediaType", "contentSchema"},
	minItemsRaised.ID: {"minItems"}, minItemsLowered.ID: {"minItems"}, maxItemsLowered.ID: {"maxItems"}, maxItemsRaised.ID: {"maxItems"},
	uniqueAdded.ID: {"uniqueItems"}, uniqueRemoved.ID: {"uniqueItems"},
	containsAdded.ID: containing, containsRemoved.ID: containing, containsChanged.ID: containing,
	minContainsRaised.ID: containing, minContainsLowered.ID: containing, maxContainsLowered.ID: containing, maxContainsRaised.ID: containing,
	itemAdded.ID: listing, itemRemoved.ID: listing, itemsRestricted.ID: listing, itemsFreed.ID: listing,
	unevaluatedItemsRestricted.ID: {"unevaluatedItems"}, unevaluatedItemsFreed.ID: {"unevaluatedItems"},
	restRestricted.ID: {"additionalProperties"}, restFreed.ID: {"additionalProperties"},
	patternPropertyAdded.ID: {"patternProperties"}, patternPropertyRemoved.ID: {"patternProperties"},
	namesRestricted.ID: {"propertyNames"}, namesFreed.ID: {"propertyNames"},
	minPropertiesRaised.ID: {"minProperties"}, minPropertiesLowered.ID: {"minProperties"},
	maxPropertiesLowered.ID: {"maxProperties"}, maxPropertiesRaised.ID: {"maxProperties"},
	dependencyAdded.ID: depending, dependencyRemoved.ID: depending, dependentAdded.ID: depending, dependentRemoved.ID: depending,
	unevaluatedRestricted.ID: {"unevaluatedProperties"}, unevaluatedFreed.ID: {"unevaluatedProperties"},
	alternativeRemoved.ID: {"anyOf"}, alternativeAdded.ID: {"anyOf"}, choiceAdded.ID: {"oneOf"}, choiceRemoved.ID: {"oneOf"},
	partAdded.ID: {"allOf"}, partRemoved.ID: {"allOf"},
	notAdded.ID: {"not"}, notRemoved.ID: {"not"}, notChanged.ID: {"not"},
	conditionalChanged.ID: {"if", "then", "else"},
	combinationChanged.ID: {"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf"},
	dialectChanged.ID:     {"$schema"},
}

var (
	containing = []string{"contains", "minContains", "maxContains"}
	listing    = []string{"items", "prefixItems", "additionalItems"}
	depending  = []string{"dependencies", "dependentRequired", "dependentSchemas"}
)

// nearer are the repairs that keep more of what was meant than undoing it does.
var nearer = map[string]func(*mender){
	typeNarrowed.ID:       (*mender).bothTypes,
	typeChanged.ID:        (*mender).bothTypes,
	enumNarrowed.ID:       (*mender).bothValues,
	enumChanged.ID:        (*mender).bothValues,
	patternChanged.ID:     (*mender).bothPatterns,
	propertyAdded.ID:      (*mender).loosenProperty,
	propertyRemoved.ID:    (*mender).keepProperty,
	propertyRenamed.ID:    (*mender).bothNames,
	requiredAdded.ID:      (*mender).leaveOptional,
	requiredRemoved.ID:    (*mender).keepRequired,
	alternativeRemoved.ID: (*mender).keepPart,
	choiceRemoved.ID:      (*mender).keepPart,
	partRemoved.ID:        (*mender).keepPart,
	alternativeAdded.ID:   (*mender).takePartOut,
	choiceAdded.ID:        (*mender).takePartOut,
	partAdded.ID:          (*mender).takePartOut,
}

// repair proposes patches of the new text, the nearest to what was meant first.
func repair(old, next schemas.Schema, c compat.Change, backward, forward bool) []compat.Patch {
	o, err := checkable(old, "old")
	if err != nil {
		return nil
	}
	n, err := checkable(next, "new")
	if err != nil || restored[c.Rule] == nil && nearer[c.Rule] == nil {
		return nil
	}
	d := &differ{meter: compat.Budget{}.Meter(), met: map[[2]*jsonschema.Node]bool{}}
	d.nodes(pairing{o.Root(), n.Root(), "$"})
	i := slices.IndexFunc(d.changes, func(f finding) bool {
		return f.Rule == c.Rule && f.Path == c.Path && f.Old == c.Old && f.New == c.New && f.Before == c.Before && f.After == c.After
	})
	m := &mender{backward: backward, forward: forward}
	switch {
	case i < 0 && c.Rule != combinationChanged.ID:
		return nil
	case i < 0:
		// It stands for what no other explains.
		m.f = &finding{Change: c, rule: &combinationChanged, pair: pairing{o.Root(), n.Root(), "$"}, around: pairing{o.Root(), n.Root(), "$"}}
	default:
		m.f = &d.changes[i]
	}
	m.o, m.n = m.f.pair.old, m.f.pair.next
	if m.n.Document() != m.f.around.next.Document() || m.o.Document() != m.f.around.old.Document() {
		return nil // edits of two texts
	}
	m.is, m.was = m.n.Editor(), m.o.Editor()
	if propose := nearer[c.Rule]; propose != nil {
		propose(m)
	}
	m.restore()
	return m.list
}

// within reads a schema with another text in the place of what it refers to.
func within(of schemas.Schema, reference, text string) (schemas.Schema, error) {
	s, err := checkable(of, "new")
	if err != nil {
		return nil, err
	}
	changed, err := s.Within(reference, text)
	if err != nil {
		return nil, err
	}
	return changed, nil
}

// change proposes edits of the new text, or of the one that the place is in.
func (m *mender) change(what string, edits ...jsontext.Edit) {
	p := compat.Patch{Text: what, Reference: m.n.Document()}
	if p.Reference != "" {
		p.Base = m.is.Text
	}
	for _, e := range edits {
		p.Edits = append(p.Edits, compat.Edit(e))
	}
	if len(edits) > 0 {
		m.list = append(m.list, p)
	}
}

// restore proposes the keywords as they were, then the whole place.
func (m *mender) restore() {
	keywords := restored[m.f.rule.ID]
	if keywords == nil || m.whole() {
		return
	}
	// Where a part was compared with what is said around it, that is the place.
	o, n := m.f.around.old, m.f.around.next
	if o.Boolean || n.Boolean {
		m.change("keep what is said here as it was", append(m.bring(o.Value), m.is.Replace(n.Value, m.was.Spell(o.Value)))...)
		return
	}
	var members [][2]string
	var said, dropped []string
	var edits []jsontext.Edit
	for _, k := range keywords {
		a, b := o.Value.Get(k), n.Value.Get(k)
		switch {
		case a == nil && b == nil, a != nil && b != nil && a.String() == b.String():
			continue
		case a == nil:
			dropped = append(dropped, k)
		default:
			said = append(said, k+" "+short(m.was.Spell(a)))
			edits = append(edits, m.bring(a)...)
		}
		members = append(members, [2]string{k, m.was.Spell(a)})
	}
	if len(members) == 0 {
		return
	}
	what := "keep " + strings.Join(said, " and ")
	switch {
	case len(said) == 0:
		what = "leave " + strings.Join(dropped, " and ") + " out"
	case len(dropped) > 0:
		what += ", and leave " + strings.Join(dropped, " and ") + " out"
	}
	m.change(what, append(edits, m.is.Set(n.Value, members...)...)...)
	if m.f.rule == &combinationChanged {
		m.change("keep what is said here as it was", append(m.bring(o.Value), m.is.Replace(n.Value, m.was.Spell(o.Value)))...)
	}
}

// whole proposes the place as it was where neither side's keywords say all.
func (m *mender) whole() bool {
	if m.o.Value.Kind == jsontext.Object && m.n.Value.Kind == jsontext.Object {
		return false
	}
	m.change("keep what is said here as it was", append(m.bring(m.o.Value), m.is.Replace(m.n.Value, m.was.Spell(m.o.Value)))...)
	return true
}

// bring adds the definitions that an old text refers to and the new one lacks.
func (m *mender) bring(v *jsontext.Value) []jsontext.Edit {
	missing := map[string][][2]string{} // by container
	met := map[string]bool{}
	var walk func(v *jsontext.Value)
	walk = func(v *jsontext.Value) {
		for _, item := range v.Items {
			walk(item)
		}
		for _, member := range v.Members {
			walk(member.Value)
			if member.Name != "$ref" || !strings.HasPrefix(member.Value.Text, "#/") || met[member.Value.Text] || len(met) > 64 {
				continue
			}
			met[member.Value.Text] = true
			at := schemas.Pointer(member.Value.Text[1:])
			tokens := jsontext.Tokens(at)
			body := m.was.At(at)
			if len(tokens) != 2 || body == nil || m.is.At(at) != nil {
				continue
			}
			missing[tokens[0]] = append(missing[tokens[0]], [2]string{tokens[1], m.was.Spell(body)})
			walk(body)
		}
	}
	walk(v)
	var edits []jsontext.Edit
	for _, container := range []string{"definitions", "$defs"} {
		list := missing[container]
		if len(list) == 0 {
			continue
		}
		if object := m.is.Root.Get(container); object != nil {
			edits = append(edits, m.is.Set(object, list...)...)
			continue
		}
		parts := make([]string, 0, len(list))
		for _, member := range list {
			parts = append(parts, jsontext.Quoted(member[0])+": "+member[1])
		}
		edits = append(edits, m.is.Set(m.is.Root, [2]string{container, "{" + strings.Join(parts, ", ") + "}"})...)
	}
	return edits
}

// named is a word for a member in a sentence.
func named(name string) string { return short(fmt.Sprintf("%q", name)) }
