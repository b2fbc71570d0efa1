package api

import (
	"compress/gzip"
	"io"
	"net/http"
)

// pieces are what a long list leaves in: it is written as it is made, so that a
// thousand schemas of a megabyte do not stand in memory a second time.
const pieces = 64 << 10

// list answers an array of n items. One that fits a piece is sent whole.
func (x *exchange) list(n int, item func(b []byte, i int) []byte) error {
	b := append(make([]byte, 0, 1024), '[')
	var out io.Writer
	var z *gzip.Writer
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = item(b, i)
		if len(b) < pieces {
			continue
		}
		if out == nil {
			if out, z = x.head(); z != nil {
				defer zippers.Put(z)
			}
			if x.request.Method == http.MethodHead {
				return nil
			}
		}
		if _, err := out.Write(b); err != nil {
			return nil // the caller went away; there is nobody to tell
		}
		b = b[:0]
	}
	b = append(b, ']')
	if out == nil {
		return x.answer(b)
	}
	if _, err := out.Write(b); err == nil && z != nil {
		_ = z.Close() // as above
	}
	return nil
}

// head sends the head of an answer of unknown length, and says where its body
// goes.
func (x *exchange) head() (io.Writer, *gzip.Writer) {
	h := x.Header()
	h["Cache-Control"] = noCacheValue
	h["X-Xss-Protection"] = xssValue
	h["Content-Type"] = x.contentType
	h["Vary"] = varyValue
	x.done, x.wrote = true, http.StatusOK
	if !takesGzip(x.request.Header) {
		x.WriteHeader(http.StatusOK)
		return x.ResponseWriter, nil
	}
	h["Content-Encoding"] = gzipValue
	x.WriteHeader(http.StatusOK)
	z := zippers.Get().(*gzip.Writer)
	z.Reset(x.ResponseWriter)
	return z, z
}
