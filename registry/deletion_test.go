package registry_test

import "testing"

func TestDelete(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script string }{
		// The table of REST contract 5.11, with numbers never used twice.
		{"a version softly, then the latest, then again", `
			register s "A" => id 1 v1 new
			register s "A x?" => id 2 v2 new
			delete s 2 => 2
			versions s => [1]
			versions s deleted => [1 2]
			versions s deletedOnly => [2]
			versions s negative => [1 -2]
			get s 2 => 40402
			get s 2 deleted => id 2 v2 deleted
			lookup s "A x?" => 40403
			lookup s "A x?" deleted => id 2 v2 deleted
			id 2 => s v2
			subjectsOf 2 => []
			subjectsOf 2 deleted => [s]
			delete s 2 => 40406
			delete s latest => 1
			versions s => 40401
			versions s deleted => [1 2]
			get s latest => 40401
			get s latest deleted => 40402
			register s "A" => id 1 v3 new
			versions s deleted => [2 3]
			get s 1 => 40402
			get s 1 deleted => id 1 v1 deleted
			delete s 1 => 40402
			delete s 1 permanent => 40402
			id 1 => s v3
			versionsOf 1 deleted => [s/3]
			list s deleted => [s/2 s/3]
		`},
		{"a version for good", `
			register s "A" => id 1 v1 new
			register s "A x?" => id 2 v2 new
			delete s 2 permanent => 40407
			delete s latest permanent => 40407
			delete s 2 => 2
			delete s 2 permanent => 2
			versions s deleted => [1]
			get s 2 deleted => 40402
			delete s 2 permanent => 40402
			id 2 => 40403
			delete s latest => 1
			delete s latest => 40402
			delete s latest permanent => 40402
			register s "A" => id 1 v3 new
			register s "A x?" => id 3 v4 new
		`},
		{"a subject softly and for good", `
			register s "A" => id 1 v1 new
			register s "A x?" => id 2 v2 new
			delete s permanent => 40405
			delete s => [1 2]
			subjects => []
			subjects deleted => [s]
			subjects deletedOnly => [s]
			delete s => 40404
			delete s permanent => [1 2]
			subjects deleted => []
			delete s => 40401
			delete s permanent => 40401
			id 1 => 40403
			register s "A" => id 3 v3 new
		`},
		{"softly and back", `
			register s "A" => id 1 v1 new
			register s "A x?" => id 2 v2 new
			delete s => [1 2]
			register s "B z" => id 3 v3 new
			register s "A" force => id 1 v4 new
			register s "A x?" => id 2 v5 new
			versions s deleted => [3 4 5]
		`},
		{"what is refused", `
			delete s => 40401
			delete s 1 => 40401
			delete s 0 => 42202
			delete s -2 => 42202
			register s "A" => id 1 v1 new
			delete s 2 => 40402
			delete s 2 permanent => 40402
		`},
		{"a part, then the whole", `
			register s "A" => id 1 v1 new
			register s "A x?" => id 2 v2 new
			delete s 1 => 1
			delete s permanent => 40405
			delete s => [2]
			delete s permanent => [1 2]
		`},
		{"a hidden number goes with the one that hid it", `
			register s "A" => id 1 v1 new
			delete s 1 => 1
			register s "A" => id 1 v2 new
			delete s 2 => 2
			register s "A" => id 1 v3 new
			get s 1 deleted => id 1 v1 deleted
			get s 2 deleted => id 1 v2 deleted
			versions s deleted => [3]
			register t "T" ref=A:s:1 => 42201
			delete s 3 => 3
			subjects deletedOnly => [s]
			delete s 3 permanent => 3
			get s 1 deleted => 40401
			id 1 => 40403
			register s "A" => id 2 v4 new
			get s 1 deleted => 40402
		`},
		{"config and mode go with the last version", `
			register s "A" => id 1 v1 new
			register s "A x?" => id 2 v2 new
			config s level=FULL => {level=FULL}
			mode s READONLY => 
			mode s READWRITE => 
			delete s => [1 2]
			configOf s => {level=FULL} true
			delete s 1 permanent => 1
			configOf s => {level=FULL} true
			modeOf s => READWRITE true
			delete s 2 permanent => 2
			configOf s => {} false
			modeOf s =>  false
		`},
		{"the global config does not go with the empty subject", `
			config "" level=NONE => {level=NONE}
			register "" "A" => id 1 v1 new
			delete "" 1 => 1
			delete "" 1 permanent => 1
			configOf "" => {level=NONE} true
		`},
		{"an id lives while one subject has it", `
			register s "A" => id 1 v1 new
			register t "A" => id 1 v1 new
			delete s => [1]
			id 1 => t v1
			delete s permanent => [1]
			id 1 => t v1
			delete t => [1]
			id 1 => t v1
			delete t permanent => [1]
			id 1 => 40403
		`},
		{"contexts", `
			contexts => [.]
			deleteContext .emea => 
			register s "A" => id 1 v1 new
			deleteContext . => 42211
			delete s => [1]
			deleteContext . => 42211
			delete s permanent => [1]
			deleteContext . => 
			contexts => [.]
		`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, open(t), c.script)
		})
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script string }{
		{"they are part of the identity", `
			register common "C a" => id 1 v1 new
			register common "C a b?" => id 2 v2 new
			register s "S" ref=C:common:1 => id 3 v1 new
			register s "S" ref=C:common:1 => id 3 v1
			register s "S" ref=C:common:2 => id 4 v2 new
			register t "S" ref=C:common:1 => id 3 v1 new
			referencedby common 1 => [3]
			referencedby common 2 => [4]
			referencedby common latest => [4]
			text s 2 => S {C common 2}
		`},
		{"the latest is pinned", `
			register common "C a" => id 1 v1 new
			register s "S" ref=C:common:-1 => id 2 v1 new
			text s 1 => S {C common 1}
			register s "S" ref=C:common:-1 => id 2 v1
			lookup s "S" ref=C:common:-1 => id 2 v1
			register common "C a b?" => id 3 v2 new
			lookup s "S" ref=C:common:-1 => 40403
			register s "S" ref=C:common:-1 => id 4 v2 new
			text s 2 => S {C common 2}
		`},
		{"a subject is kept as it was sent", `
			register common "C a" => id 1 v1 new
			register s "S" ref=C:/./common:1 => id 2 v1 new
			text s 1 => S {C :.:common 1}
			register s "S" ref=C:common:1 => id 3 v2 new
			register s "S" ref=C:/.emea/common:1 => 42201
			referencedby common 1 => [2 3]
		`},
		{"what does not resolve", `
			register s "S" ref=C:nobody:1 => 42201
			register common "C a" => id 1 v1 new
			register s "S" ref=C:common:2 => 42201
			register s "S" ref=C:common:0 => 42201
			register s "S" ref=:common:1 => 42201
			register s "S" ref=C::1 => 42201
			check s "S" ref=C:nobody:1 => 42201
			lookup common "S" ref=C:nobody:1 => 42201
			register s "S" ref=C:common:1 => id 2 v1 new
		`},
		{"an incompatible target is caught", `
			register common "C a" => id 1 v1 new
			config common level=NONE => {level=NONE}
			register common "C b" => id 2 v2 new
			register s "S" ref=C:common:1 => id 3 v1 new
			check s "S" ref=C:common:2 => breaking
			register s "S" ref=C:common:2 => 409
		`},
		{"inline types are the stored references", `
			register common "C a" => id 1 v1 new
			register s "S" ref=C:common:1 => id 2 v1 new
			register s "S a" => id 2 v1
			lookup s "S a" => id 2 v1
		`},
		{"soft-deleted targets", `
			register common "C a" => id 1 v1 new
			register s "S" ref=C:common:1 => id 2 v1 new
			delete common 1 => 42206
			delete common => 42206
			delete s 1 => 1
			referencedby common 1 => []
			referencedby common 1 deleted => [2]
			delete common 1 => 1
			delete common 1 permanent => 42206
			delete common permanent => 42206
			referencedby common 1 deleted => [2]
			register t "S" ref=C:common:1 => 42201
			register t "S" ref=C:common:-1 => 42201
			config t new=false => {new=false}
			register t "S" ref=C:common:1 => id 2 v1 new
			lookup s "S" ref=C:common:1 deleted => id 2 v1 deleted
			delete t => [1]
			delete t permanent => [1]
			delete s 1 permanent => 1
			delete common 1 permanent => 1
		`},
		{"references among a subject's own versions do not hold it", `
			config s level=NONE => {level=NONE}
			register s "A a" => id 1 v1 new
			register s "B" ref=A:s:1 => id 2 v2 new
			register s "C" ref=B:s:2 => id 3 v3 new
			delete s 1 => 42206
			delete s => [1 2 3]
			delete s 1 permanent => 42206
			delete s permanent => [1 2 3]
			id 1 => 40403
			id 3 => 40403
		`},
		{"others hold it", `
			register s "A a" => id 1 v1 new
			register t "B" ref=A:s:1 => id 2 v1 new
			register u "C" ref=B:t:1 => id 3 v1 new
			delete s => 42206
			delete t => 42206
			delete u => [1]
			delete t => [1]
			delete s => [1]
			delete s permanent => 42206
			delete u permanent => [1]
			delete t permanent => [1]
			delete s permanent => [1]
		`},
		{"a soft-deleted version that is referenced is not hidden", `
			register s "A a" => id 1 v1 new
			register t "B" ref=A:s:1 => id 2 v1 new
			delete t => [1]
			delete s 1 => 1
			register s "A a" => id 1 v2 new
			versions s deleted => [1 2]
			versionsOf 1 deleted => [s/2]
			delete t permanent => [1]
			delete s 2 => 2
			register s "A a" => id 1 v3 new
			versions s deleted => [3]
		`},
		{"deep, and the same target twice", `
			register a "A a" => id 1 v1 new
			register b "B" ref=A:a:1 => id 2 v1 new
			register c "C" ref=B:b:1 ref=A:a:1 => id 3 v1 new
			referencedby a 1 => [2 3]
			referencedby a 1 offset=1 => [3]
			referencedby a 1 limit=1 => [2]
			referencedby a 2 => 40402
			referencedby x 1 => 40401
		`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, open(t), c.script)
		})
	}
}
