//go:build unix

package jsonschema_test

import (
	"runtime"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"
)

// The limits of a pair: 2 s and 512 MB.
const (
	mostTime   = 2 * time.Second
	mostMemory = 512 << 20
)

// spent is the processor time of this process: on a loaded machine the clock says
// little.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// held is the memory that objects hold, garbage that was not yet collected too.
func held() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// within fails the test when f takes more processor time or memory than a pair
// may. Nothing else may run in the process meanwhile.
func within(t *testing.T, f func()) {
	t.Helper()
	runtime.GC()
	before, peak := held(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			peak = max(peak, held())
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	start := spent(t)
	f()
	took := spent(t) - start
	close(stop)
	<-stopped
	memory := max(peak, held(), before) - before
	t.Logf("%v, %d MB", took.Round(time.Millisecond), memory>>20)
	if limit := slower * mostTime; took > limit {
		t.Errorf("took %v, over %v", took, limit)
	}
	if memory > slower*mostMemory {
		t.Errorf("held %d MB, over %d", memory>>20, slower*mostMemory>>20)
	}
}
