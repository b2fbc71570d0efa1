package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// ToFolder writes g as a folder that people can read and compare. The folder is
// made if it is not there; if it is, it must be empty or hold an export, which is
// then brought up to date: files of the old one that the new one does not have
// are removed, and what else lies there is left alone.
func ToFolder(ctx context.Context, dir string, g Gathered) error {
	if err := writeFolder(ctx, dir, g); err != nil {
		return fmt.Errorf("export to %s: %w", dir, err)
	}
	return nil
}

func writeFolder(ctx context.Context, dir string, g Gathered) (err error) {
	m, files, err := filesOf(g)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	old, err := oldFiles(root)
	if err != nil {
		return err
	}
	// From here on until the end the folder says that it is not whole.
	started := manifest{Format: exportFormat, Version: exportVersion}
	for _, f := range m.Files {
		delete(old, f.Path)
		started.Files = append(started.Files, f)
	}
	for _, f := range old {
		started.Files = append(started.Files, f)
	}
	if err := put(root, started); err != nil {
		return err
	}
	made := map[string]bool{".": true}
	for i, f := range files {
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if folder := path.Dir(f.path); !made[folder] {
			if err := root.MkdirAll(folder, 0o755); err != nil {
				return err
			}
			made[folder] = true
		}
		if err := writeFile(root, f.path, f.data); err != nil {
			return err
		}
	}
	for name := range old {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		// A folder that something else lies in stays.
		for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
			if root.Remove(folder) != nil {
				break
			}
		}
	}
	return put(root, m)
}

// writeFile writes a file that is not there, or that is one.
func writeFile(root *os.Root, name string, data []byte) error {
	if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("write %s: it is no regular file", name)
	}
	return root.WriteFile(name, data, 0o644)
}

func put(root *os.Root, m manifest) error {
	text, err := m.bytes()
	if err != nil {
		return err
	}
	const next = manifestName + ".next"
	if err := writeFile(root, next, text); err != nil {
		return err
	}
	return root.Rename(next, manifestName)
}

// oldFiles are the files of the export that lies in a folder.
//
// Errors: a folder that holds something else.
func oldFiles(root *os.Root) (map[string]manifestFile, error) {
	text, err := readFile(root.FS(), manifestName, mostManifest)
	if errors.Is(err, fs.ErrNotExist) {
		entries, err := fs.ReadDir(root.FS(), ".")
		if err == nil && len(entries) > 0 {
			err = fmt.Errorf("the folder is not empty and holds no export (it has %s): choose another", entries[0].Name())
		}
		return map[string]manifestFile{}, err
	}
	if err != nil {
		return nil, err
	}
	var m manifest
	if m, _, err = readManifest(text); m.Format != exportFormat {
		return nil, err
	}
	old := map[string]manifestFile{}
	for _, f := range m.Files {
		if fs.ValidPath(f.Path) && f.Path != manifestName {
			old[f.Path] = f
		}
	}
	return old, nil
}

// FromFolder reads what ToFolder wrote. Files that the manifest does not name
// are not looked at.
//
// Errors: a file that is not there or was changed, a folder that is no export.
func FromFolder(ctx context.Context, fsys fs.FS) (Gathered, error) {
	g, err := readFolder(ctx, fsys)
	if err != nil {
		return Gathered{}, fmt.Errorf("read the export: %w", err)
	}
	return g, nil
}

func readFolder(ctx context.Context, fsys fs.FS) (Gathered, error) {
	head, err := readFile(fsys, manifestName, mostManifest)
	if err != nil {
		return Gathered{}, err
	}
	m, _, err := readManifest(head)
	if err != nil {
		return Gathered{}, err
	}
	data := make(map[string][]byte, len(m.Files))
	for _, f := range m.Files {
		if err := ctx.Err(); err != nil {
			return Gathered{}, err
		}
		text, err := readFile(fsys, f.Path, mostFile)
		if err == nil {
			err = f.check(text)
		}
		if err != nil {
			return Gathered{}, fmt.Errorf("%s: %w", f.Path, err)
		}
		data[f.Path] = text
	}
	return heldOf(m, data)
}

func readFile(fsys fs.FS, name string, most int64) (text []byte, err error) {
	// A pipe would be waited for, without an end and past every signal.
	if info, err := fs.Stat(fsys, name); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, errors.New("it is no regular file"))
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err = io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return text, err
}
