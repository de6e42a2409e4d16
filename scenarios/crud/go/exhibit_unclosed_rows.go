//go:build unclosed_rows

package main

import (
	"context"

	"github.com/jackc/pgx/v5"
)

func prepare(ctx context.Context, session *pgx.Conn) error {
	for _, statement := range []string{insertUser, selectUser, deleteUser} {
		if _, err := session.Prepare(ctx, statement, statement); err != nil {
			return err
		}
	}
	return nil
}

// The defect: DELETE run by Query, and its rows never closed. The session is given back busy, so the pool
// throws it away and opens another, for each request.
func insertSelectDelete(ctx context.Context, session *pgx.Conn, u newUser) (row userRow, err error) {
	var id int32
	if err = session.QueryRow(ctx, insertUser, u.name, u.email, u.age).Scan(&id); err != nil {
		return row, err
	}
	found := session.QueryRow(ctx, selectUser, id)
	if err = found.Scan(&row.ID, &row.Name, &row.Email, &row.Age); err != nil {
		return row, err
	}
	_, err = session.Query(ctx, deleteUser, id)
	return row, err
}
