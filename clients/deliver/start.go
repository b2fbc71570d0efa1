package deliver

import "context"

// Start has begin try, so many times and with a pause between that doubles, and
// answers its last error. It is for what a consumer looks at before it works: a
// broker that comes up at the same time is not one that is missing. An error that
// isFinal ends the tries.
func Start(ctx context.Context, tries int, begin func(ctx context.Context) error, isFinal func(err error) bool) error {
	pause := FirstPause
	for try := 1; ; try++ {
		err := begin(ctx)
		if err == nil || try >= tries || isFinal(err) {
			return err
		}
		if Sleep(ctx, pause) != nil {
			return err
		}
		pause *= 2
	}
}
