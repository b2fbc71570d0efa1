package protobuf

import (
	"encoding/hex"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// samplesOf are contents that show every boundary of the writer's field.
func samplesOf(w, r *field) func(*filler) [][]byte {
	return func(b *filler) [][]byte { return b.samples(w, r) }
}

// judgeCost is what a judgement takes on the wire and in JSON, in steps.
var judgeCost = [...]int{32, 180}

// mostShown is how many bytes of witnesses a pair shows; what breaks beyond it
// is told without one.
const mostShown = 1 << 18

// prove tries contents of the pair of v with the real reader and gives t the
// worst that happened, with its payload. What nothing could hurt, though no
// proof says so, stays undecided.
func (d *differ) prove(t *told, v *visit, layer, dir int, w, r *field, samples func(*filler) [][]byte) {
	if w != nil && r != nil && w.message != nil && w.message.endless {
		return // no payload holds it
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
		got, one := d.judge(layer, dir, payload, name)
		if got.IsHard() && (proof == nil || worst.Combine(got) != worst) {
			worst, proof = got, one
		}
		if worst == compat.Refuses {
			break
		}
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
