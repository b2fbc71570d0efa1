package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// everywhere is the prefix that lists every context.
const everywhere = ":*:"

// pageSize is what the contract's list of schemas gives at most.
const pageSize = 1000

// peer is one registry behind the contract's API.
type peer struct {
	client *sr.Client
	gate   *gate
}

// absent tells whether a registry does not have what was asked of it: the route,
// or the thing.
func absent(err error) bool {
	var e *sr.Error
	return errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed || e.Status == http.StatusNotImplemented)
}

// declined tells whether a registry understood and said no, so that the next
// thing may still pass.
func declined(err error) bool {
	var e *sr.Error
	return errors.As(err, &e) && e.Status >= 400 && e.Status < 500 && !errors.Is(err, schemas.ErrRefused) && !errors.Is(err, schemas.ErrUnreachable)
}

// ask makes one paced call.
func ask[T any](ctx context.Context, p *peer, call func() (T, error)) (T, error) {
	if err := p.gate.pass(ctx); err != nil {
		var zero T
		return zero, err
	}
	return call()
}

// FromRegistry reads everything that a registry tells by the contract's API. It
// changes nothing there.
//
// What a registry has no route for (contexts, modes, the list of schemas) is
// read another way, or is not there. Each version that the registry names and
// does not give is a loss.
//
// Errors: those of clients/sr for what cannot be asked at all.
// Source: REST contract 10.2, step 1.
func FromRegistry(ctx context.Context, client *sr.Client, pace Pace) (Gathered, error) {
	return (&peer{client, newGate(pace)}).gather(ctx)
}

func (p *peer) gather(ctx context.Context) (Gathered, error) {
	var g Gathered
	contexts, err := p.contexts(ctx)
	if err != nil {
		return g, fmt.Errorf("list the contexts: %w", err)
	}
	names, err := p.subjects(ctx)
	if err != nil {
		return g, fmt.Errorf("list the subjects: %w", err)
	}
	listed, err := p.list(ctx)
	if err != nil {
		return g, fmt.Errorf("list the schemas: %w", err)
	}
	for _, v := range listed {
		if !slices.Contains(contexts, v.Subject.Context) {
			contexts = append(contexts, v.Subject.Context)
		}
	}
	names = unite(names, listed)
	marks, marked, err := p.remembered(ctx)
	if err != nil {
		return g, fmt.Errorf("read what the registry remembers: %w", err)
	}
	if !marked {
		marks.Configs = append(slices.Clone(names), schemas.Subject{Context: schemas.GlobalContext})
		for _, c := range contexts {
			marks.Configs = append(marks.Configs, schemas.Subject{Context: c})
		}
		marks.Modes = marks.Configs
	}
	if err := p.settings(ctx, &g, marks.Configs, marks.Modes, marked); err != nil {
		return g, fmt.Errorf("read the configs and modes: %w", err)
	}
	if err := p.versions(ctx, &g, names, listed); err != nil {
		return g, err
	}
	for _, c := range contexts {
		g.Contexts = append(g.Contexts, registry.HeldContext{Name: c, Listed: true})
	}
	if marked {
		if err := p.recall(ctx, &g, marks); err != nil {
			return g, fmt.Errorf("read what the registry remembers: %w", err)
		}
	}
	g.marks()
	if err := p.counters(ctx, &g); err != nil {
		return g, fmt.Errorf("ask for the highest ids: %w", err)
	}
	sortLosses(g.Losses)
	return g, nil
}

