package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Verification is what reading both sides told.
type Verification struct {
	// Versions, IDs and GUIDs count what was read and compared.
	Versions int `json:"versions"`
	IDs      int `json:"ids"`
	GUIDs    int `json:"guids"` // 0 where the target has no such route
	// Differences are sorted by name; empty when both say the same.
	Differences []Difference `json:"differences"`
	// Unread is what a side names and does not give.
	Unread []Loss `json:"unread,omitempty"`
}

// Lost tells whether anything is not at the target as it is at the source.
func (v Verification) Lost() bool {
	return len(v.Unread) > 0 || slices.ContainsFunc(v.Differences, func(d Difference) bool { return !d.Extra })
}

// Verify reads the target anew, by subject and version, by id and by GUID, and
// holds it against from. source is the registry that from was read from, to be
// asked by id too; nil when it was no registry.
//
// Errors: those of clients/sr for what cannot be asked at all.
// Source: REST contract 10.3.
func Verify(ctx context.Context, from Gathered, source, target *sr.Client, pace Pace) (Verification, error) {
	p := &peer{target, newGate(pace)}
	to, err := p.gather(ctx)
	if err != nil {
		return Verification{}, fmt.Errorf("read the target: %w", err)
	}
	v := Verification{Versions: len(from.Versions), Differences: Compare(from, to), Unread: append(slices.Clone(from.Losses), to.Losses...)}
	ids := newIDs(from)
	v.IDs = len(ids)
	c := &byNames{peer: p, ids: ids}
	if source != nil {
		c.source = &peer{source, newGate(pace)}
	}
	if err := c.byID(ctx); err != nil {
		return v, fmt.Errorf("compare by id: %w", err)
	}
	if v.GUIDs, err = c.byGUID(ctx); err != nil {
		return v, fmt.Errorf("compare by GUID: %w", err)
	}
	slices.SortFunc(c.out, func(a, b Difference) int { return int(a.ID) - int(b.ID) })
	v.Differences = append(v.Differences, c.out...)
	return v, nil
}

// known is a schema by its names.
type known struct {
	id   schemas.ID
	guid schemas.GUID
	text string
}

// newIDs lists what each id stands for, once.
func newIDs(g Gathered) (list []known) {
	seen := map[schemas.ID]bool{}
	for i := range g.Versions {
		v := &g.Versions[i]
		id := schemas.ID{Context: v.Subject.Context, Number: v.ID.Number}
		if seen[id] {
			continue
		}
		seen[id] = true
		guid := v.GUID
		if guid == (schemas.GUID{}) {
			guid = schemas.GUIDOf(v.Source.Text, v.Source.References, v.Metadata, v.RuleSet)
		}
		list = append(list, known{id, guid, v.Source.Text})
	}
	return list
}

// byNames compares by id and GUID.
type byNames struct {
	*peer
	source *peer
	ids    []known

	mu  sync.Mutex
	out []Difference
}

func (c *byNames) differ(k known, what, from, to string) {
	if from == to {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = append(c.out, Difference{Subject: scopeName(schemas.Subject{Context: k.id.Context}), ID: k.id.Number, What: what, From: excerpt(from, to), To: excerpt(to, from)})
}

func (c *byNames) byID(ctx context.Context) error {
	text := func(ctx context.Context, p *peer, k known) (string, error) {
		found, err := ask(ctx, p, func() (schemas.Found, error) { return p.client.ByID(ctx, k.id) })
		if err != nil && !declined(err) {
			return "", err
		}
		return found.Source.Text, nil
	}
	return c.gate.side(ctx, len(c.ids), func(ctx context.Context, i int) error {
		k := c.ids[i]
		there, err := text(ctx, c.peer, k)
		if err != nil {
			return err
		}
		c.differ(k, "text by id", k.text, there)
		if c.source == nil {
			return nil
		}
		here, err := text(ctx, c.source, k)
		if err != nil {
			return err
		}
		if here != k.text { // the source contradicts itself: the target must say one of both
			c.differ(k, "text by id", here, there)
		}
		return nil
	})
}

// byGUID answers how many it compared: none when the target knows no GUIDs.
func (c *byNames) byGUID(ctx context.Context) (int, error) {
	if len(c.ids) == 0 {
		return 0, nil
	}
	ids := func(k known) ([]schemas.ID, error) {
		return ask(ctx, c.peer, func() ([]schemas.ID, error) { return c.client.IDsOf(ctx, k.guid) })
	}
	if _, err := ids(c.ids[0]); absent(err) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	err := c.gate.side(ctx, len(c.ids), func(ctx context.Context, i int) error {
		k := c.ids[i]
		found, err := ask(ctx, c.peer, func() (schemas.Found, error) { return c.client.ByGUID(ctx, k.guid) })
		if err != nil && !errors.Is(err, schemas.ErrSchemaUnknown) {
			return err
		}
		c.differ(k, "text by guid", k.text, found.Source.Text)
		list, err := ids(k)
		if err != nil {
			return err
		}
		if !slices.Contains(list, k.id) {
			c.differ(k, "id by guid", k.id.String(), fmt.Sprint(list))
		}
		return nil
	})
	return len(c.ids), err
}
