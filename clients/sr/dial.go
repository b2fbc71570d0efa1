package sr

import (
	"errors"
	"net"
)

// isDial tells whether a connection was never made, so that nothing was sent.
func isDial(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return true
	}
	var dns *net.DNSError
	return errors.As(err, &dns)
}
