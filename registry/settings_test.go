package registry_test

import "testing"

func TestSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script string }{
		{"a partial update merges", `
			configOf s => {} false
			configInForce s => {level=BACKWARD}
			config s level=FULL normalize=true => {level=FULL normalize=true}
			config s clear=normalize => {level=FULL}
			config s new=false rules=true => {level=FULL new=false rules=true}
			config s clear=compatibility,validateNewSchemas,validateRules => {}
			configOf s => {} false
			config s clear=alias => {}
			clearConfig s => 40401
		`},
		{"every member is inherited for itself", `
			config :.__GLOBAL: normalize=true policy=LENIENT => {normalize=true policy=LENIENT}
			config "" level=FULL_TRANSITIVE fields=true => {level=FULL_TRANSITIVE fields=true}
			config s verdict=SOUND normalize=false => {normalize=false verdict=SOUND}
			configInForce s => {level=FULL_TRANSITIVE normalize=false fields=true policy=LENIENT verdict=SOUND}
			configInForce t => {level=FULL_TRANSITIVE normalize=true fields=true policy=LENIENT}
			configInForce :.emea:s => {level=BACKWARD normalize=true policy=LENIENT}
			configOf s => {normalize=false verdict=SOUND} true
			clearConfig s => {normalize=false verdict=SOUND}
			configInForce s => {level=FULL_TRANSITIVE normalize=true fields=true policy=LENIENT}
		`},
		{"the global one", `
			clearConfig "" => {level=BACKWARD}
			config "" level=NONE => {level=NONE}
			config ":.:" normalize=true => {level=NONE normalize=true}
			clearConfig ":.:" => {level=NONE normalize=true}
			clearConfig "" => {level=BACKWARD}
		`},
		{"LOGICAL is kept by name", `
			config s policy=LOGICAL => {policy=LOGICAL}
			config s level=FULL => {level=FULL policy=LOGICAL}
			config s policy=CURIOUS => 42210
		`},
		{"a context stands between its subjects and the registry", `
			config "" level=NONE => {level=NONE}
			config :.__GLOBAL: normalize=true => {normalize=true}
			configInForce :.emea:s => {level=BACKWARD normalize=true}
			config :.emea: level=FULL => {level=FULL}
			config :.emea:s new=false => {new=false}
			configInForce :.emea:s => {level=FULL normalize=true new=false}
			configInForce :.apac:s => {level=BACKWARD normalize=true}
			configInForce s => {level=NONE normalize=true}
			mode :.emea: READONLY => 
			modeInForce :.emea:s => READONLY
			modeInForce s => READWRITE
			register :.emea:s "A" => 42205
			config :.emea:s level=NONE => 42205
			mode :.emea:t READWRITE => 
			register :.emea:t "A" => id 1 v1 new
			clearMode :.emea: recursive => READONLY
			modeOf :.emea:t =>  false
			register :.emea:s "B" => id 2 v1 new
		`},
		{"scopes that are not valid", `
			config ":*:s" level=FULL => 42208
			mode ":*:" READONLY => 42208
			config __GLOBAL level=FULL => 42208
			config :.__GLOBAL:s level=FULL => 42208
			mode :.__GLOBAL: READONLY => 
			modeInForce s => READONLY
			clearMode :.__GLOBAL: => READONLY
		`},
		{"modes", `
			modeOf s =>  false
			modeInForce s => READWRITE
			clearMode s => 40401
			clearMode "" => READWRITE
			mode s READONLY => 
			modeOf s => READONLY true
			mode "" READONLY_OVERRIDE => 
			modeInForce t => READONLY_OVERRIDE
			mode u READWRITE => 
			modeInForce u => READWRITE
			clearMode "" recursive => READONLY_OVERRIDE
			modeOf s =>  false
			modeOf u =>  false
			clearMode s recursive => 
			mode s CURIOUS => 42204
			mode s "" => 42204
			mode s FORWARD => 42204
			mode :.emea: FORWARD => 42204
			mode :.__GLOBAL: FORWARD => 
			modeInForce s => FORWARD
			clearMode :.__GLOBAL: => FORWARD
			mode s IMPORT => 
			modeInForce s => IMPORT
		`},
		{"what a read-only subject allows", `
			register s "A" => id 1 v1 new
			register s "A x?" => id 2 v2 new
			delete s 2 => 2
			mode s READONLY => 
			register s "A" => id 1 v1
			register s "B" => 42205
			register s "broken" => 42201
			register s "A x?" => 42205
			register s "A" id=9 => 42205
			lookup s "A" => id 1 v1
			check s "A z?" => compatible
			get s 1 => id 1 v1
			delete s 1 => 42205
			delete s 2 => 40406
			delete s 2 permanent => 42205
			delete s 7 => 40402
			delete s => 42205
			config s level=FULL => 42205
			clearConfig s => 42205
			config "" level=FULL => {level=FULL}
			mode s READWRITE => 
			register s "B" => id 3 v3 new
		`},
		{"a read-only registry", `
			mode "" READONLY => 
			register s "A" => 42205
			config "" level=FULL => 42205
			clearConfig "" => 42205
			mode t READWRITE => 
			register t "A" => id 1 v1 new
			clearMode "" => READONLY
			register s "A" => id 1 v1 new
		`},
		{"levels", `
			config s level=NONE => {level=NONE}
			register s "A a" => id 1 v1 new
			register s "A a b" => id 2 v2 new
			register s "A a b c" => id 3 v3 new
			register s "X" type=JSON => id 4 v4 new
			delete s 4 => 4
			config s level=BACKWARD => {level=BACKWARD}
			check s "A c" => compatible
			check s "A d" => breaking
			check s "A c" version=1 => breaking
			check s "A c" version=3 => compatible
			check s "A c" version=latest => compatible
			check s "A c" version=4 => 40402
			check s "A c" version=9 => 40402
			check s "A c" version=0 => 42202
			check s "A c" type=JSON => breaking
			config s level=BACKWARD_TRANSITIVE => {level=BACKWARD_TRANSITIVE}
			check s "A c" => breaking
			check s "A a" => compatible
			check s "A c" version=latest => compatible
			config s level=FORWARD => {level=FORWARD}
			check s "A a" => breaking
			check s "A a b c d" => compatible
			config s level=NONE => {level=NONE}
			check s "Z" type=JSON => compatible
			check s "Z" type=JSON version=1 => compatible
			check t "A c" version=3 => 40402
			check t "A c" version=latest => compatible
			check t "A c" => compatible
			check t "A c" version=-5 => 42202
		`},
		{"proof can be asked for", `
			register s "A a" => id 1 v1 new
			config s verdict=SOUND => {verdict=SOUND}
			register s "A a b" => id 2 v2 new
		`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, open(t), c.script)
		})
	}
}
