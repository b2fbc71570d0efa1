package brokers

import "errors"

// What a broker answers that the one who asks can mend. Whoever speaks to a broker
// at an Address wraps them beside the broker's own words; any other failure counts
// as a broker that cannot be reached.
var (
	// ErrRefused says that the broker does not take the user and password, or that
	// they may not do what was asked.
	ErrRefused = errors.New("the broker refuses this caller")
	// ErrMissing says that the queue, topic, virtual host or group that was named is
	// not there. ActiveMQ makes a queue that is asked for, and never says so.
	ErrMissing = errors.New("it does not exist")
)
