package deliver

import "context"

// Start has begin try, so many times and with a pause between that doubles, and
// answers its last error. It is for what a consumer looks at before it works: a
// broker that comes up at the same time is not one that is missing. An error that
// isFinal ends the tries.
//
// Once ctx has ended it answers nil, whatever begin said: to be told to stop is no
// failure, and what failed then may have failed for it. Whether there is anything
// left to begin is for the caller to see in ctx.
func Start(ctx context.Context, tries int, begin func(ctx context.Context) error, isFinal func(err error) bool) error {
	pause := FirstPause
	for try := 1; ; try++ {
		err := begin(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // see above
		case err == nil || try >= tries || isFinal(err):
			return err
		case Sleep(ctx, pause) != nil:
			return nil //nolint:nilerr // as above
		}
		pause *= 2
	}
}
