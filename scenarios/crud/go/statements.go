//go:build !unclosed_rows && !formatted_sql && !no_database

package main

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// prepare runs once a session; afterwards a statement's text names the prepared one.
func prepare(ctx context.Context, session *pgx.Conn) error {
	for _, statement := range []string{insertUser, selectUser, deleteUser} {
		if _, err := session.Prepare(ctx, statement, statement); err != nil {
			return err
		}
	}
	return nil
}

func insertSelectDelete(ctx context.Context, session *pgx.Conn, u newUser) (row userRow, err error) {
	var id int32
	if err = session.QueryRow(ctx, insertUser, u.name, u.email, u.age).Scan(&id); err != nil {
		return row, err
	}
	found := session.QueryRow(ctx, selectUser, id)
	if err = found.Scan(&row.ID, &row.Name, &row.Email, &row.Age); err != nil {
		return row, err
	}
	_, err = session.Exec(ctx, deleteUser, id)
	return row, err
}
