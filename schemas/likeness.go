package schemas

// weights are what each byte adds to [Unordered]: the first steps of splitmix64,
// whose sums meet by chance alone.
var weights = func() (table [256]uint64) {
	state := uint64(0)
	for i := range table {
		state += 0x9E3779B97F4A7C15
		z := (state ^ state>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		table[i] = z ^ z>>31
	}
	return table
}()

// Unordered is a hash of the bytes of text that is the same in any order of them:
// moving the members of an object does not change it.
func Unordered(text string) (sum uint64) {
	for i := range len(text) {
		sum += weights[text[i]]
	}
	return sum
}
