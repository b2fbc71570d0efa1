package report_test

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
)

// TestPageFitsNarrowScreens lays the page out in a browser: nothing of it is
// wider than the screen, whatever the names are, and no column of a narrow
// screen is a few letters wide.
func TestPageFitsNarrowScreens(t *testing.T) {
	t.Parallel()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		if browser, err = exec.LookPath("chromium-browser"); err != nil {
			t.Skip("NOT RUN: chromium is not installed")
		}
	}
	run := hostileRun(func(what string) string { return "com/acme/orders/events/" + strings.Repeat(what, 20) + "\u202e" })
	run.Document.Compared = append(run.Document.Compared, compat.Compared{Subject: strings.Repeat("s", 300), Base: strings.Repeat("b", 300), Head: strings.Repeat("h", 300), Level: "FULL_TRANSITIVE", Verdict: compat.Breaking})
	page := write(t, "html", run)
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`)
	if !policy.MatchString(page) {
		t.Fatal("the page has no policy against scripts")
	}
	measured := html.EscapeString(strings.Replace(policy.ReplaceAllString(page, ""), "</body>", `<script>
for (const d of document.querySelectorAll("details")) d.open = true;
let least = innerWidth;
for (const c of document.querySelectorAll("td")) if (c.textContent && getComputedStyle(c).display != "none") least = Math.min(least, c.clientWidth);
parent.document.title += "[" + document.documentElement.scrollWidth + " of " + innerWidth + ", cells " + least + "]";
</script></body>`, 1))
	var frames strings.Builder
	widths := []int{500, 760, 1100}
	for _, width := range widths {
		fmt.Fprintf(&frames, `<iframe width="%d" height="900" srcdoc="%s"></iframe>`, width, measured)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte("<!doctype html><title></title>"+frames.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir="+t.TempDir(), "--window-size=1300,900", "--dump-dom", "file://"+file)
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.Output()
	title, _, _ := strings.Cut(string(out), "</title>")
	found := regexp.MustCompile(`\[(\d+) of (\d+), cells (\d+)\]`).FindAllStringSubmatch(title, -1)
	if len(found) != len(widths) {
		t.Fatalf("the browser measured %d of %d widths: %v: %.300q", len(found), len(widths), err, out)
	}
	for _, m := range found {
		wide, _ := strconv.Atoi(m[1])
		screen, _ := strconv.Atoi(m[2])
		least, _ := strconv.Atoi(m[3])
		if wide > screen {
			t.Errorf("at %d px the page is %d px wide", screen, wide)
		}
		if least < 60 {
			t.Errorf("at %d px a cell is %d px wide", screen, least)
		}
	}
}
