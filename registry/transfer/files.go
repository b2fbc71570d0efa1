package transfer

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// The files of an export, the same in a folder and in an archive: what the whole
// registry says in registry.json, each subject in a folder of its own with one
// file a text, and manifest.json with the SHA-256 of each of them.
const (
	manifestName = "manifest.json"
	registryName = "registry.json"
	subjectName  = "subject.json"
	subjectsRoot = "subjects"

	exportFormat  = "cartorio-export"
	exportVersion = 1
)

type manifest struct {
	Format   string         `json:"format"`
	Version  int            `json:"version"`
	Complete bool           `json:"complete"` // false while a folder is being written
	Marked   bool           `json:"marked"`   // Gathered.Marked
	Whole    bool           `json:"whole"`    // Gathered.Whole
	Subjects int            `json:"subjects"`
	Versions int            `json:"versions"`
	Files    []manifestFile `json:"files"`
}

type manifestFile struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

type registryFile struct {
	Contexts   []contextFile   `json:"contexts"`
	Settings   []settingFile   `json:"settings,omitempty"`
	Exceptions []exceptionFile `json:"exceptions,omitempty"`
}

type contextFile struct {
	Name   schemas.Context `json:"context"`
	Listed bool            `json:"listed"`
	High   int32           `json:"highestID"`
}

type settingFile struct {
	Scope  string           `json:"scope"` // ":.:" is the global one
	Config *registry.Config `json:"config,omitempty"`
	Mode   registry.Mode    `json:"mode,omitempty"`
}

type exceptionFile struct {
	Scope       string `json:"scope"`
	Fingerprint string `json:"fingerprint"`
	Reason      string `json:"reason,omitempty"`
	Owner       string `json:"owner,omitempty"`
	Until       int64  `json:"until,omitempty"` // milliseconds since 1970
}

type subjectFile struct {
	Subject        string           `json:"subject"`
	HighestVersion schemas.Version  `json:"highestVersion"`
	Config         *registry.Config `json:"config,omitempty"`
	Mode           registry.Mode    `json:"mode,omitempty"`
	Versions       []versionFile    `json:"versions"`
	Gone           []goneFile       `json:"gone,omitempty"` // permanently deleted
}

type versionFile struct {
	Version    schemas.Version `json:"version"`
	ID         int32           `json:"id"`
	GUID       string          `json:"guid"`
	Type       schemas.Type    `json:"type"`
	File       string          `json:"file"`
	Time       string          `json:"time,omitempty"`
	Deleted    bool            `json:"deleted,omitempty"`
	HiddenBy   schemas.Version `json:"hiddenBy,omitempty"`
	References []referenceBody `json:"references,omitempty"`
	Metadata   *metadataBody   `json:"metadata,omitempty"`
	RuleSet    *ruleSetBody    `json:"ruleSet,omitempty"`
}

type goneFile struct {
	Version schemas.Version `json:"version"`
	GUID    string          `json:"guid"`
	Type    schemas.Type    `json:"type"`
}

// file is one file of an export.
type file struct {
	path string
	data []byte
}

const timeForm = "2006-01-02T15:04:05.000Z"

