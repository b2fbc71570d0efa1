package protobuf

import (
	"encoding/hex"
	"sync"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// samplesOf are contents that show every boundary of the writer's field.
func samplesOf(w, r *field) func(*filler) [][]byte {
	return func(b *filler) [][]byte { return b.samples(w, r) }
}

// proofKey is a question about the values of a field whose messages are read as
// each other.
type proofKey struct {
	old, next  *message
	w, r       *field
	layer, dir int
}

// proof is which of the samples of a field hurts worst, -1 for none, and what
// finding it cost in steps.
type proof struct{ best, cost int }

// values proves what becomes of the values of a field. Where many files import
// the field's message, the search for the values that hurt is made once, on the
// message alone; each file proves the one that was found on its own message.
func (d *differ) values(t *told, v *visit, layer, dir int, w, r *field) {
	samples := samplesOf(w, r)
	shared := v.o.file != nil && v.n.file != nil && v.o.name == v.n.name && v.from[slot(layer, dir)] != nil
	if !shared || w.message != nil && w.message.endless {
		d.prove(t, v, layer, dir, w, r, samples)
		return
	}
	got, _ := v.n.proofs.LoadOrStore(proofKey{v.o, v.n, w, r, layer, dir}, sync.OnceValue(func() proof { return d.alone(v, layer, dir, samples) }))
	// Who made it and who found it made pay the same.
	if found := got.(func() proof)(); found.best >= 0 && d.proofs.Spend(found.cost) {
		best := func(b *filler) [][]byte {
			list := samples(b)
			return list[min(found.best, len(list)):min(found.best+1, len(list))]
		}
		if d.prove(t, v, layer, dir, w, r, best) != compat.Undecided {
			return
		}
	}
	d.prove(t, v, layer, dir, w, r, samples)
}

// alone finds the best sample for the pair of v without a way there.
func (d *differ) alone(v *visit, layer, dir int, samples func(*filler) [][]byte) proof {
	root, worst, out := &visit{o: v.o, n: v.n}, compat.Undecided, proof{best: -1}
	meter := compat.Budget{}.Meter()
	for i, content := range samples(&filler{}) {
		payload, name, ok := frame(root, slot(layer, dir), content, nil)
		if !ok {
			continue
		}
		cost := judgeCost[layer] + len(payload)
		if !meter.Spend(cost) {
			break
		}
		out.cost += cost
		if got, _ := d.judge(layer, dir, payload, name); got.IsHard() && (out.best < 0 || worst.Combine(got) != worst) {
			worst, out.best = got, i
		}
		if worst == compat.Refuses {
			break
		}
	}
	return out
}

// judgeCost is what a judgement takes on the wire and in JSON, in steps.
var judgeCost = [...]int{32, 180}

// mostShown is how many bytes of witnesses a pair shows; what breaks beyond it
// is told without one.
const mostShown = 1 << 18

// prove tries contents of the pair of v with the real reader. It gives t the
// worst that happened, with its payload, and answers it. What nothing could hurt,
// though no proof says so, stays undecided.
func (d *differ) prove(t *told, v *visit, layer, dir int, w, r *field, samples func(*filler) [][]byte) compat.Outcome {
	if w != nil && r != nil && w.message != nil && w.message.endless {
		return compat.Reads // no payload holds it
	}
	worst, proof := compat.Undecided, (*compat.Witness)(nil)
	writer, _ := sides(d.old, d.next, dir)
	b := &filler{}
	if len(writer.messages) > 0 {
		b.known = writer.messages[0].name
	}
	if r == nil {
		b.skip = w // it is the absence that hurts
	}
	lost := d.brief && layer == 0 && isLost(v, dir, w, r)
	for _, content := range samples(b) {
		payload, name, ok := frame(v, slot(layer, dir), content, b.skip)
		if !ok {
			continue
		}
		// What is no longer proved stays undecided; the rest of the pair may say
		// enough.
		cost := judgeCost[layer] + len(payload)
		if layer == 1 {
			// The JSON reader looks for names and for required fields one by one.
			cost += (len(v.o.fields) + len(v.n.fields)) / 16
		}
		if !d.proofs.Spend(cost) {
			break
		}
		if lost {
			worst = compat.Loses
			continue
		}
		got, one := d.judge(layer, dir, payload, name)
		if got.IsHard() && (proof == nil || worst.Combine(got) != worst) {
			worst, proof = got, one
		}
		if worst == compat.Refuses {
			break
		}
	}
	if d.brief {
		proof = nil
	}
	if proof != nil {
		if layer == 0 {
			d.show(proof, dir)
		}
		if d.shown += len(proof.JSON) + len(proof.Bytes); d.shown > mostShown {
			proof = nil
		}
	}
	t.set(layer, dir, worst, proof)
	return worst
}

// isLost tells whether the reader is known to lose every value of a field on the
// wire and to stumble over nothing else: it has the field under another number,
// and none under that of the writer. Then nobody need ask it, unless the loss is to
// be shown.
func isLost(v *visit, dir int, w, r *field) bool {
	wm, rm := sides(v.o, v.n, dir)
	return w != nil && r != nil && w.message == nil && w.name == r.name && w.number != r.number && rm.withNumber(w.number) == nil &&
		v.from[slot(0, dir)] == nil && wm.name == rm.name && len(wm.musts)+len(rm.musts) == 0 && !wm.same && !rm.same
}

// frame puts content of the pair of v into a whole payload of its root.
func frame(v *visit, s int, content []byte, skip *field) (payload []byte, name string, ok bool) {
	b := &filler{skip: skip}
	for {
		w, r := sides(v.o, v.n, s%2)
		content = b.complete(w, r, content)
		if b.failed {
			return nil, "", false
		}
		step := v.from[s]
		if step == nil {
			return content, w.name, true
		}
		f, _ := sides(step.old, step.next, s%2)
		content = appendMessage(nil, f, content)
		v = step.around
	}
}

// show writes the payload of a witness on the wire for people. It takes longer
// than to judge it, so that only one that is told is shown.
func (d *differ) show(w *compat.Witness, dir int) {
	writer, _ := d.sides(dir)
	text, err := writer.ToJSON(schemas.Payload{Bytes: w.Bytes, Message: w.Message}, schemas.ReadOptions{Violations: 1})
	w.JSON = string(text)
	if err != nil {
		w.JSON = `"0x` + hex.EncodeToString(w.Bytes) + `"` // it has no form in JSON
	}
}

// sides are the schemas of a direction as they were compiled, nil for one that
// does not.
func (d *differ) sides(dir int) (writer, reader *protobuf.Schema) {
	return sides(compiledOf(d.compiled[0]), compiledOf(d.compiled[1]), dir)
}

// judge asks the real reader what becomes of a payload.
func (d *differ) judge(layer, dir int, payload []byte, name string) (compat.Outcome, *compat.Witness) {
	writer, reader := d.sides(dir)
	if writer == nil || reader == nil {
		return compat.Undecided, nil // a text that does not compile has no payloads
	}
	p := schemas.Payload{Bytes: payload, Message: name}
	options := schemas.ReadOptions{Violations: 1}
	w := &compat.Witness{Bytes: payload, Message: name}
	var got schemas.Reading
	if layer == 0 {
		if got = reader.Reads(writer, p, options); got.OK() && len(got.Losses) == 0 {
			return compat.Reads, nil
		}
		// What the writer itself cannot read was never a payload.
		if own := writer.Reads(writer, p, options); !own.OK() || len(own.Losses) > 0 {
			return compat.Reads, nil
		}
	} else {
		text, reading, err := reader.ReadsJSON(writer, p, options)
		if err != nil {
			return compat.Reads, nil
		}
		got, w.JSON = reading, string(text)
	}
	if !got.OK() {
		one := got.Violations[0]
		if one.Kind == schemas.TooLarge || one.Kind == schemas.TooComplex {
			return compat.Reads, nil
		}
		w.Text = one.Text
		return compat.Refuses, w
	}
	worst := compat.Reads
	for _, l := range got.Losses {
		o := map[schemas.LossKind]compat.Outcome{
			schemas.Lost: compat.Loses, schemas.Altered: compat.Alters, schemas.AlteredOutOfRange: compat.Rounds,
		}[l.Kind]
		if worst.Combine(o) != worst {
			worst, w.Text = o, l.Text
		}
	}
	return worst, w
}
