// Package registry is the domain: subjects, versions, ids, levels, modes and
// deletion. Its state is the fold of a journal of events; formats and checkers
// are handed to [Open] as values.
//
// It knows neither HTTP nor SQL. Every read is served from memory. Every write
// is decided on the state as it stands, made durable by the journal, applied to
// the state, and only then answered.
package registry

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Options are what a registry is made of beside its journal.
type Options struct {
	Formats  []schemas.Format
	Checkers []compat.Checker
	Limits   schemas.Limits
	Budget   compat.Budget    // of one comparison; zero is the default
	Cache    int              // bytes of parsed forms, 64 MiB, and an eighth of it for what passed; negative keeps none
	Snapshot int              // events between two snapshots, 10,000; negative takes none
	Now      func() time.Time // time.Now
	Log      *slog.Logger     // what nobody is there to be told; nil discards it
}

const (
	defaultCache    = 64 << 20
	defaultSnapshot = 10_000
)

// Registry is the one implementation; api, pages and commands speak to it. It
// is safe for use by many goroutines.
type Registry struct {
	journal  Journal
	formats  []schemas.Format
	checkers []compat.Checker
	limits   schemas.Limits
	budget   compat.Budget
	now      func() time.Time
	log      *slog.Logger
	forms    *forms
	passes   *passes
	turns    turns
	pasts    pasts
	kinships kinships
	watch    watch
	readers  ReaderStore   // nil when the journal is none
	forgot   atomic.Int64  // when readers were last dropped, in milliseconds since 1970
	working  chan struct{} // one token for each text that is read or pair that is compared

	mu       sync.RWMutex // guards state; only the committer writes it
	state    *State
	revision atomic.Uint64
	grown    chan struct{} // closed at the next change; nil when nobody waits for it

	life      context.Context // of the journal's work, beyond that of any request
	end       context.CancelFunc
	shared    bool // others write to the journal too
	followed  sync.WaitGroup
	gate      sync.RWMutex // guards closed and the sending to proposals
	closed    bool
	proposals chan *proposal
	committed chan struct{} // closed when the committer has ended

	// The committer's own.
	broken  atomic.Pointer[Error]
	refused atomic.Bool  // the journal did not take the last append
	proved  atomic.Int64 // when it last took one, in milliseconds since 1970
	every   int          // events between two snapshots; 0 takes none
	taken   Revision     // the newest snapshot's
	saving  sync.Mutex
	saved   sync.WaitGroup
}

