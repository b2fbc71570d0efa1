package scripts_test

import (
	"os"
	"os/exec"
	"testing"
)

// TestImage builds the image that holds the binary alone and runs it, where
// CARTORIO_TEST_IMAGE asks for it. The image for pipelines needs a Debian, which takes
// minutes to make: make image has both.
func TestImage(t *testing.T) {
	t.Parallel()
	if os.Getenv("CARTORIO_TEST_IMAGE") == "" {
		t.Skip("NOT RUN: CARTORIO_TEST_IMAGE is not set; make image installs buildah, builds both images and runs them")
	}
	out, err := exec.CommandContext(t.Context(), "bash", "image-test.sh", "scratch").CombinedOutput()
	if err != nil {
		t.Fatalf("image-test.sh: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}
