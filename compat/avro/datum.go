package avro

import (
	"math/rand/v2"
	"slices"

	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// step leads one node down, on both sides: a field, an item, or a branch. An
// index is -1 on a side that has nothing there (a union over against its one
// branch).
type step struct {
	up       *step
	old, new int
}

// indexes lists the steps from the root on one side.
func (s *step) indexes(old bool) []int {
	var out []int
	for n := s; n != nil; n = n.up {
		if old {
			out = append(out, n.old)
		} else {
			out = append(out, n.new)
		}
	}
	slices.Reverse(out)
	return out
}

// mostDatum is how many bytes a witness takes at most.
const mostDatum = 1 << 16

// datum builds one payload of a writer: the smallest that reaches a place, with
// something telling there.
type datum struct {
	finite *finite
	bytes  []byte
	failed bool // the place cannot be reached, or not in reasonable size
	// variant chooses other branches and symbols beside the way, since a reader may
	// refuse the smallest ones for another reason than the one to be shown.
	variant int
	// some draws the value at the place, instead of a telling one; one of a
	// record's fields, or all. See [differ.blind].
	some  *rand.Rand
	one   bool
	moved []int       // the fields that may be drawn; nil for all
	drawn *avro.Field // the one of moved that was
}

// at writes a value of t that follows path and has, at its end, symbol or branch
// number pick, or simply a telling value when pick is negative.
func (d *datum) at(t *avro.Type, path []int, pick int) {
	if d.finite.cost(t) >= huge || len(d.bytes) > mostDatum {
		d.failed = true
		return
	}
	if len(path) == 0 {
		if d.some != nil {
			d.random(t, 3)
		} else {
			d.telling(t, pick)
		}
		return
	}
	i := path[0]
	if i < 0 {
		d.at(t, path[1:], pick)
		return
	}
	switch t.Kind {
	case avro.Record:
		for k, f := range t.Named.Fields {
			if k == i {
				d.at(f.Type, path[1:], pick)
			} else {
				d.smallest(f.Type)
			}
		}
	case avro.Array, avro.Map:
		d.long(1)
		if t.Kind == avro.Map {
			d.text("k")
		}
		d.at(t.Items, path[1:], pick)
		d.long(0)
	case avro.Union:
		if i >= len(t.Branches) {
			d.failed = true // no path of ours leads there
			return
		}
		d.long(int64(i))
		d.at(t.Branches[i], path[1:], pick)
	default:
		d.failed = true
	}
}

// telling writes a value that shows it was written: not what a default or an
// empty value would be.
func (d *datum) telling(t *avro.Type, pick int) {
	switch t.Kind {
	case avro.Boolean:
		d.bytes = append(d.bytes, 1)
	case avro.Int:
		d.long(1<<31 - 1)
	case avro.Long:
		d.long(1<<53 + 1)
	case avro.Float:
		d.bytes = append(d.bytes, 0, 0, 0xc0, 0x3f) // 1.5
	case avro.Double:
		d.bytes = append(d.bytes, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f)
	case avro.Bytes:
		d.bytes = append(d.bytes, 2, 0xff) // no UTF-8
	case avro.String:
		d.text("x")
	case avro.Enum:
		if n := len(t.Named.Symbols); pick < 0 {
			pick = n - 1
		}
		d.long(int64(pick))
	case avro.Fixed:
		if t.Named.Size > mostDatum {
			d.failed = true
			return
		}
		for i := range t.Named.Size {
			d.bytes = append(d.bytes, byte(i+1))
		}
	case avro.Array, avro.Map:
		if d.finite.cost(t.Items) >= huge {
			d.long(0)
			return
		}
		d.long(1)
		if t.Kind == avro.Map {
			d.text("k")
		}
		d.tellingPart(t.Items)
		d.long(0)
	case avro.Union:
		if pick < 0 {
			pick = d.finite.cheapestValue(t)
		}
		d.at(t, []int{pick}, -1)
	default:
		d.smallest(t)
	}
}

// tellingPart writes something telling inside a telling value, one level deep: a
// type may hold itself.
func (d *datum) tellingPart(t *avro.Type) {
	switch t.Kind {
	case avro.Array, avro.Map, avro.Union, avro.Record:
		d.smallest(t)
	default:
		d.telling(t, -1)
	}
}

// smallest writes the smallest value of t.
func (d *datum) smallest(t *avro.Type) {
	if d.failed || len(d.bytes) > mostDatum || d.finite.cost(t) >= huge || !d.finite.meter.Spend(1) {
		d.failed = true
		return
	}
	switch t.Kind {
	case avro.Boolean, avro.Int, avro.Long, avro.Bytes, avro.String, avro.Array, avro.Map:
		d.bytes = append(d.bytes, 0)
	case avro.Enum:
		d.long(int64(d.variant % len(t.Named.Symbols)))
	case avro.Float:
		d.bytes = append(d.bytes, 0, 0, 0, 0)
	case avro.Double:
		d.bytes = append(d.bytes, 0, 0, 0, 0, 0, 0, 0, 0)
	case avro.Fixed:
		if t.Named.Size > mostDatum {
			d.failed = true
			return
		}
		d.bytes = append(d.bytes, make([]byte, t.Named.Size)...)
	case avro.Union:
		i := d.finite.cheapest(t)
		for more := d.variant; more > 0; {
			if i = (i + 1) % len(t.Branches); d.finite.cost(t.Branches[i]) < huge {
				more--
			}
		}
		d.long(int64(i))
		d.smallest(t.Branches[i])
	case avro.Record:
		for _, f := range t.Named.Fields {
			d.smallest(f.Type)
		}
	default: // null takes no bytes
	}
}

// long writes a zig-zag variable-length integer.
func (d *datum) long(n int64) {
	u := uint64(n)<<1 ^ uint64(n>>63)
	for ; u >= 0x80; u >>= 7 {
		d.bytes = append(d.bytes, byte(u)|0x80)
	}
	d.bytes = append(d.bytes, byte(u))
}

func (d *datum) text(s string) {
	d.long(int64(len(s)))
	d.bytes = append(d.bytes, s...)
}
