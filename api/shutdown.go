package api

import (
	"context"
	"fmt"
)

// Shutdown stops accepting, lets every request that was accepted finish, ends
// streams, and returns. /readyz answers 503 from its first moment on, for callers whose
// connections are still open.
//
// Errors: ctx's, when requests were still running at its deadline; their
// connections are then cut.
func (s *Server) Shutdown(ctx context.Context) error {
	if !s.draining.Swap(true) {
		close(s.stopping)
	}
	if err := s.http.Shutdown(ctx); err != nil {
		if cut := s.http.Close(); cut != nil {
			return fmt.Errorf("stopping: requests were cut: %w, %w", err, cut)
		}
		return fmt.Errorf("stopping: requests were cut: %w", err)
	}
	return nil
}
