package registry_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// model is the registry's behaviour told once more, as plainly as it goes: lists
// that are searched from end to end, and nothing shared with the real one.
type model struct {
	versions map[string][]*modelVersion
	high     map[string]int
	ids      map[string]int // identity → id, while anything carries it
	last     int
	level    map[string]string
	mode     map[string]string
}

type modelVersion struct {
	number, id int
	kind, text string
	refs       []schemas.Reference
	deleted    bool
	hiddenBy   int
}

func newModel() *model {
	return &model{versions: map[string][]*modelVersion{}, high: map[string]int{}, ids: map[string]int{}, level: map[string]string{}, mode: map[string]string{}}
}

func (v *modelVersion) identity() string { return fmt.Sprint(v.kind, "|", v.text, "|", v.refs) }

func (m *model) visible(subject string, deleted bool) (list []*modelVersion) {
	for _, v := range m.versions[subject] {
		if v.hiddenBy == 0 && (deleted || !v.deleted) {
			list = append(list, v)
		}
	}
	return list
}

func (m *model) find(subject string, number int) *modelVersion {
	for _, v := range m.versions[subject] {
		if v.number == number {
			return v
		}
	}
	return nil
}

func last(list []*modelVersion) *modelVersion {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// resolve answers the version that a reference means; live refuses others.
func (m *model) resolve(ref schemas.Reference, live bool) *modelVersion {
	list := m.visible(ref.Subject, !live)
	if ref.Version == schemas.Latest {
		if v := last(m.visible(ref.Subject, false)); v != nil {
			return v
		}
		return last(list)
	}
	for _, v := range list {
		if v.number == int(ref.Version) {
			return v
		}
	}
	return nil
}

// pinned makes the version that a command would register, or nil when a
// reference does not resolve.
func (m *model) pinned(c *command, live bool) *modelVersion {
	v := &modelVersion{kind: "AVRO", text: strings.Join(strings.Fields(c.args[1]), " ")}
	if c.has("type") {
		v.kind = c.named["type"]
	}
	for _, ref := range c.refs {
		target := m.resolve(ref, live)
		if target == nil {
			return nil
		}
		ref.Version = schemas.Version(target.number)
		v.refs = append(v.refs, ref)
	}
	return v
}

// fields are those of a version and of everything it refers to: what a target
// refers to comes before it, and of two references with one name the first
// counts.
func (m *model) fields(v *modelVersion) []string {
	out := strings.Fields(v.text)[1:]
	seen := map[string]bool{}
	var walk func(refs []schemas.Reference)
	walk = func(refs []schemas.Reference) {
		for _, ref := range refs {
			if !seen[ref.Name] {
				target := m.find(ref.Subject, int(ref.Version))
				walk(target.refs)
				out = append(out, strings.Fields(target.text)[1:]...)
				seen[ref.Name] = true
			}
		}
	}
	walk(v.refs)
	return out
}

func (m *model) equivalent(a, b *modelVersion) bool {
	if a.kind != b.kind || !slices.Equal(a.refs, b.refs) && (a.kind != "AVRO" || len(a.refs) > 0) {
		return false
	}
	if a.kind != "AVRO" {
		return a.text == b.text
	}
	x, y := m.fields(a), m.fields(b)
	slices.Sort(x)
	slices.Sort(y)
	return strings.Fields(a.text)[0] == strings.Fields(b.text)[0] && slices.Equal(x, y)
}

func (m *model) known(subject string, v *modelVersion, deleted bool) *modelVersion {
	list := m.visible(subject, deleted)
	slices.Reverse(list)
	for _, old := range list {
		if old.identity() == v.identity() {
			return old
		}
	}
	for _, old := range list {
		if m.equivalent(v, old) {
			return old
		}
	}
	return nil
}

// may tells whether v may follow the live versions of a subject.
func (m *model) may(subject string, v *modelVersion) bool {
	level := m.level[subject]
	if level == "NONE" {
		return true
	}
	list := m.visible(subject, false)
	slices.Reverse(list)
	if level != "BACKWARD_TRANSITIVE" && len(list) > 1 {
		list = list[:1]
	}
	mine := m.fields(v)
	for _, old := range list {
		if old.kind != v.kind {
			return false
		}
		theirs := m.fields(old)
		for _, f := range mine {
			if !strings.HasSuffix(f, "?") && !slices.Contains(theirs, f) && !slices.Contains(theirs, f+"?") {
				return false
			}
		}
	}
	return true
}

func (m *model) referrers(subject string, number int, deleted bool, except string) (ids []int) {
	for name := range m.versions {
		for _, v := range m.visible(name, deleted) {
			if name != except && slices.ContainsFunc(v.refs, func(r schemas.Reference) bool { return r.Subject == subject && int(r.Version) == number }) {
				ids = append(ids, v.id)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (m *model) do(text string) string {
	c := parseCommand(text)
	subject := c.args[0]
	switch c.verb {
	case "register":
		return m.register(subject, c)
	case "lookup":
		if len(m.visible(subject, c.has("deleted"))) == 0 {
			return "40401"
		}
		v := m.pinned(c, false)
		if v == nil {
			return "42201"
		}
		if old := m.known(subject, v, c.has("deleted")); old != nil {
			return old.told("")
		}
		return "40403"
	case "check":
		if v := m.pinned(c, true); v == nil {
			return "42201"
		} else if m.may(subject, v) {
			return "compatible"
		}
		return "breaking"
	case "get":
		v := m.find(subject, int(c.version(1)))
		switch {
		case len(m.visible(subject, c.has("deleted"))) == 0:
			return "40401"
		case v == nil || (v.deleted || v.hiddenBy != 0) && !c.has("deleted"):
			return "40402"
		}
		return v.told("")
	case "versions":
		list := []int{}
		for _, v := range m.visible(subject, c.has("deleted")) {
			list = append(list, v.number)
		}
		if len(list) == 0 {
			return "40401"
		}
		return fmt.Sprint(list)
	case "id":
		return m.id(c)
	case "referencedby":
		number := int(c.version(1))
		switch {
		case len(m.visible(subject, true)) == 0:
			return "40401"
		case m.find(subject, number) == nil:
			return "40402"
		}
		return fmt.Sprint(m.referrers(subject, number, c.has("deleted"), ""))
	case "delete":
		return m.delete(subject, c)
	case "config":
		if m.mode[subject] == "READONLY" {
			return "42205"
		}
		m.level[subject] = c.named["level"]
		return "{level=" + c.named["level"] + "}"
	case "mode":
		m.mode[subject] = c.args[1]
		return ""
	}
	panic("the model has no command " + c.verb)
}

func (v *modelVersion) told(more string) string {
	if v.deleted || v.hiddenBy != 0 {
		more += " deleted"
	}
	return fmt.Sprintf("id %d v%d%s", v.id, v.number, more)
}

func (m *model) register(subject string, c *command) string {
	v := m.pinned(c, false)
	if v == nil {
		return "42201"
	}
	if old := m.known(subject, v, false); old != nil {
		return old.told("")
	}
	if m.mode[subject] == "READONLY" {
		return "42205"
	}
	if v = m.pinned(c, true); v == nil {
		return "42201"
	}
	if !m.may(subject, v) {
		return "409"
	}
	m.high[subject]++
	v.number = m.high[subject]
	if m.ids[v.identity()] == 0 {
		m.last++
		m.ids[v.identity()] = m.last
	}
	v.id = m.ids[v.identity()]
	for _, old := range m.visible(subject, true) {
		if old.id == v.id && old.deleted && len(m.referrers(subject, old.number, true, "")) == 0 {
			old.hiddenBy = v.number
		}
	}
	m.versions[subject] = append(m.versions[subject], v)
	return v.told(" new")
}

func (m *model) id(c *command) string {
	var names []string
	for name := range m.versions {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, deleted := range []bool{false, true} {
		for _, name := range names {
			for _, v := range m.visible(name, deleted) {
				if fmt.Sprint(v.id) == c.args[0] {
					return fmt.Sprintf("%s v%d", name, v.number)
				}
			}
		}
	}
	return "40403"
}

func (m *model) delete(subject string, c *command) string {
	permanent := c.has("permanent")
	all := m.visible(subject, true)
	if len(all) == 0 {
		return "40401"
	}
	var going []*modelVersion
	except := subject
	if len(c.args) > 1 {
		v := m.find(subject, int(c.version(1)))
		switch {
		case v == nil || v.hiddenBy != 0:
			return "40402"
		case v.deleted && !permanent:
			return "40406"
		}
		going, except = append(going, v), ""
	} else if going = m.visible(subject, permanent); len(going) == 0 {
		return "40404"
	}
	if m.mode[subject] == "READONLY" {
		return "42205"
	}
	numbers := []int{}
	for i := len(going) - 1; i >= 0; i-- {
		v := going[i]
		if len(m.referrers(subject, v.number, permanent, except)) > 0 {
			return "42206"
		}
		if permanent && !v.deleted {
			if len(c.args) > 1 {
				return "40407"
			}
			return "40405"
		}
		numbers = append([]int{v.number}, numbers...)
	}
	for _, v := range going {
		if permanent {
			m.remove(subject, v.number)
		} else {
			v.deleted = true
		}
	}
	if len(m.versions[subject]) == 0 {
		delete(m.level, subject)
		delete(m.mode, subject)
	}
	if len(c.args) > 1 {
		return fmt.Sprint(numbers[0])
	}
	return fmt.Sprint(numbers)
}

func (m *model) remove(subject string, number int) {
	gone := m.find(subject, number)
	for _, v := range slices.Clone(m.versions[subject]) {
		if v.hiddenBy == number {
			m.remove(subject, v.number)
		}
	}
	m.versions[subject] = slices.DeleteFunc(m.versions[subject], func(v *modelVersion) bool { return v == gone })
	for _, list := range m.versions {
		for _, v := range list {
			if v.id == gone.id {
				return
			}
		}
	}
	delete(m.ids, gone.identity())
}
