package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cartorio-registry/cartorio/registry"
)

// ready is an answer kept as the bytes that go out, with the header values that
// go with them.
type ready struct {
	revision registry.Revision // what the registry knew when it was made
	body     []byte
	length   []string
	etag     []string
	control  []string
	zip      sync.Once
	zipped   []byte
	zipTag   []string
	zipSize  []string
}

func makeReady(body []byte, control []string) *ready {
	sum := sha256.Sum256(body)
	return &ready{
		body:    body,
		length:  []string{strconv.Itoa(len(body))},
		etag:    []string{`"` + hex.EncodeToString(sum[:12]) + `"`},
		control: control,
	}
}

// gzip is the compressed body, made at the first demand.
func (r *ready) gzip() []byte {
	r.zip.Do(func() {
		r.zipped = compress(r.body)
		r.zipSize = []string{strconv.Itoa(len(r.zipped))}
		r.zipTag = []string{"W/" + r.etag[0]}
	})
	return r.zipped
}

// cacheKey is what an answer depends on beside the registry's state: the path
// as routed, its context and the query as sent.
type cacheKey struct{ context, path, query string }

// longestKey bounds what a caller can make the cache remember of a request.
const longestKey = 512

// cache keeps ready answers within a bound of bytes. It has two halves; when
// the young one is full it becomes the old one, and what the old one held goes.
// An answer found in the old half moves to the young. An answer counts only as
// long as the registry has not changed since it was made.
type cache struct {
	mu    sync.RWMutex
	half  int
	used  int
	young map[cacheKey]*ready
	old   map[cacheKey]*ready

	hit, missed atomic.Uint64
}

func newCache(bytes int) *cache {
	return &cache{half: bytes / 2, young: map[cacheKey]*ready{}}
}

func weigh(k cacheKey, r *ready) int {
	return 2*len(r.body) + len(k.context) + len(k.path) + len(k.query) + 512
}

func (c *cache) get(k cacheKey, now registry.Revision) *ready {
	c.mu.RLock()
	r, young := c.young[k]
	if r == nil {
		r = c.old[k]
	}
	c.mu.RUnlock()
	if r == nil || r.revision != now {
		c.missed.Add(1)
		return nil
	}
	c.hit.Add(1)
	if !young {
		c.put(k, r)
	}
	return r
}

// bytes is what the young half weighs; the old one weighs as much at most.
func (c *cache) bytes() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.used
}

func (c *cache) put(k cacheKey, r *ready) {
	size := weigh(k, r)
	if size > c.half || len(k.path)+len(k.query) > longestKey {
		return
	}
	k = cacheKey{strings.Clone(k.context), strings.Clone(k.path), strings.Clone(k.query)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if before := c.young[k]; before != nil {
		c.used -= weigh(k, before)
	}
	if c.used+size > c.half {
		c.old, c.young, c.used = c.young, map[cacheKey]*ready{}, 0
	}
	c.young[k] = r
	c.used += size
}

// remembered answers from the cache, or with what fill makes. Whoever has the
// body already gets 304 for its ETag.
//
// Source: decision 23 of the specifications.
func (x *exchange) remembered(control []string, fill func() ([]byte, error)) error {
	k := cacheKey{string(x.context), x.path, x.request.URL.RawQuery}
	// The revision is read before the state: an answer made from a newer state
	// than its revision is made again, never the other way round.
	now := x.server.registry.Revision()
	r := x.server.cache.get(k, now)
	if r == nil {
		body, err := fill()
		if err != nil {
			return err
		}
		r = makeReady(body, control)
		r.revision = now
		x.server.cache.put(k, r)
	}
	x.serve(r)
	return nil
}

func (x *exchange) serve(r *ready) {
	h := x.Header()
	h["Cache-Control"] = r.control
	h["X-Xss-Protection"] = xssValue
	if r.control[0] == neverEnds {
		h["Vary"] = variesValue // others may store it, and its type is negotiated
	}
	body, length, etag := r.body, r.length, r.etag
	if len(body) >= gzipFrom {
		if h["Vary"] == nil {
			h["Vary"] = varyValue
		}
		if takesGzip(x.request.Header) {
			body = r.gzip()
			length, etag = r.zipSize, r.zipTag
			h["Content-Encoding"] = gzipValue
		}
	}
	h["Etag"] = etag
	x.done, x.wrote = true, http.StatusOK
	if lines := x.request.Header["If-None-Match"]; len(lines) > 0 && matches(lines, r.etag[0]) {
		delete(h, "Content-Encoding")
		x.wrote = http.StatusNotModified
		x.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"] = x.contentType
	h["Content-Length"] = length
	x.WriteHeader(http.StatusOK)
	if x.request.Method != http.MethodHead {
		_, _ = x.Write(body) // the caller went away; there is nobody to tell
	}
}

// matches compares weakly, as If-None-Match does.
func matches(lines []string, etag string) bool {
	for _, line := range lines {
		for one := range strings.SplitSeq(line, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == etag {
				return true
			}
		}
	}
	return false
}
