package checkers_test

import (
	"context"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// TestAdvicePassesAsChecksDo: advice finds its verdicts without the findings that
// a check makes, and they are the same, for the examples of every rule.
func TestAdvicePassesAsChecksDo(t *testing.T) {
	t.Parallel()
	asked := 0
	for _, c := range checkers.All() {
		format, _ := formats.Named(c.Format)
		parse := func(text string) schemas.Schema {
			s, err := format.Parse(context.Background(), schemas.Source{Type: c.Format, Text: text}, nil, schemas.ParseOptions{})
			if err != nil {
				return nil
			}
			return s
		}
		for _, r := range c.Rules {
			for _, next := range []string{r.New, r.Near, r.Old} {
				q := compat.Question{
					Checkers: checkers.All(), Level: compat.Backward,
					Next: parse(next), History: []compat.Old{{Label: "1", Version: 1, Schema: parse(r.Old)}},
				}
				_, advice, ok := compat.Advise(q)
				if !ok {
					continue // an example of more than one file
				}
				for _, p := range advice.Passes {
					ask := q
					var errs [3]error
					ask.Level, errs[0] = compat.ParseLevel(p.Level)
					ask.Policy, errs[1] = compat.ParsePolicy(p.Policy)
					ask.VerdictPolicy, errs[2] = compat.ParseVerdictPolicy(p.VerdictPolicy)
					for _, err := range errs {
						if err != nil {
							t.Fatal(err)
						}
					}
					asked++
					if got := compat.Check(ask).Verdict(); got != p.Verdict {
						t.Errorf("%s: advice says %s under %s, %s and %s, a check %s", r.ID, p.Verdict, p.Level, p.Policy, p.VerdictPolicy, got)
					}
				}
			}
		}
	}
	if asked < 5_000 {
		t.Errorf("only %d verdicts were compared", asked)
	}
}
