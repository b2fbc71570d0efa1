package registry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// reservedProperty is the metadata property that lists, with commas, the names
// that no field of the outermost record may have.
//
// Source: REST contract 4.4, validateFields.
const reservedProperty = "confluent:reserved"

func reserved(m *schemas.Metadata) (names []string) {
	for name := range strings.SplitSeq(property(m, reservedProperty), ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return schemas.TagSet(names)
}

// reserve refuses, under validateFields, a schema that has a reserved field or
// that reserves less than the version before it.
func (r *Registry) reserve(report compat.Report, next *form, c Config, metadata *schemas.Metadata, old *Stored) compat.Report {
	if !isTrue(c.ValidateFields) {
		return report
	}
	names := reserved(metadata)
	var messages []string
	if old != nil {
		for _, name := range reserved(old.Metadata) {
			if !slices.Contains(names, name) {
				messages = append(messages, compat.Entry("RESERVED_FIELD_REMOVED", fmt.Sprintf("The new schema has reserved field %s removed from its metadata which is present in the old schema's metadata.", name), name, ""))
			}
		}
	}
	if len(names) > 0 {
		for _, part := range r.parts(next) {
			if part.Top != "" && slices.Contains(names, part.Top) {
				messages = append(messages, compat.Entry("FIELD_CONFLICTS_WITH_RESERVED_FIELD", fmt.Sprintf("The new schema has field that conflicts with the reserved field %s.", part.Top), part.Top, ""))
			}
		}
	}
	if len(messages) == 0 {
		return report
	}
	if report.Compatible {
		report.Messages = []string{fmt.Sprintf("{validateFields: 'true', compatibility: '%s'}", report.Level)}
	}
	report.Compatible, report.NotChecked = false, false
	report.Messages = append(messages, report.Messages...)
	return report
}