func (p *peer) contexts(ctx context.Context) ([]schemas.Context, error) {
	told, err := ask(ctx, p, func() ([]schemas.Context, error) { return p.client.Contexts(ctx, "", sr.Page{}) })
	if err != nil && !absent(err) {
		return nil, err
	}
	list := []schemas.Context{schemas.DefaultContext}
	for _, c := range told {
		// Some write ":.:" where the contract has ".".
		if name, err := schemas.ParseContext(string(c)); err == nil && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list, nil
}

// subjects lists every subject, soft-deleted ones too. A registry that does not
// know the wildcard gives nothing for it, or everything.
func (p *peer) subjects(ctx context.Context) (names []schemas.Subject, err error) {
	for _, prefix := range []string{everywhere, ""} {
		told, err := pages(func(page sr.Page) ([]schemas.Subject, error) {
			return ask(ctx, p, func() ([]schemas.Subject, error) { return p.client.Subjects(ctx, prefix, sr.WithDeleted, page) })
		})
		if err != nil {
			return nil, err
		}
		names = append(names, told...)
	}
	slices.SortFunc(names, compareSubjects)
	return slices.Compact(names), nil
}

// pages asks on while a list may have been cut: some cut at numbers of their own.
func pages[T comparable](call func(sr.Page) ([]T, error)) (all []T, err error) {
	const smallestCut = 500
	for {
		page, err := call(sr.Page{Offset: len(all)})
		if err != nil {
			return all, err
		}
		fresh := len(page) > 0 && !slices.Contains(all, page[len(page)-1])
		if !fresh {
			return all, nil
		}
		all = append(all, page...)
		if len(page)%smallestCut != 0 {
			return all, nil
		}
	}
}

func unite(names []schemas.Subject, listed []registry.Held) []schemas.Subject {
	for i := range listed {
		if i == 0 || listed[i].Subject != listed[i-1].Subject {
			names = append(names, listed[i].Subject)
		}
	}
	slices.SortFunc(names, compareSubjects)
	return slices.Compact(names)
}

// list reads GET /schemas page by page; nothing where there is no such route.
func (p *peer) list(ctx context.Context) ([]registry.Held, error) {
	var all []registry.Held
	seen := map[place]bool{}
	for offset := 0; ; offset += pageSize {
		page, err := ask(ctx, p, func() ([]sr.Listed, error) {
			return p.client.List(ctx, sr.ListOptions{Prefix: everywhere, Deleted: true, Page: sr.Page{Offset: offset, Limit: pageSize}})
		})
		if absent(err) && offset == 0 {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		fresh := 0
		for _, v := range page {
			held := registry.Held{Found: v.Found}
			if seen[placeOf(&held)] || v.Version < 1 || v.ID.Number < 1 {
				continue
			}
			seen[placeOf(&held)] = true
			all = append(all, held)
			fresh++
		}
		// Some know no pages and give everything each time.
		if len(page) != pageSize || fresh == 0 {
			return all, nil
		}
	}
}

// versions reads what each subject has, and every version that the list left
// out. A subject with an alias cannot be asked for by its name: the list is all
// that tells of it.
func (p *peer) versions(ctx context.Context, g *Gathered, names []schemas.Subject, listed []registry.Held) error {
	aliased := map[schemas.Subject]bool{}
	for _, s := range g.Settings {
		aliased[s.Scope] = s.Config != nil && s.Config.Alias != ""
	}
	bySubject := map[schemas.Subject][]registry.Held{}
	for _, v := range listed {
		bySubject[v.Subject] = append(bySubject[v.Subject], v)
	}
	var mu sync.Mutex
	err := p.gate.side(ctx, len(names), func(ctx context.Context, i int) error {
		have := bySubject[names[i]]
		var losses []Loss
		if !aliased[names[i]] {
			var err error
			if have, losses, err = p.subject(ctx, names[i], have); err != nil {
				return fmt.Errorf("read subject %q: %w", names[i], err)
			}
		} else if len(have) == 0 {
			losses = []Loss{{Subject: names[i].String(), What: "its own versions cannot be read: an alias stands before them, and the registry has no list of schemas"}}
		}
		mu.Lock()
		defer mu.Unlock()
		g.Versions, g.Losses = append(g.Versions, have...), append(g.Losses, losses...)
		return nil
	})
	if err != nil {
		return err
	}
	for i := range g.Versions {
		identify(&g.Versions[i])
	}
	sortVersions(g.Versions)
	return nil
}

// subject compares what the list told of a subject with its own lists of
// versions, and reads what is missing.
func (p *peer) subject(ctx context.Context, name schemas.Subject, have []registry.Held) ([]registry.Held, []Loss, error) {
	versions := func(d sr.Deleted) ([]schemas.Version, error) {
		list, err := pages(func(page sr.Page) ([]schemas.Version, error) {
			return ask(ctx, p, func() ([]schemas.Version, error) { return p.client.Versions(ctx, name, d, page) })
		})
		if absent(err) {
			return nil, nil
		}
		return list, err
	}
	all, err := versions(sr.WithDeleted)
	if err != nil {
		return nil, nil, err
	}
	live, err := versions(sr.LiveOnly)
	if err != nil {
		return nil, nil, err
	}
	for _, v := range live {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	known := map[schemas.Version]bool{}
	for _, v := range have {
		known[v.Version] = true
	}
	var losses []Loss
	for _, number := range all {
		if known[number] {
			continue
		}
		found, err := ask(ctx, p, func() (schemas.Found, error) {
			return p.client.Version(ctx, name, number, sr.VersionOptions{Deleted: true})
		})
		switch {
		case err == nil && (found.Subject != name || found.Version != number):
			losses = append(losses, Loss{name.String(), number, 0, fmt.Sprintf("the registry answers version %d of subject %q for it", found.Version, found.Subject)})
		case err == nil && found.ID.Number < 1:
			losses = append(losses, Loss{name.String(), number, 0, "the registry tells no id for it"})
		case err == nil:
			have = append(have, registry.Held{Found: found})
		case declined(err):
			losses = append(losses, Loss{name.String(), number, 0, "the registry lists it and does not give it: " + err.Error()})
		default:
			return nil, nil, err
		}
	}
	for i := range have {
		have[i].Deleted = !slices.Contains(live, have[i].Version)
	}
	return have, losses, nil
}

// identify finds out whether a schema has empty metadata or rules, which no
// answer shows: the GUID does, though not which of the two.
func identify(v *registry.Held) {
	if v.GUID == (schemas.GUID{}) || v.Metadata != nil && v.RuleSet != nil {
		return
	}
	metadata, rules := []*schemas.Metadata{v.Metadata}, []*schemas.RuleSet{v.RuleSet}
	if v.Metadata == nil {
		metadata = append(metadata, &schemas.Metadata{})
	}
	if v.RuleSet == nil {
		rules = append(rules, &schemas.RuleSet{})
	}
	for _, r := range rules {
		for _, m := range metadata {
			if schemas.GUIDOf(v.Source.Text, v.Source.References, m, r) == v.GUID {
				v.Metadata, v.RuleSet = m, r
				return
			}
		}
	}
}

// settings reads what scopes say of themselves. Unless they are known to have
// something, the global scope is asked for what is in force: it answers always,
// and what is in force without it counts as nothing. A config that says what we
// do not know is a loss.
func (p *peer) settings(ctx context.Context, g *Gathered, configs, modes []schemas.Subject, exact bool) error {
	if !exact {
		if _, err := ask(ctx, p, func() (string, error) { return p.client.Mode(ctx, sr.Global, false) }); absent(err) {
			modes = nil // the registry knows none
		} else if err != nil {
			return err
		}
	}
	inForce := func(scope schemas.Subject) bool { return !exact && scope == sr.Global }
	found := make([]registry.Setting, len(configs)+len(modes))
	var mu sync.Mutex
	err := p.gate.side(ctx, len(found), func(ctx context.Context, i int) error {
		if i >= len(configs) {
			scope := modes[i-len(configs)]
			mode, err := ask(ctx, p, func() (string, error) { return p.client.Mode(ctx, scope, inForce(scope)) })
			if err != nil && !declined(err) {
				return err
			}
			found[i] = registry.Setting{Scope: scope, Mode: registry.Mode(mode)}
			return nil
		}
		scope := configs[i]
		found[i].Scope = scope
		told, err := ask(ctx, p, func() (sr.Config, error) { return p.client.Config(ctx, scope, inForce(scope)) })
		if declined(err) {
			return nil
		}
		if err != nil {
			return err
		}
		c, err := configOf(told)
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			g.Losses = append(g.Losses, Loss{Subject: scopeName(scope), What: "its config is not understood: " + err.Error()})
			return nil
		}
		found[i].Config = c
		return nil
	})
	if err != nil {
		return err
	}
	at := map[schemas.Subject]int{}
	joined := []registry.Setting{}
	for _, s := range found {
		i, ok := at[s.Scope]
		if !ok {
			i = len(joined)
			at[s.Scope] = i
			joined = append(joined, registry.Setting{Scope: s.Scope})
		}
		if s.Config != nil {
			joined[i].Config = s.Config
		}
		joined[i].Mode = cmp.Or(s.Mode, joined[i].Mode)
	}
	g.Settings = tidySettings(joined)
	return nil
}

// tidySettings leaves out what says nothing and sorts the rest. The global scope
// says nothing with what is in force without it.
func tidySettings(list []registry.Setting) (out []registry.Setting) {
	above := registry.Setting{Mode: registry.ReadWrite}
	for _, s := range list {
		if s.Scope.Context == schemas.GlobalContext {
			above.Config, above.Mode = s.Config, cmp.Or(s.Mode, above.Mode)
		}
	}
	for _, s := range list {
		isGlobal := s.Scope == sr.Global
		if s.Config != nil {
			text, err := json.Marshal(s.Config)
			if err == nil && (string(text) == "{}" || isGlobal && above.Config == nil && string(text) == `{"compatibility":"BACKWARD"}`) {
				s.Config = nil
			}
		}
		if isGlobal && s.Config != nil && above.Config != nil && s.Config.Equal(*above.Config) {
			s.Config = nil
		}
		if isGlobal && s.Mode == above.Mode {
			s.Mode = ""
		}
		if s.Config != nil || s.Mode != "" {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b registry.Setting) int { return compareSubjects(a.Scope, b.Scope) })
	return out
}

// configOf and clientConfig translate: both sides write the wire's update form.
func configOf(told sr.Config) (*registry.Config, error) {
	text, err := json.Marshal(told)
	if err != nil {
		return nil, err
	}
	var c registry.Config
	return &c, json.Unmarshal(text, &c)
}

func clientConfig(c *registry.Config) (told sr.Config, err error) {
	text, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(text, &told)
	}
	return told, err
}

// counters asks for the highest id that each context ever gave.
func (p *peer) counters(ctx context.Context, g *Gathered) error {
	highest := map[schemas.Context]schemas.ID{}
	for i := range g.Versions {
		v := &g.Versions[i]
		if v.ID.Number > highest[v.Subject.Context].Number {
			highest[v.Subject.Context] = schemas.ID{Context: v.Subject.Context, Number: v.ID.Number}
		}
	}
	for i := range g.Contexts {
		c := &g.Contexts[i]
		id, ok := highest[c.Name]
		if !ok {
			continue
		}
		top, err := ask(ctx, p, func() (schemas.ID, error) { return p.client.MaxID(ctx, id) })
		if err != nil && !declined(err) {
			return err
		}
		c.High = max(c.High, top.Number)
	}
	return nil
}
