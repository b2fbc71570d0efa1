package compat

import "time"

// Exception accepts one break for a while: a person has looked at it and says
// that it does no harm here.
type Exception struct {
	Fingerprint string    // of the finding
	Reason      string    // why it does no harm
	Owner       string    // who answers for that
	Until       time.Time // the last moment it counts; zero means for ever
	Source      string    // where it stands: a file, or the registry
}

// Acceptance is an exception as a finding shows it.
type Acceptance struct {
	Reason string `json:"reason"`
	Owner  string `json:"owner"`
	Until  string `json:"until,omitempty"` // RFC 3339
	Source string `json:"source,omitempty"`
}

// Accept marks the findings that an exception names and that has not ended at
// the moment given. It changes nothing else: the finding stays, and the verdict
// is made after it from those that are not accepted.
func Accept(findings []Finding, exceptions []Exception, at time.Time) {
	for i := range findings {
		for _, e := range exceptions {
			if !findings[i].Has(e.Fingerprint) || !e.Until.IsZero() && at.After(e.Until) {
				continue
			}
			a := &Acceptance{Reason: e.Reason, Owner: e.Owner, Source: e.Source}
			if !e.Until.IsZero() {
				a.Until = e.Until.UTC().Format(time.RFC3339)
			}
			findings[i].Accepted = a
			break
		}
	}
}