// Open folds the journal and serves it. An empty journal is installed. The
// registry owns j from then on, and closes it also when Open fails.
//
// Errors: CodeStore when the journal cannot be read or contradicts itself.
func Open(ctx context.Context, j Journal, o Options) (*Registry, error) {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	r := &Registry{
		journal: j, readers: readerStore(j), formats: o.Formats, checkers: o.Checkers, limits: o.Limits.OrDefault(), budget: o.Budget,
		now: o.Now, log: o.Log, life: life, end: end,
		working: make(chan struct{}, runtime.GOMAXPROCS(0)), proposals: make(chan *proposal, mostInBatch), committed: make(chan struct{}),
	}
	if r.now == nil {
		r.now = time.Now
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	r.forms = newForms(orDefault(o.Cache, defaultCache))
	r.passes = newPasses(orDefault(o.Cache, defaultCache) / 8)
	r.pasts.folding, r.pasts.every = make(chan struct{}, 1), eventsPerPast
	r.every = orDefault(o.Snapshot, defaultSnapshot)
	if err := r.open(ctx); err != nil {
		end()
		return nil, errors.Join(storeError("open the registry", err), j.Close())
	}
	go r.commit()
	return r, nil
}

// orDefault is other for 0 and 0 for less.
func orDefault(n, other int) int {
	if n == 0 {
		return other
	}
	return max(n, 0)
}

func (r *Registry) open(ctx context.Context) error {
	if err := r.load(ctx); err != nil {
		return err
	}
	r.taken = r.state.revision
	read := func() error {
		return r.journal.Read(ctx, r.state.revision, r.state.Apply)
	}
	if err := read(); err != nil {
		return err
	}
	if r.state.revision == 0 {
		_, err := r.journal.Append(ctx, 0, Batch{Events: []Event{{
			Time: r.now().UTC().Truncate(time.Millisecond), Actor: anonymous, Kind: KindInstalled,
			Body: encodeBody(installedBody{V: bodyVersion, Installation: rand.Text()}),
		}}})
		if err != nil && !errors.Is(err, ErrMoved) { // another node may have been faster
			return err
		}
		if err := read(); err != nil {
			return err
		}
	}
	r.revision.Store(uint64(r.state.revision))
	grown, err := r.journal.Follow(r.life)
	if err != nil {
		return err
	}
	if grown != nil {
		r.shared = true
		r.followed.Add(1)
		go r.follow(grown)
	}
	return nil
}

// load makes the state of the newest snapshot, or the empty one.
func (r *Registry) load(ctx context.Context) error {
	texts := map[Hash]string{}
	snapshot, err := r.journal.LoadSnapshot(ctx, func(t Text) error {
		if HashOf(t.Text) != t.Hash {
			return fmt.Errorf("load the text with hash %x: its bytes are not those that were stored: restore the database from a backup", t.Hash)
		}
		texts[t.Hash] = t.Text
		return nil
	})
	if err != nil {
		return err
	}
	if snapshot.Revision == 0 {
		r.state = NewState()
		return nil
	}
	r.state, err = DecodeState(snapshot.State, func(h Hash) (string, bool) { t, ok := texts[h]; return t, ok })
	if errors.Is(err, errSnapshot) {
		r.log.Warn("the snapshot is not used: the journal is folded from its start", "error", err)
		r.state, err = NewState(), nil
	}
	return err
}

// follow reads on whenever the journal grew.
func (r *Registry) follow(grown <-chan struct{}) {
	defer r.followed.Done()
	for range grown {
		if err := r.catchUp(r.life); err != nil && r.life.Err() == nil {
			r.log.Error("the journal cannot be followed", "error", err)
		}
	}
}

// Close waits for the writes that were accepted, keeps a snapshot and closes
// the journal. Writes that come later are refused with CodeStore; reads go on.
func (r *Registry) Close() error {
	r.gate.Lock()
	if r.closed {
		r.gate.Unlock()
		<-r.committed
		return nil
	}
	r.closed = true
	close(r.proposals)
	r.gate.Unlock()
	<-r.committed
	if r.every > 0 && r.Err() == nil && int(r.state.revision-r.taken) >= r.every/10 {
		r.snapshot()
	}
	r.saved.Wait()
	r.end()
	r.followed.Wait()
	return r.journal.Close()
}

// snapshotIfDue keeps a snapshot when enough has happened since the last: more
// in a large registry, whose snapshots are dear.
func (r *Registry) snapshotIfDue() {
	if r.every > 0 && r.Err() == nil && int(r.state.revision-r.taken) >= max(r.every, r.state.versions/2) {
		r.snapshot()
	}
}

// snapshot encodes the state, which only its caller could change, and saves it
// beside everything else.
func (r *Registry) snapshot() {
	s := Snapshot{Revision: r.state.revision, State: r.state.Encode()}
	r.taken = s.Revision
	r.saved.Go(func() {
		r.saving.Lock()
		defer r.saving.Unlock()
		if err := r.journal.SaveSnapshot(r.life, s); err != nil {
			r.log.Warn("the snapshot was not kept: the next start takes longer", "error", err)
		}
	})
}

// Types lists the wire names of the formats, in the order of the wire's
// contract; what it does not know comes last.
//
// Source: REST contract 4.1.
func (r *Registry) Types() []schemas.Type {
	order := []schemas.Type{schemas.JSON, schemas.Protobuf, schemas.Avro}
	var list []schemas.Type
	for _, f := range r.formats {
		list = append(list, f.Type)
	}
	slices.SortStableFunc(list, func(a, b schemas.Type) int {
		return (slices.Index(order, a)+len(order)+1)%(len(order)+1) - (slices.Index(order, b)+len(order)+1)%(len(order)+1)
	})
	return list
}

// Installation is the random id that the registry was installed with.
func (r *Registry) Installation() string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.state.installation
}

// Revision grows with every write: an answer made at a revision stays true
// while Revision says the same. Read it before what is to be kept.
func (r *Registry) Revision() Revision { return Revision(r.revision.Load()) }

// MaxID is the highest id ever given in a context, 0 when there was none.
func (r *Registry) MaxID(c schemas.Context) int32 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if n := r.state.contexts[filled(schemas.Subject{Context: c}).Context]; n != nil {
		return n.high
	}
	return 0
}
