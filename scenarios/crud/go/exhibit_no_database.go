//go:build no_database

package main

import "sync/atomic"

// The defect: a user is given an id and forgotten. What is left is HTTP and JSON, without a driver.
type store struct {
	ids atomic.Int32
}

func openStore(databaseConfig) (*store, error) { return &store{}, nil }

func (s *store) passThrough(u newUser) (userRow, error) {
	return userRow{ID: s.ids.Add(1), Name: u.name, Email: u.email, Age: u.age}, nil
}

func (*store) close() {}

func isAway(error) bool { return false }
