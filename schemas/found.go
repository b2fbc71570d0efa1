package schemas

import "time"

// Found is a registered version as a look-up answers it.
//
// ID.Number is 0 and GUID zero where the one who answers does not know them.
type Found struct {
	Subject  Subject
	Version  Version
	ID       ID
	GUID     GUID
	Source   Source
	Metadata *Metadata
	RuleSet  *RuleSet
	Deleted  bool
	Time     time.Time
}
