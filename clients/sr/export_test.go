package sr

import (
	"context"
	"time"
)

// MetadataBody and RuleSetBody are what is sent of them.
var (
	MetadataBody = metadataBodyOf
	RuleSetBody  = ruleSetBodyOf
)

// SetWait replaces the time between tries.
func (c *Client) SetWait(f func(context.Context, time.Duration) error) { c.wait = f }
