package scripts_test

import (
	"errors"
	"os/exec"
	"testing"
)

// TestImage builds the image that holds the binary alone and runs it, where
// buildah is. The image for pipelines needs a Debian, which takes minutes to make:
// make image has both.
func TestImage(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("buildah"); err != nil {
		t.Skip("NOT RUN: buildah is not installed: make image installs it, builds both images and runs them")
	}
	out, err := exec.CommandContext(t.Context(), "bash", "image-test.sh", "scratch").CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 3:
		t.Skipf("NOT RUN: %s", out)
	case err != nil:
		t.Fatalf("image-test.sh: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}
