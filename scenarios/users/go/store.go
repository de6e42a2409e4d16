package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	errTaken   = errors.New("the name is taken")
	errUnknown = errors.New("no user has this name")
)

const schema = `CREATE TABLE IF NOT EXISTS users(
	id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, UNIQUE(name))`

// store keeps the users in SQLite. It is safe for concurrent use.
type store struct {
	db     *sql.DB
	insert *sql.Stmt
	find   *sql.Stmt

	// SQLite has one writer at a time. Waiting here is fair and ends at once;
	// waiting in SQLite's busy handler is a sleep that others overtake.
	writing sync.Mutex
}

func openStore(ctx context.Context, cfg databaseConfig) (*store, error) {
	dsn, err := dataSource(cfg)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(cfg.pool)
	db.SetMaxIdleConns(cfg.pool)

	s := &store{db: db}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// dataSource names the file and the pragmas that the driver sets on every connection it opens.
func dataSource(cfg databaseConfig) (string, error) {
	path, err := filepath.Abs(cfg.path)
	if err != nil {
		return "", err
	}
	pragmas := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", cfg.busyTimeout.Milliseconds()),
		"journal_mode(WAL)",
		"synchronous(NORMAL)",
	}}
	file := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: pragmas.Encode()}
	return file.String(), nil
}

func (s *store) prepare(ctx context.Context) (err error) {
	if _, err = s.db.ExecContext(ctx, schema); err != nil {
		return err
	}
	if s.insert, err = s.db.PrepareContext(ctx, "INSERT INTO users(name) VALUES (?)"); err != nil {
		return err
	}
	s.find, err = s.db.PrepareContext(ctx, "SELECT name FROM users WHERE name = ?")
	return err
}

func (s *store) close() error { return s.db.Close() }

// add registers a name. It returns errTaken if the name is registered already.
func (s *store) add(ctx context.Context, name string) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.insert.ExecContext(ctx, name)
	var failure *sqlite.Error
	if errors.As(err, &failure) && failure.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE {
		return errTaken
	}
	return err
}

// get returns the registered name. It returns errUnknown if there is none.
func (s *store) get(ctx context.Context, name string) (string, error) {
	var found string
	err := s.find.QueryRowContext(ctx, name).Scan(&found)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errUnknown
	}
	return found, err
}
