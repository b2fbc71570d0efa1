package validate

import (
	"context"
	"fmt"
	"sync"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Comparer is a [Lookup] that can say, too, whether one version of a subject
// reads data of another: [ReadsCompatible] needs it. *sr.Client is one.
type Comparer interface {
	Lookup
	// CanRead gives the registry's verdict on one direction of a pair; why says
	// what breaks, in a few words, when it is no.
	//
	// Errors: as Lookup's.
	CanRead(ctx context.Context, s schemas.Subject, reader, writer schemas.Version) (ok bool, why string, err error)
}

// ReadsCompatible declares every version whose data version n of the subject
// can read, by the registry's verdict. It is asked once for each writer's
// version; a validator whose lookup cannot compare holds what it was not told
// of, and guesses nothing.
func ReadsCompatible(n schemas.Version) Range {
	return Range{compatible: n, text: "compatible with " + n.String()}
}

// Compatible is the version that ReadsCompatible was made with; 0 for ranges of
// numbers.
func (r Range) Compatible() schemas.Version { return r.compatible }

// mostVerdicts bounds the verdicts that are kept.
const mostVerdicts = 10_000

// pairOfPrints is a reader and a writer. Fingerprints, because a verdict is on
// texts: it stays true whatever becomes of the numbers.
type pairOfPrints struct{ reader, writer schemas.Fingerprint }

type verdict struct {
	OK  bool   `json:"ok"`
	Why string `json:"why,omitempty"`
}

// name is the pair as a last-good file knows it.
func (p pairOfPrints) name() name {
	return name{kind: byVerdict, print: p.reader, foreign: p.writer.String()}
}

// verdicts remembers what the registry said of pairs.
type verdicts struct {
	mu   sync.Mutex
	said map[pairOfPrints]verdict
}

func (s *verdicts) get(p pairOfPrints) (verdict, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.said[p]
	return one, ok
}

func (s *verdicts) put(p pairOfPrints, v verdict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said == nil || len(s.said) >= mostVerdicts {
		s.said = map[pairOfPrints]verdict{}
	}
	s.said[p] = v
}

// canRead answers whether version n of b's subject reads what b's schema wrote.
func (d *binder) canRead(ctx context.Context, b *binding, n schemas.Version) *failure {
	if b.version == n {
		return nil
	}
	reader, f := d.own(ctx, b.subject, n, "the version that ReadsCompatible names")
	if f != nil {
		return f
	}
	pair := pairOfPrints{reader.parsed.schema.Fingerprint(), b.parsed.schema.Fingerprint()}
	said, known := d.v.verdicts.get(pair)
	if pair.reader == pair.writer {
		said, known = verdict{OK: true}, true
	}
	if !known {
		var err error
		if said, err = d.v.compare(ctx, b.subject, n, b.version, pair); err != nil {
			f := &failure{reason: reasonOf(err), err: fmt.Errorf("ask whether version %s of %s reads version %s: %w", n, b.subject, b.version, err)}
			if f.reason.Verdict() != Hold {
				f.reason = RegistryUnintelligible // it gave both versions a moment ago
			}
			return f
		}
		d.asked = true
		d.v.verdicts.put(pair, said)
	}
	if !said.OK {
		return fail(VersionUnsupported, "version %s of %s, this consumer's, does not read data of version %s: %s", n, b.subject, b.version, said.Why)
	}
	return nil
}

// compare gives one verdict: the registry's, asked once for everybody who waits,
// or what it said in an earlier life when it cannot be asked now.
func (v *Validator) compare(ctx context.Context, s schemas.Subject, reader, writer schemas.Version, pair pairOfPrints) (verdict, error) {
	said, err := v.ruling(ctx, s, reader, writer)
	if err == nil {
		v.options.LastGood.rule(pair, said, v.options.Now())
		return said, nil
	}
	if r, ok := v.options.LastGood.get(pair.name()); ok && reasonOf(err).Verdict() == Hold {
		return *r.verdict, nil
	}
	return verdict{}, err
}

func (v *Validator) ruling(ctx context.Context, s schemas.Subject, reader, writer schemas.Version) (verdict, error) {
	c, can := comparerOf(v.lookup)
	if !can {
		return verdict{}, fmt.Errorf("%w: the validator's lookup cannot compare versions: declare a range of numbers, or hand a registry's client to the validator", schemas.ErrUnreachable)
	}
	if err := v.circuit.admit(v.options.Now()); err != nil {
		return verdict{}, err
	}
	said, err, _ := v.flights.Do(fmt.Sprintf("compare %s %d %d", s, reader, writer), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flightTime)
		defer cancel()
		defer context.AfterFunc(v.background, cancel)()
		start := v.options.Now()
		ok, why, err := c.CanRead(ctx, s, reader, writer)
		v.answered(ctx, "compare", err, start)
		return verdict{ok, why}, err
	})
	if err != nil {
		return verdict{}, err
	}
	return said.(verdict), nil
}

// own looks up a version that the consumer itself names. That it is missing is
// no message's fault.
func (d *binder) own(ctx context.Context, s schemas.Subject, n schemas.Version, what string) (*record, *failure) {
	at := d.versionName(s, n)
	r, cached, err := d.v.get(ctx, at, asking{})
	d.asked = d.asked || !cached
	if err == nil {
		return r, nil
	}
	f := &failure{reason: reasonOf(err), err: fmt.Errorf("look up %s, %s of %s: %w", what, n, s, err), name: at}
	if f.reason.Verdict() == Reject {
		f.reason = RegistryUnintelligible
	}
	return nil, f
}
