package sr

import (
	"context"
	"time"
)

// SetWait replaces the time between tries.
func (c *Client) SetWait(f func(context.Context, time.Duration) error) { c.wait = f }
