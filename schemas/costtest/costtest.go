// Package costtest measures for tests what work costs this process. It is in no
// program.
package costtest

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// held is the memory that objects hold, garbage that was not yet collected too.
func held() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// Within fails the test when f takes more processor time than most, or holds more
// than so many bytes, each times [Slower]. Nothing else may run in the process
// meanwhile.
func Within(t testing.TB, most time.Duration, bytes uint64, f func()) {
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
	start := Spent()
	f()
	took := Spent() - start
	close(stop)
	<-stopped
	memory := max(peak, held(), before) - before
	t.Logf("%v, %d MB", took.Round(time.Millisecond), memory>>20)
	if limit := Slower * most; took > limit {
		t.Errorf("took %v, over %v", took, limit)
	}
	if memory > Slower*bytes {
		t.Errorf("held %d MB, over %d", memory>>20, Slower*bytes>>20)
	}
}
