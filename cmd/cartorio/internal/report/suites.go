package report

import "io"

// Suite is a group of test cases of another kind than comparisons.
type Suite struct {
	Name  string
	Cases []Case
}

// Case is one of them. Failure says why it failed, Error why it could not be
// judged; both empty is passed.
type Case struct {
	Name, File, Failure, Error string
}

// JUnit writes suites as JUnit's XML; a run without any says so in a passing
// case.
func JUnit(w io.Writer, list []Suite) error {
	all := suites{Name: "cartorio"}
	for _, s := range list {
		out := suite{Name: clean(s.Name), Time: "0"}
		for _, c := range s.Cases {
			one := testcase{Name: clean(c.Name), Class: clean("cartorio." + s.Name), File: clean(c.File), Time: "0"}
			switch {
			case c.Error != "":
				one.Error = &fault{Message: clean(c.Error), Type: "not checked", Text: clean(c.Error)}
				out.Errors++
			case c.Failure != "":
				one.Failure = &fault{Message: clean(c.Failure), Type: "test", Text: clean(c.Failure)}
				out.Failures++
			}
			out.Tests++
			out.Cases = append(out.Cases, one)
		}
		all.Tests, all.Failures, all.Errors = all.Tests+out.Tests, all.Failures+out.Failures, all.Errors+out.Errors
		all.Suites = append(all.Suites, out)
	}
	if len(all.Suites) == 0 {
		all.Tests = 1
		all.Suites = []suite{{Name: "cartorio", Tests: 1, Time: "0", Cases: []testcase{{Name: "nothing to test", Class: "cartorio", Time: "0"}}}}
	}
	return all.write(w)
}
