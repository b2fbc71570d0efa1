package protobuf

import "slices"

// end finds the messages that no payload of finite size can hold.
// Types of other files are done.
func (t *types) end() {
	own := make(map[*message]bool, len(t.list))
	for _, one := range t.list {
		own[one] = true
	}
	for _, one := range t.list {
		// An entry without a value holds an empty message, so that a value which
		// requires something is required itself.
		if v := one.withNumber(2); one.isEntry && v != nil && v.message != nil && slices.ContainsFunc(v.message.fields, func(f *field) bool { return f.card == required }) {
			v.card = required
		}
		for _, f := range one.fields {
			if f.card == required || one.isEntry && f.message != nil {
				one.musts = append(one.musts, f)
			}
		}
	}
	needs := map[*message][]*message{} // what is held to what it holds up
	left := map[*message]int{}
	var done []*message
	for _, one := range t.list {
		for _, f := range one.fields {
			if f.message != nil && (f.card == required || one.isEntry) && (own[f.message] || f.message.endless) {
				needs[f.message] = append(needs[f.message], one)
				left[one]++
			}
		}
		one.endless = left[one] > 0
		if !one.endless {
			done = append(done, one)
		}
	}
	for len(done) > 0 {
		one := done[len(done)-1]
		done = done[:len(done)-1]
		for _, holder := range needs[one] {
			if left[holder]--; left[holder] == 0 {
				holder.endless = false
				done = append(done, holder)
			}
		}
	}
}
