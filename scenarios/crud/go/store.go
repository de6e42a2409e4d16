//go:build !no_database

package main

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	insertUser = "INSERT INTO users (name, email, age) VALUES ($1, $2, $3) RETURNING id"
	selectUser = "SELECT id, name, email, age FROM users WHERE id = $1"
	deleteUser = "DELETE FROM users WHERE id = $1"
)

type store struct {
	pool    *pgxpool.Pool
	timeout time.Duration
}

// openStore makes the pool; its sessions are opened when they are first needed.
func openStore(cfg databaseConfig) (*store, error) {
	settings, err := pgxpool.ParseConfig(cfg.url)
	if err != nil {
		return nil, err
	}
	settings.MaxConns = poolSize(cfg)
	settings.ConnConfig.ConnectTimeout = cfg.timeout
	settings.AfterConnect = prepare
	pool, err := pgxpool.NewWithConfig(context.Background(), settings)
	if err != nil {
		return nil, err
	}
	return &store{pool: pool, timeout: cfg.timeout}, nil
}

// passThrough inserts the user, reads it back and deletes it, on one session; each statement commits by itself.
func (s *store) passThrough(u newUser) (userRow, error) {
	// fasthttp's request context does not end with the request, so it is no parent for a deadline.
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	session, err := s.pool.Acquire(ctx)
	if err != nil {
		return userRow{}, err
	}
	defer session.Release()
	return insertSelectDelete(ctx, session.Conn(), u)
}

func (s *store) close() { s.pool.Close() }

// isAway tells a database that cannot serve from a statement that is wrong.
func isAway(err error) bool {
	if errors.Is(err, pgx.ErrNoRows) {
		return false
	}
	var reported *pgconn.PgError
	if !errors.As(err, &reported) {
		return true
	}
	switch reported.Code[:2] {
	// Connection exception, insufficient resources, a database that takes no connections, operator intervention.
	case "08", "53", "55", "57":
		return true
	}
	return false
}
