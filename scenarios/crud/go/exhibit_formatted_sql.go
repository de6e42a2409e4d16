//go:build formatted_sql

package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

func prepare(context.Context, *pgx.Conn) error { return nil }

// The defect: values are written into the statements. A name with a quote breaks them, and one that is made for it
// runs what its sender likes.
func insertSelectDelete(ctx context.Context, session *pgx.Conn, u newUser) (row userRow, err error) {
	var id int32
	insert := fmt.Sprintf("INSERT INTO users (name, email, age) VALUES ('%s', '%s', %d) RETURNING id", u.name, u.email, u.age)
	if err = session.QueryRow(ctx, insert, pgx.QueryExecModeSimpleProtocol).Scan(&id); err != nil {
		return row, err
	}
	found := session.QueryRow(ctx, fmt.Sprintf("SELECT id, name, email, age FROM users WHERE id = %d", id), pgx.QueryExecModeSimpleProtocol)
	if err = found.Scan(&row.ID, &row.Name, &row.Email, &row.Age); err != nil {
		return row, err
	}
	_, err = session.Exec(ctx, fmt.Sprintf("DELETE FROM users WHERE id = %d", id), pgx.QueryExecModeSimpleProtocol)
	return row, err
}
