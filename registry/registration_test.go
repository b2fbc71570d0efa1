package registry_test

import "testing"

func TestRegister(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script string }{
		{"the same content is the same version", `
			register s "A x" => id 1 v1 new
			register s "A x" => id 1 v1
			register s "A   x" => id 1 v1
		`},
		{"another subject shares the id", `
			register s "A x" => id 1 v1 new
			register t "A x" => id 1 v1 new
			subjectsOf 1 => [s t]
			versionsOf 1 => [s/1 t/1]
		`},
		{"an older version keeps its number", `
			register s "A x" => id 1 v1 new
			register s "A x y?" => id 2 v2 new
			register s "A x" => id 1 v1
			get s latest => id 2 v2
		`},
		{"another version number than the next", `
			register s "A x" => id 1 v1 new
			register s "B x" version=5 => 42201
			register s "A x" version=5 => 42201
			register s "A x" version=-2 => 42201
		`},
		{"a number that was asked for makes another schema", `
			register s "A x" => id 1 v1 new
			register s "A x" version=2 => id 2 v2 new
			register s "A x" version=3 => id 3 v3 new
			register s "A x" => id 1 v1
			register s "A x" version=3 => 42201
		`},
		{"the managed number is inherited", `
			register s "A x" version=1 => id 1 v1 new
			register s "A x y?" => id 2 v2 new
			register s "A x y?" => id 2 v2
			register s "A x y? z?" => id 3 v3 new
		`},
		{"-1 looks at the latest only", `
			register s "A x" => id 1 v1 new
			register s "A x" version=-1 => id 1 v1
			register s "A x y?" => id 2 v2 new
			register s "A x" version=-1 => id 3 v3 new
			register s "A x y?" => id 2 v2
		`},
		{"equivalent inside a subject, not outside", `
			register s "A x y" => id 1 v1 new
			register s "A y x" => id 1 v1
			register t "A y x" => id 2 v1 new
			register s "A y x" => id 1 v1
			lookup s "A y x" => id 1 v1
		`},
		{"only AVRO is equivalent in another order", `
			register s "A x y" type=JSON => id 1 v1 new
			register s "A y x" type=JSON => id 2 v2 new
		`},
		{"one text of two types has two ids", `
			register s "A x" => id 1 v1 new
			register t "A x" type=JSON => id 2 v1 new
			register u "A x" type=PROTOBUF => id 3 v1 new
			register u "A x" type=AVRO => 409
		`},
		{"an empty text takes the latest", `
			register s "" => 42201
			register s "A x" => id 1 v1 new
			register s "  " => id 1 v1
			lookup s "" => 40403
			lookup t "" => 40401
			check s "" => 42201
		`},
		{"an empty text under a number", `
			register s "A x" => id 1 v1 new
			register s "" version=2 => id 2 v2 new
			text s 2 => A x
		`},
		{"texts that do not parse", `
			register s "A broken" => 42201
			lookup s "A broken" => 40401
			check s "A broken" => 42201
			register s "A x" => id 1 v1 new
			lookup s "A broken" => 42201
			register s "A x" type=THRIFT => 42201
			subjects => [s]
		`},
		{"a parser that panics is an internal error", `
			register s "A panic" => 500
			register s "A x" => id 1 v1 new
		`},
		{"nothing is given for what is refused", `
			register s "A x" => id 1 v1 new
			register s "A x y" => 409
			register s "A broken" => 42201
			register s "A x z?" => id 2 v2 new
		`},
		{"what was stored leniently is found again", `
			config s new=false => {new=false}
			register s "A strict?" => id 1 v1 new
			register s "A strict" => id 2 v2 new
			config s new=true => {new=true}
			register s "A strict" => id 2 v2
			lookup s "A strict" => id 2 v2
			register t "A strict" => 42201
			check t "A strict" => 42201
		`},
		{"normalized by the query", `
			register s "A y x" normalize => id 1 v1 new
			text s 1 => A x y
			register s "A x y" => id 1 v1
			register s "A y x" normalize => id 1 v1
			lookup s "A y x" normalize => id 1 v1
		`},
		{"normalized by the config", `
			config s normalize=true => {normalize=true}
			register s "A y x" type=JSON => id 1 v1 new
			text s 1 => A x y
			lookup s "A y x" type=JSON => id 1 v1
			lookup s "A x y" type=JSON => id 1 v1
		`},
		{"not normalized matches only itself", `
			register s "A y x" type=JSON => id 1 v1 new
			register s "A y x" type=JSON normalize => id 2 v2 new
			lookup s "A x y" type=JSON => id 2 v2
		`},
		{"force skips the comparison", `
			register s "A x" => id 1 v1 new
			register s "A x y" => 409
			register s "A x y" force => id 2 v2 new
		`},
		{"ids cannot be chosen", `
			register s "A x" id=7 => 42205
			register s "A x" id=-1 => id 1 v1 new
			register s "A x" id=1 => id 1 v1
			register s "A x" id=1 version=1 => id 1 v1
			register s "A x" id=2 => 42205
		`},
		{"metadata is part of the schema", `
			register s "A x" metadata=owner => id 1 v1 new
			lookup s "A x" metadata=owner => id 1 v1
			lookup s "A x" => id 1 v1
			lookup s "A x" metadata= => 40403
			check s "A x" metadata=other => compatible
			register s "A x" => id 1 v1
			register s "A x y?" => id 2 v2 new
			lookup s "A x y?" metadata=owner => id 2 v2
			register s "A x y?" metadata= => id 3 v3 new
			register s "A x z?" => id 4 v4 new
			lookup s "A x z?" metadata= => id 4 v4
			register t "A x" metadata=owner => id 1 v1 new
			register t "A x" metadata= => id 5 v2 new
		`},
		{"inherited metadata with a number is still found", `
			register s "A x" metadata=owner version=1 => id 1 v1 new
			register s "A x" => id 1 v1
			register s "A x" metadata=owner => id 1 v1
		`},
		{"subjects that are not valid", `
			register __GLOBAL "A x" => 42208
			register __EMPTY "A x" => 42208
			register :.__GLOBAL:s "A x" => 42208
			register :*:s "A x" => 42208
			register "a` + "\u0001" + `b" "A x" => 42208
			register "a` + "\u0085" + `b" "A x" => 42208
			register "` + "a\xffb" + `" "A x" => 42208
			register "*" "A x" => id 1 v1 new
			register "" "A x" => id 1 v1 new
			register ":.:t" "A x" => id 1 v1 new
			subjects => [ * t]
		`},
		{"a context has subjects and ids of its own", `
			register s "A x" => id 1 v1 new
			register s "A x y?" => id 2 v2 new
			register :.emea:s "A x" => id 1 v1 new
			register :.emea:t "B" => id 2 v1 new
			register :.emea:t "B" => id 2 v1
			register :.apac:u "A x y?" => id 1 v1 new
			contexts => [. .apac .emea]
			subjects => [:.apac:u :.emea:s :.emea:t s]
			subjects "" => [s]
			subjects ":.emea:" => [:.emea:s :.emea:t]
			subjects ":*:s" => [:.emea:s s]
			id 2 => s v2
			id 2 :.emea: => :.emea:t v1
			id 2 :.emea:s => 40403
			id 2 t => :.emea:t v1
			id 1 u => :.apac:u v1
			id 1 nobody => s v1
			# reads look further, writes do not
			get u 1 => id 1 v1
			get t latest => id 2 v1
			lookup u "A x y?" => id 1 v1
			lookup u "A x" => 40403
			get s 3 => 40402
			versions u => 40401
			register u "C" => id 3 v1 new
			get u 1 => id 3 v1
			delete t => 40401
			delete :.emea:t => [1]
			delete :.emea:t permanent => [1]
			delete :.emea:s => [1]
			deleteContext .emea => 42211
			delete :.emea:s permanent => [1]
			contexts => [. .apac .emea]
			deleteContext .emea => 
			contexts => [. .apac]
			register :.emea:s "A x" => id 3 v2 new
			contexts => [. .apac .emea]
		`},
		{"references across contexts", `
			register common "C a" => id 1 v1 new
			register :.emea:common "D b" => id 1 v1 new
			register :.emea:s "S" ref=C:common:1 => id 2 v1 new
			register :.emea:t "S" ref=C:/./common:1 => id 3 v1 new
			register s "S" ref=C:/.emea/common:-1 => id 2 v1 new
			text s 1 => S {C :.emea:common 1}
			referencedby :.emea:common 1 => [2 :.emea:2]
			referencedby common 1 => [:.emea:3]
			delete common => 42206
			delete :.emea:common 1 => 42206
		`},
		{"what cannot be found is told apart", `
			lookup s "A x" => 40401
			register s "A x" => id 1 v1 new
			lookup s "A y" => 40403
			get s 2 => 40402
			get t 1 => 40401
			get s 0 => 42202
			get s -2 => 42202
			id 2 => 40403
			versions t => 40401
		`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, open(t), c.script)
		})
	}
}