// filesOf writes g as files, the manifest apart. The same g gives the same bytes.
func filesOf(g Gathered) (manifest, []file, error) {
	m := manifest{Format: exportFormat, Version: exportVersion, Complete: true, Marked: g.Marked, Whole: g.Whole, Versions: len(g.Versions)}
	g.marks()
	whole := registryFile{Contexts: []contextFile{}}
	for _, c := range g.Contexts {
		whole.Contexts = append(whole.Contexts, contextFile(c))
	}
	for _, e := range g.Exceptions {
		whole.Exceptions = append(whole.Exceptions, exceptionFile{scopeName(e.Scope), e.Fingerprint, e.Reason, e.Owner, e.Until})
	}
	settings := map[schemas.Subject]registry.Setting{}
	for _, s := range g.Settings {
		settings[s.Scope] = s
	}
	bySubject := map[schemas.Subject][]*registry.Held{}
	for i := range g.Versions {
		bySubject[g.Versions[i].Subject] = append(bySubject[g.Versions[i].Subject], &g.Versions[i])
	}
	m.Subjects = len(g.Subjects)
	var files []file
	add := func(name string, v any) error {
		data, err := pretty(v)
		files = append(files, file{name, data})
		return err
	}
	folders := foldersOf(g.Subjects)
	for _, u := range g.Subjects {
		s := settings[u.Subject]
		delete(settings, u.Subject)
		out := subjectFile{Subject: u.Subject.String(), HighestVersion: u.High, Config: s.Config, Mode: s.Mode, Versions: []versionFile{}}
		for _, gone := range u.Gone {
			out.Gone = append(out.Gone, goneFile{gone.Version, gone.GUID.String(), gone.Type})
		}
		for _, v := range bySubject[u.Subject] {
			guid := v.GUID
			if guid == (schemas.GUID{}) {
				guid = schemas.GUIDOf(v.Source.Text, v.Source.References, v.Metadata, v.RuleSet)
			}
			one := versionFile{
				Version: v.Version, ID: v.ID.Number, GUID: guid.String(), Type: v.Source.Type, File: v.Version.String() + ending(v.Source.Type),
				Deleted: v.Deleted, HiddenBy: v.HiddenBy, References: referenceFiles(v.Source.References), Metadata: metadataFile(v.Metadata), RuleSet: ruleSetFile(v.RuleSet),
			}
			if !v.Time.IsZero() {
				one.Time = v.Time.UTC().Format(timeForm)
			}
			out.Versions = append(out.Versions, one)
			files = append(files, file{path.Join(folders[u.Subject], one.File), []byte(v.Source.Text)})
		}
		if err := add(path.Join(folders[u.Subject], subjectName), out); err != nil {
			return m, nil, fmt.Errorf("write subject %q: %w", u.Subject, err)
		}
	}
	for _, s := range g.Settings {
		if _, left := settings[s.Scope]; left {
			whole.Settings = append(whole.Settings, settingFile{scopeName(s.Scope), s.Config, s.Mode})
		}
	}
	if err := add(registryName, whole); err != nil {
		return m, nil, fmt.Errorf("write %s: %w", registryName, err)
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	m.Files = make([]manifestFile, len(files))
	for i, f := range files {
		sum := sha256.Sum256(f.data)
		m.Files[i] = manifestFile{f.path, int64(len(f.data)), hex.EncodeToString(sum[:])}
	}
	return m, files, nil
}

// bytes writes a manifest with one line a file, so that a change of one text is
// one line of a diff.
func (m manifest) bytes() ([]byte, error) {
	head := m
	head.Files = nil
	out, err := pretty(head)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	before, after, _ := bytes.Cut(out, []byte(`"files": null`))
	b.Write(before)
	b.WriteString(`"files": [`)
	for i, f := range m.Files {
		line, err := json.Marshal(f)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		b.Write(line)
	}
	b.WriteString("\n  ]")
	b.Write(after)
	return b.Bytes(), nil
}

func pretty(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

func ending(t schemas.Type) string {
	switch t {
	case schemas.Avro:
		return ".avsc"
	case schemas.Protobuf:
		return ".proto"
	case schemas.JSON:
	}
	return ".json"
}

// foldersOf names the folder of each subject: readable, and different also where
// letter case is not told apart. Only subject.json says what a subject is called.
func foldersOf(subjects []registry.HeldSubject) map[schemas.Subject]string {
	plain := func(u registry.HeldSubject) string {
		c := "default"
		if name := strings.TrimPrefix(string(u.Subject.Context), "."); name != "" {
			c = fileName(name)
		}
		return path.Join(subjectsRoot, c, fileName(u.Subject.Name))
	}
	taken := map[string]int{}
	for _, u := range subjects {
		taken[strings.ToLower(plain(u))]++
	}
	out := make(map[schemas.Subject]string, len(subjects))
	for _, u := range subjects {
		name := plain(u)
		if taken[strings.ToLower(name)] > 1 {
			name += "~" + shortHash(u.Subject.String())
		}
		out[u.Subject] = name
	}
	return out
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// fileName writes a name so that every file system takes it.
func fileName(name string) string {
	const longest = 120
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.' && i > 0 && i < len(name)-1:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	switch text := b.String(); {
	case text == "":
		return "%"
	case len(text) > longest:
		return text[:longest] + "~" + shortHash(name)
	case reserved[strings.ToUpper(strings.SplitN(text, ".", 2)[0])]:
		return text + "~" + shortHash(name)
	default:
		return text
	}
}

// reserved are the names that Windows keeps for devices.
var reserved = func() map[string]bool {
	m := map[string]bool{"CON": true, "PRN": true, "AUX": true, "NUL": true}
	for i := range 10 {
		m[fmt.Sprint("COM", i)], m[fmt.Sprint("LPT", i)] = true, true
	}
	return m
}()

// heldOf reads the files of an export back.
func heldOf(m manifest, data map[string][]byte) (Gathered, error) {
	g := Gathered{Marked: m.Marked, Whole: m.Whole}
	strict := func(name string, v any) error {
		text, ok := data[name]
		if !ok {
			return fmt.Errorf("%s is not there", name)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(v); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	var whole registryFile
	if err := strict(registryName, &whole); err != nil {
		return g, err
	}
	for _, c := range whole.Contexts {
		g.Contexts = append(g.Contexts, registry.HeldContext(c))
	}
	for _, s := range whole.Settings {
		g.Settings = append(g.Settings, registry.Setting{Scope: schemas.ParseSubject(s.Scope), Config: s.Config, Mode: s.Mode})
	}
	for _, e := range whole.Exceptions {
		g.Exceptions = append(g.Exceptions, registry.HeldException{Scope: schemas.ParseSubject(e.Scope), Fingerprint: e.Fingerprint, Reason: e.Reason, Owner: e.Owner, Until: e.Until})
	}
	used := 1
	for _, f := range m.Files {
		if path.Base(f.Path) != subjectName {
			continue
		}
		var u subjectFile
		if err := strict(f.Path, &u); err != nil {
			return g, err
		}
		used++
		if err := g.addSubject(u, path.Dir(f.Path), data); err != nil {
			return g, fmt.Errorf("%s: %w", f.Path, err)
		}
		used += len(u.Versions)
	}
	if used != len(m.Files) {
		return g, fmt.Errorf("%d of the %d files belong to no version", len(m.Files)-used, len(m.Files))
	}
	sortVersions(g.Versions)
	slices.SortFunc(g.Settings, func(a, b registry.Setting) int { return compareSubjects(a.Scope, b.Scope) })
	g.marks()
	return g, nil
}

func (g *Gathered) addSubject(u subjectFile, folder string, data map[string][]byte) error {
	name := schemas.ParseSubject(u.Subject)
	held := registry.HeldSubject{Subject: name, High: u.HighestVersion}
	for _, gone := range u.Gone {
		guid, err := schemas.ParseGUID(gone.GUID)
		if err != nil {
			return err
		}
		held.Gone = append(held.Gone, registry.Gone{Version: gone.Version, GUID: guid, Type: gone.Type})
	}
	g.Subjects = append(g.Subjects, held)
	if u.Config != nil || u.Mode != "" {
		g.Settings = append(g.Settings, registry.Setting{Scope: name, Config: u.Config, Mode: u.Mode})
	}
	for _, v := range u.Versions {
		file := path.Join(folder, v.File)
		text, ok := data[file]
		if !ok || path.Base(v.File) != v.File {
			return fmt.Errorf("version %d: its file %q is not there", v.Version, v.File)
		}
		guid, err := schemas.ParseGUID(v.GUID)
		if err != nil {
			return fmt.Errorf("version %d: %w", v.Version, err)
		}
		one := registry.Held{HiddenBy: v.HiddenBy, Found: schemas.Found{
			Subject: name, Version: v.Version, ID: schemas.ID{Context: name.Context, Number: v.ID}, GUID: guid, Deleted: v.Deleted,
			Source:   schemas.Source{Type: v.Type, Text: string(text), References: referencesOf(v.References)},
			Metadata: v.Metadata.metadata(), RuleSet: v.RuleSet.rules(),
		}}
		if v.Time != "" {
			if one.Time, err = time.Parse(timeForm, v.Time); err != nil {
				return fmt.Errorf("version %d: %w", v.Version, err)
			}
		}
		if want := schemas.GUIDOf(one.Source.Text, one.Source.References, one.Metadata, one.RuleSet); want != guid {
			return fmt.Errorf("version %d: its GUID is %s and that of its content %s: one of them was changed", v.Version, guid, want)
		}
		g.Versions = append(g.Versions, one)
	}
	return nil
}
