// Package validate decides before a message is published and before it is
// consumed: which schema it is bound to, whether that schema is the one meant,
// and whether the payload fits it. It builds the headers of the dead letter too.
//
// It knows no broker and no registry: schemas come from a [Lookup], formats are
// handed in as values, and the packages beside it translate one broker's
// messages. A message that is refused and a registry that cannot be asked are
// never the same answer.
//
// Start with [New], then [Validator.BeforePublish] and [Validator.BeforeConsume].
package validate

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Options shape a validator. Zero fields mean the defaults.
type Options struct {
	// Cache bounds texts and parsed schemas, in bytes; 64 MiB.
	Cache int
	// VersionFresh is how long a subject's version is taken as it was before it
	// is asked again, in the background; 10 minutes. The old answer serves on,
	// without limit while the registry cannot be asked.
	VersionFresh time.Duration
	// LatestFresh is the same for the latest version, 1 minute; MaxStale is how
	// long an old answer for it serves in an outage, 24 hours.
	LatestFresh, MaxStale time.Duration
	// NotFound is how long an unknown name is not asked again, 15 seconds.
	NotFound time.Duration
	// Grace is how long an unknown name is held before it rejects, 30 seconds
	// from its first sight; at most five graces a minute for one Expect.
	Grace time.Duration
	// ReusedIDs says that the registry may give an id twice (others than
	// Cartório do): ids are then asked again like versions.
	ReusedIDs bool
	// Read bounds and shapes the reading of payloads.
	Read schemas.ReadOptions
	// Observe is told of every decision, when not nil. It must not block.
	Observe func(Event)
	// Observer is told of decisions and of all else, when not nil.
	Observer Observer
	// Readership takes what consumers read, in batches, when not nil; Environment
	// is where this program runs, and ReportEvery how often it tells, a minute.
	Readership  Reporter
	Environment string
	ReportEvery time.Duration
	// LastGood keeps what the registry answered beyond the life of the program,
	// when not nil; see [OpenLastGood].
	LastGood *LastGood
	// LargePayload is from how many bytes on a payload that is published is warned
	// of, 256 KiB; negative for never. A bus is for kilobytes: what is larger is
	// better kept elsewhere and referred to (package clients/claim).
	LargePayload int
	// Logger takes those warnings, at most one a minute, and an adapter's that its
	// producer may lose messages; slog.Default() when nil.
	Logger *slog.Logger
	// Now is the clock.
	Now func() time.Time
}

// Validator judges messages. It is safe for use by many goroutines.
type Validator struct {
	lookup  Lookup
	formats []schemas.Format
	options Options
	wall    bool // the clock is the machine's

	cache   cache
	flights singleflight.Group
	circuit circuit
	graces  graces
	stats   stats

	verdicts verdicts
	readers  readers
	large    atomic.Int64 // when a large payload was warned of, in Unix nanoseconds
	tracer   Tracer

	background context.Context
	stop       context.CancelFunc
	renewing   renewals
}

// New makes a validator over a lookup that reads the formats given.
func New(lookup Lookup, formats ...schemas.Format) *Validator {
	return NewWith(lookup, Options{}, formats...)
}

// NewWith is New with options.
func NewWith(lookup Lookup, o Options, formats ...schemas.Format) *Validator {
	fill(&o.Cache, 64<<20)
	fill(&o.VersionFresh, 10*time.Minute)
	fill(&o.LatestFresh, time.Minute)
	fill(&o.MaxStale, 24*time.Hour)
	fill(&o.NotFound, 15*time.Second)
	fill(&o.Grace, 30*time.Second)
	fill(&o.ReportEvery, time.Minute)
	fill(&o.LargePayload, 256<<10)
	wall := o.Now == nil
	if wall {
		o.Now = time.Now
	}
	o.Read = o.Read.OrDefault()
	v := &Validator{lookup: lookup, formats: formats, options: o, wall: wall}
	v.cache.open(o.Cache)
	v.graces.open()
	v.background, v.stop = context.WithCancel(context.Background())
	v.tracer, _ = o.Observer.(Tracer)
	v.readers.start(v)
	return v
}

// Close ends what runs in the background and waits for it. What consumers read
// is reported once more, within a few seconds.
func (v *Validator) Close() {
	v.stop()
	v.renewing.close()
	v.readers.stop()
}

// Now is the validator's clock, which adapters share.
func (v *Validator) Now() time.Time { return v.options.Now() }

// Logger takes warnings about how messages are sent, which adapters share.
func (v *Validator) Logger() *slog.Logger {
	if v.options.Logger != nil {
		return v.options.Logger
	}
	return slog.Default()
}

func (v *Validator) format(t schemas.Type) (schemas.Format, bool) {
	for _, f := range v.formats {
		if f.Type == t {
			return f, true
		}
	}
	return schemas.Format{}, false
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
