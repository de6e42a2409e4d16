package main

import (
	"errors"
	"strings"
)

const maxAge = 150

var errInvalidUser = errors.New("no valid user")

// newUser is a user as a client sends it, valid.
type newUser struct {
	name, email string
	age         int32
}

// userRow is a user as the database holds it, in the answer's order.
type userRow struct {
	ID    int32  `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
	Age   int32  `json:"age"`
}

// sentUser has pointers, so that a field that is missing or null differs from one that is empty.
type sentUser struct {
	Name  *string `json:"name"`
	Email *string `json:"email"`
	Age   *int32  `json:"age"`
}

func readUser(body []byte) (newUser, error) {
	var sent sentUser
	if err := decode(body, &sent); err != nil {
		return newUser{}, err
	}
	if sent.Name == nil || sent.Email == nil || sent.Age == nil {
		return newUser{}, errInvalidUser
	}
	// PostgreSQL's text cannot hold NUL.
	if strings.ContainsRune(*sent.Name, 0) || strings.ContainsRune(*sent.Email, 0) {
		return newUser{}, errInvalidUser
	}
	if *sent.Age < 0 || *sent.Age > maxAge {
		return newUser{}, errInvalidUser
	}
	return newUser{name: *sent.Name, email: *sent.Email, age: *sent.Age}, nil
}
