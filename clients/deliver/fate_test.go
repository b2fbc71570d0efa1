package deliver_test

import (
	"errors"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// A fate is worth trying again, or is not, and has a word.
func TestFates(t *testing.T) {
	t.Parallel()
	for f, want := range map[deliver.Fate]struct {
		word string
		err  error
	}{
		deliver.Unroutable: {"unroutable", validate.ErrPermanent},
		deliver.Refused:    {"refused", validate.ErrPermanent},
		deliver.TooLarge:   {"too_large", validate.ErrPermanent},
		deliver.Nacked:     {"nacked", validate.ErrUnavailable},
		deliver.Unknown:    {"unknown", validate.ErrUnavailable},
		deliver.Unsent:     {"unsent", validate.ErrUnavailable},
		deliver.Fate(0):    {"undecided", nil},
	} {
		if f.String() != want.word {
			t.Errorf("%d is %s, want %s", f, f, want.word)
		}
		for _, err := range []error{validate.ErrPermanent, validate.ErrUnavailable} {
			if f.Is(err) != errors.Is(want.err, err) {
				t.Errorf("%s is %v: %v", f, err, f.Is(err))
			}
		}
	}
}
