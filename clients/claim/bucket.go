package claim

import (
	"context"
	"io"
	"time"
)

// Objects is what a [Bucket] needs of an object store's library: two calls, which
// a few lines of the caller's make of any SDK.
type Objects interface {
	// PutObject keeps an object and answers when it is durable. expires is a hint:
	// object stores remove by lifecycle rules, which must keep it as long.
	PutObject(ctx context.Context, bucket, key string, payload []byte, expires time.Time) error
	// GetObject opens an object; an error that wraps ErrMissing when there is none,
	// which for S3 is NoSuchKey.
	GetObject(ctx context.Context, bucket, key string) (io.ReadCloser, error)
}

// Bucket keeps payloads as objects of a bucket, under a prefix.
type Bucket struct {
	Objects Objects
	// Name is the bucket's; Prefix stands before the names, as in "claims/".
	Name, Prefix string
}

// Base is Store's: "s3://bucket/prefix".
func (b Bucket) Base() string { return "s3://" + b.Name + "/" + b.Prefix }

// Put is Store's.
func (b Bucket) Put(ctx context.Context, name string, payload []byte, expires time.Time) error {
	return b.Objects.PutObject(ctx, b.Name, b.Prefix+name, payload, expires)
}

// Open is Store's.
func (b Bucket) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	return b.Objects.GetObject(ctx, b.Name, b.Prefix+name)
}
