package costtest

import (
	"runtime"
	"testing"
)

// Processor reports, when the function that it answers is called, the processor
// time of one iteration of b.Loop as cpu-ns/op: on a busy machine the clock tells of
// its other work. Collecting garbage counts, on whatever processor it is done. It is
// called after what is not to be measured, before the loop:
//
//	defer costtest.Processor(b)()
//	for b.Loop() {
func Processor(b *testing.B) (report func()) {
	runtime.GC() // of what was there before
	start := Spent()
	return func() { b.ReportMetric(float64((Spent()-start).Nanoseconds())/float64(b.N), "cpu-ns/op") }
}
