package registry

// StateOf is the encoded state of r, for tests that compare states.
func StateOf(r *Registry) []byte {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.state.Encode()
}

// CompareText is compareText.
var CompareText = compareText
