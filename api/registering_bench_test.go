//go:build linux

package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// syncTime is how long appending 4 KiB to a file and flushing it takes: the limit of
// the disk under whatever is durable.
func syncTime(b *testing.B, dir string) time.Duration {
	b.Helper()
	f, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	block, n, began := make([]byte, 4<<10), 0, time.Now()
	for ; time.Since(began) < 300*time.Millisecond; n++ {
		if _, err := f.Write(block); err != nil {
			b.Fatal(err)
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(began) / time.Duration(n)
}

// registrationOf is the request that registers the nth Avro schema of ten fields.
func registrationOf(n int64) string {
	var fields strings.Builder
	for i := range 10 {
		fmt.Fprintf(&fields, `{"name":"field_%d_%s","type":"string"},`, i, strings.Repeat("x", 50))
	}
	body := `{"schema":` + strconv.Quote(`{"type":"record","name":"R","fields":[`+fields.String()+fmt.Sprintf(`{"name":"last","type":"int","default":%d}]}`, n)) + `}`
	return fmt.Sprintf("POST /subjects/s%d/versions HTTP/1.1\r\nHost: h\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", n%1000, vendorV1, len(body), body)
}

// connections runs one client on a connection of its own, so many times at once,
// until next says that it was enough. It answers how long each request took.
func (p *process) connections(clients int, next func() (request string, more bool)) (took []time.Duration) {
	p.b.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	for range clients {
		all.Go(func() {
			conn, err := net.Dial("tcp", p.address)
			if err != nil {
				p.b.Error(err)
				return
			}
			defer conn.Close()
			in := bufio.NewReader(conn)
			var mine []time.Duration
			for {
				request, more := next()
				if !more {
					break
				}
				began := time.Now()
				if _, err := io.WriteString(conn, request); err != nil {
					p.b.Error(err)
					return
				}
				if err := skipAnswer(in); err != nil {
					p.b.Error(err)
					return
				}
				mine = append(mine, time.Since(began))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	all.Wait()
	return took
}

// BenchmarkWireRegister registers schemas of ten fields durably, over HTTP, parsed
// and compared, beside flushing a file of the same disk. All of it is by the clock.
//
// Goal: one client at least 0.4 times the rate of flushing, 16 clients twice, 128
// four times.
func BenchmarkWireRegister(b *testing.B) {
	for _, clients := range []int{1, 16, 128} {
		b.Run(fmt.Sprint("clients=", clients), func(b *testing.B) {
			dir := b.TempDir()
			b.Setenv(databaseVariable, filepath.Join(dir, "c.db"))
			p := start(b, "durable")
			var n atomic.Int64
			var each, flush []time.Duration
			for b.Loop() {
				before := syncTime(b, dir)
				left := int64(100 * clients)
				until := n.Load() + left
				began := time.Now()
				p.connections(clients, func() (string, bool) {
					i := n.Add(1)
					return registrationOf(i), i <= until
				})
				each = append(each, time.Since(began)/time.Duration(left))
				flush = append(flush, (before+syncTime(b, dir))/2)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(middle(each), "µs/registration")
			b.ReportMetric(middle(flush), "µs/flush")
		})
	}
}

// BenchmarkWireBesideReaders tells the latency of a registration, 99th percentile,
// alone and while 50 readers ask for schemas as fast as they can.
//
// Goal: three times as long.
func BenchmarkWireBesideReaders(b *testing.B) {
	b.Setenv(databaseVariable, filepath.Join(b.TempDir(), "c.db"))
	p := start(b, "durable")
	var n atomic.Int64
	const each = 300
	register := func() float64 {
		left := each
		took := p.connections(1, func() (string, bool) { left--; return registrationOf(n.Add(1)), left >= 0 })
		slices.Sort(took)
		return float64(took[len(took)*99/100].Microseconds())
	}
	get := "GET /schemas/ids/1 HTTP/1.1\r\nHost: h\r\nAccept: " + vendorV1 + "\r\n\r\n"
	register()
	var idle, busy []float64
	for b.Loop() {
		idle = append(idle, register())
		var enough atomic.Bool
		var readers sync.WaitGroup
		readers.Go(func() { p.connections(50, func() (string, bool) { return get, !enough.Load() }) })
		busy = append(busy, register())
		enough.Store(true)
		readers.Wait()
	}
	slices.Sort(idle)
	slices.Sort(busy)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(idle[len(idle)/2], "idle-p99-µs")
	b.ReportMetric(busy[len(busy)/2], "busy-p99-µs")
}

// middle is the median in microseconds.
func middle(list []time.Duration) float64 {
	slices.Sort(list)
	return float64(list[len(list)/2].Nanoseconds()) / 1000
}
