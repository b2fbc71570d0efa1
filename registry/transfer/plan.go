package transfer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// The actions of a step, in the order in which a migration takes them.
const (
	ActionImport = "import"
	ActionDelete = "delete"
	ActionMarks  = "marks"
	ActionConfig = "config"
	ActionMode   = "mode"
)

// Step is one thing that a migration does, or would do.
type Step struct {
	Action  string          `json:"action"`
	Subject string          `json:"subject"` // or the scope; ":.:" is the global one
	Version schemas.Version `json:"version,omitempty"`
	ID      int32           `json:"id,omitempty"`
	Value   string          `json:"value,omitempty"` // the config or the mode
}

// plan is what is to be done so that there holds what from holds.
type plan struct {
	from, there Gathered
	imports     [][]*registry.Held // by wave, empty waves left in
	early       [][]*registry.Held // to delete right after their wave: live versions refer to them
	late        [][]*registry.Held // to delete at the end, by wave
	present     int
	leftover    []registry.Setting // scopes of the source that the target has in IMPORT
	configs     []registry.Setting
	modes       []registry.Setting
	marks       sr.Marks
	losses      []Loss
}

func makePlan(from, there Gathered, renumber bool) *plan {
	p := &plan{from: from, there: there, losses: slices.Clone(from.Losses)}
	have := byPlace(there.Versions)
	referred := liveReferred(from.Versions)
	for _, wave := range waves(from.Versions) {
		var imports, early, late []*registry.Held
		for _, v := range wave {
			if v.HiddenBy != 0 && !there.Marked {
				p.losses = append(p.losses, lost(v, "the number stands hidden behind version %d, which the target cannot be told", v.HiddenBy))
				continue
			}
			old := have[placeOf(v)]
			gone := v.Deleted || v.HiddenBy != 0
			switch {
			case old == nil:
				imports = append(imports, v)
			case !sameSchema(v, old, renumber):
				p.losses = append(p.losses, lost(v, "the target has another schema there (id %d): its %s is another", old.ID.Number, otherIn(v, old)))
				continue
			case !gone && old.Deleted:
				imports = append(imports, v) // which brings it back
			default:
				p.present++
			}
			if gone && (old == nil || !old.Deleted) {
				if referred[placeOf(v)] {
					early = append(early, v)
				} else {
					late = append(late, v)
				}
			}
		}
		p.imports, p.early, p.late = append(p.imports, imports), append(p.early, early), append(p.late, late)
	}
	p.settings()
	if there.Marked {
		p.planMarks()
	} else {
		p.unmarked()
	}
	return p
}

// sameSchema tells whether what stands at a number is the same schema with the
// same id.
func sameSchema(a, b *registry.Held, renumber bool) bool {
	other := otherIn(a, b)
	return other == "id" && (renumber || a.ID.Number == b.ID.Number)
}

// otherIn names the first part in which two schemas differ.
func otherIn(a, b *registry.Held) string {
	switch {
	case a.Source.Type != b.Source.Type:
		return "type"
	case a.Source.Text != b.Source.Text:
		return "text"
	case references(a) != references(b):
		return "list of references"
	case textOf(metadataFile(a.Metadata)) != textOf(metadataFile(b.Metadata)):
		return "metadata"
	case textOf(ruleSetFile(a.RuleSet)) != textOf(ruleSetFile(b.RuleSet)):
		return "rule set"
	}
	return "id"
}

// settings finds the configs and modes that are not there yet.
func (p *plan) settings() {
	old := map[schemas.Subject]registry.Setting{}
	for _, s := range tidySettings(slices.Clone(p.there.Settings)) {
		old[s.Scope] = s
	}
	for _, s := range tidySettings(slices.Clone(p.from.Settings)) {
		if c := old[s.Scope].Config; s.Config != nil && (c == nil || !s.Config.Equal(*c)) {
			p.configs = append(p.configs, registry.Setting{Scope: s.Scope, Config: s.Config})
		}
		if s.Mode != "" && s.Mode != old[s.Scope].Mode {
			p.modes = append(p.modes, registry.Setting{Scope: s.Scope, Mode: s.Mode})
		}
	}
	ours := map[schemas.Subject]bool{}
	for i := range p.from.Versions {
		name := p.from.Versions[i].Subject
		ours[name], ours[schemas.Subject{Context: name.Context}] = true, true
	}
	said := map[schemas.Subject]registry.Mode{}
	for _, s := range p.from.Settings {
		said[s.Scope] = s.Mode
	}
	for _, s := range p.there.Settings {
		if ours[s.Scope] && s.Mode == registry.Import && said[s.Scope] == "" {
			p.leftover = append(p.leftover, registry.Setting{Scope: s.Scope, Mode: s.Mode})
		}
	}
	// What governs others comes last, so that it holds nothing up.
	slices.SortStableFunc(p.modes, func(a, b registry.Setting) int { return cmp.Compare(rank(a.Scope), rank(b.Scope)) })
}

