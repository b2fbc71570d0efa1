package protobuf

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/types/descriptorpb"
)

// sound tells whether protobuf-go is sure to link what the assembly made: whatever
// it checks beyond what was looked at before, in its order. It is false rather
// than not sure.
func (a *assembly) sound(fd *descriptorpb.FileDescriptorProto) bool {
	if fd.GetName() == "" {
		return false
	}
	seen := map[string]bool{fd.GetName(): true}
	for i, path := range fd.Dependency {
		if seen[path] || a.imports[i].path != path {
			return false
		}
		seen[path] = true
	}
	return all(fd.EnumType, soundEnum) && all(fd.MessageType, soundMessage)
}

func all[T any](list []T, is func(T) bool) bool {
	return !slices.ContainsFunc(list, func(one T) bool { return !is(one) })
}

// span is a range of numbers, both ends included.
type span struct{ start, end int32 }

// soundReservations tells whether no name is reserved twice, no two ranges meet,
// and none of them is in use. The numbers in use are sorted.
func soundReservations[T interface{ GetName() string }](names []string, ranges []span, numbers []int32, uses []T) bool {
	slices.SortFunc(ranges, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	at := 0
	for i, r := range ranges {
		if i > 0 && ranges[i-1].end >= r.start {
			return false
		}
		for at < len(numbers) && numbers[at] < r.start {
			at++
		}
		if at < len(numbers) && numbers[at] <= r.end {
			return false
		}
	}
	if len(names) == 0 {
		return true
	}
	reserved := make(map[string]bool, len(names))
	for _, name := range names {
		if reserved[name] {
			return false
		}
		reserved[name] = true
	}
	return all(uses, func(one T) bool { return !reserved[one.GetName()] })
}

func soundEnum(e *descriptorpb.EnumDescriptorProto) bool {
	if len(e.Value) == 0 || e.Value[0].GetNumber() != 0 {
		return false
	}
	numbers := make([]int32, len(e.Value))
	for i, v := range e.Value {
		numbers[i] = v.GetNumber()
	}
	if e.GetOptions().GetAllowAlias() == isUnique(numbers) {
		return false // twice without leave, or leave for nothing
	}
	var ranges []span
	for _, r := range e.ReservedRange {
		ranges = append(ranges, span{r.GetStart(), r.GetEnd()})
	}
	return soundReservations(e.ReservedName, ranges, numbers, e.Value)
}

// isUnique sorts a list and tells whether no number is there twice.
func isUnique(list []int32) bool {
	if !slices.IsSorted(list) {
		slices.Sort(list)
	}
	for i := 1; i < len(list); i++ {
		if list[i] == list[i-1] {
			return false
		}
	}
	return true
}

func soundMessage(m *descriptorpb.DescriptorProto) bool {
	numbers := make([]int32, len(m.Field))
	members := make([]int, len(m.OneofDecl))
	synthetic := false
	for i, f := range m.Field {
		numbers[i] = f.GetNumber()
		if f.Type == nil || f.GetProto3Optional() && (f.Label != &labelOptional || f.OneofIndex == nil) {
			return false
		}
		if f.OneofIndex == nil {
			continue
		}
		// The members of a oneof stand together.
		o := f.GetOneofIndex()
		if f.GetLabel() != labelOptional || members[o] > 0 && (f.GetProto3Optional() || i == 0 || m.Field[i-1].OneofIndex == nil || m.Field[i-1].GetOneofIndex() != o) {
			return false
		}
		members[o]++
		synthetic = synthetic || f.GetProto3Optional()
	}
	if !isUnique(numbers) || slices.Contains(members, 0) {
		return false
	}
	var ranges []span
	for _, r := range m.ReservedRange {
		ranges = append(ranges, span{r.GetStart(), r.GetEnd() - 1})
	}
	return soundReservations(m.ReservedName, ranges, numbers, m.Field) && all(m.EnumType, soundEnum) && all(m.NestedType, soundMessage)
}
