package deliver_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cartorio-registry/cartorio/clients/deliver"
)

// What may pass is tried again, with pauses that double; what is final is not, and
// whoever is told to stop does not wait and has not failed.
func TestStart(t *testing.T) {
	t.Parallel()
	errAway, errFinal := errors.New("away"), errors.New("there is no such queue")
	for name, tt := range map[string]struct {
		answers []error
		takes   time.Duration // each try
		stop    time.Duration // after that long; negative for before
		want    error
		tries   int
		took    time.Duration
	}{
		"at once":            {answers: []error{nil}, tries: 1},
		"the third":          {answers: []error{errAway, errAway, nil}, tries: 3, took: 300 * time.Millisecond},
		"never":              {answers: []error{errAway, errAway, errAway}, want: errAway, tries: 3, took: 300 * time.Millisecond},
		"final":              {answers: []error{errAway, errFinal}, want: errFinal, tries: 2, took: 100 * time.Millisecond},
		"stopped in a pause": {answers: []error{errAway, nil}, stop: 50 * time.Millisecond, tries: 1, took: 50 * time.Millisecond},
		"stopped in a try":   {answers: []error{errAway, errFinal}, takes: 50 * time.Millisecond, stop: 170 * time.Millisecond, tries: 2, took: 200 * time.Millisecond},
		"stopped before":     {answers: []error{errFinal}, stop: -1, tries: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if tt.stop != 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.stop)
					defer cancel()
				}
				began, tries := time.Now(), 0
				err := deliver.Start(ctx, 3, func(context.Context) error {
					tries++
					time.Sleep(tt.takes)
					return tt.answers[tries-1]
				}, func(err error) bool { return errors.Is(err, errFinal) })
				if !errors.Is(err, tt.want) || tries != tt.tries || time.Since(began) != tt.took {
					t.Errorf("%v after %d tries and %v", err, tries, time.Since(began))
				}
			})
		})
	}
}