func rank(scope schemas.Subject) int {
	switch {
	case scope.Context == schemas.GlobalContext:
		return 2
	case scope.IsContext():
		return 1
	}
	return 0
}

// unmarked names what only marks could carry.
func (p *plan) unmarked() {
	ids, numbers := map[schemas.Context]int32{}, map[schemas.Subject]schemas.Version{}
	for _, g := range []*Gathered{&p.from, &p.there} {
		for i := range g.Versions {
			v := &g.Versions[i]
			ids[v.Subject.Context] = max(ids[v.Subject.Context], v.ID.Number)
			numbers[v.Subject] = max(numbers[v.Subject], v.Version)
		}
	}
	for _, c := range p.there.Contexts {
		ids[c.Name] = max(ids[c.Name], c.High)
	}
	for _, c := range p.from.Contexts {
		name := scopeName(schemas.Subject{Context: c.Name})
		if c.High > ids[c.Name] {
			p.losses = append(p.losses, Loss{Subject: name, What: fmt.Sprintf("its counter stands at id %d and the target's will stand at %d: what is registered next may get an id that something deleted had", c.High, ids[c.Name])})
		}
		if _, any := ids[c.Name]; c.Listed && !any && c.Name != schemas.DefaultContext {
			p.losses = append(p.losses, Loss{Subject: name, What: "the context is empty: the target lists one only with its first schema"})
		}
	}
	for _, u := range p.from.Subjects {
		if u.High > numbers[u.Subject] {
			p.losses = append(p.losses, Loss{Subject: u.Subject.String(), What: fmt.Sprintf("its versions count up to %d and the target's up to %d: a number that was deleted may come again", int32(u.High), int32(numbers[u.Subject]))})
		}
	}
	for _, e := range p.from.Exceptions {
		p.losses = append(p.losses, Loss{Subject: scopeName(e.Scope), What: "the exception " + e.Fingerprint + " cannot be told to a registry over HTTP"})
	}
}

// steps lists what the plan does.
func (p *plan) steps() []Step {
	list := []Step{} // never null in JSON
	add := func(action string, waves [][]*registry.Held) {
		for _, wave := range waves {
			for _, v := range wave {
				list = append(list, Step{Action: action, Subject: v.Subject.String(), Version: v.Version, ID: v.ID.Number})
			}
		}
	}
	add(ActionImport, p.imports)
	add(ActionDelete, p.early)
	late := slices.Clone(p.late)
	slices.Reverse(late)
	add(ActionDelete, late)
	for _, c := range p.marks.Contexts {
		list = append(list, Step{Action: ActionMarks, Subject: scopeName(schemas.Subject{Context: c.Context})})
	}
	for _, u := range p.marks.Subjects {
		list = append(list, Step{Action: ActionMarks, Subject: u.Subject.String()})
	}
	for _, s := range p.configs {
		list = append(list, Step{Action: ActionConfig, Subject: scopeName(s.Scope), Value: textOf(s.Config)})
	}
	for _, s := range p.leftover {
		list = append(list, Step{Action: ActionMode, Subject: scopeName(s.Scope), Value: "none: it was left in IMPORT"})
	}
	for _, s := range p.modes {
		list = append(list, Step{Action: ActionMode, Subject: scopeName(s.Scope), Value: string(s.Mode)})
	}
	return list
}

// pending are the subjects that the plan writes versions of, sorted.
func (p *plan) pending() (names []schemas.Subject) {
	for _, list := range [][][]*registry.Held{p.imports, p.early, p.late} {
		for _, wave := range list {
			for _, v := range wave {
				names = append(names, v.Subject)
			}
		}
	}
	slices.SortFunc(names, compareSubjects)
	return slices.Compact(names)
}
