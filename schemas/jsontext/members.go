package jsontext

// Set gives the object v a member: a known name keeps its place, a new one comes
// last.
func (v *Value) Set(name string, to *Value) {
	for i := range v.Members {
		if v.Members[i].Name == name {
			v.Members[i].Value = to
			return
		}
	}
	v.Members = append(v.Members, Member{Name: name, Value: to})
}

// Unset takes a member away from the object v.
func (v *Value) Unset(name string) {
	for i := range v.Members {
		if v.Members[i].Name == name {
			v.Members = append(v.Members[:i:i], v.Members[i+1:]...)
			return
		}
	}
}

// Strings are the items of an array that are strings.
func (v *Value) Strings() []string {
	if v == nil || v.Kind != Array {
		return nil
	}
	var list []string
	for _, item := range v.Items {
		if item.Kind == String {
			list = append(list, item.Text)
		}
	}
	return list
}

// StringArray is an array of strings.
func StringArray(list []string) *Value {
	v := &Value{Kind: Array}
	for _, s := range list {
		v.Items = append(v.Items, &Value{Kind: String, Text: s})
	}
	return v
}
