package main

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
)

func newHandler(users *store) http.Handler {
	mux := http.NewServeMux()
	for path, get := range map[string]http.HandlerFunc{
		"/{$}":  withName(find(users)),
		"/add":  withName(register(users)),
		"/ping": func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "pong") },
	} {
		mux.HandleFunc("GET "+path, get)
		mux.HandleFunc(path, methodNotAllowed)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusNotFound, "not found")
	})
	return mux
}

func register(users *store) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, r *http.Request, name string) {
		if err := users.add(r.Context(), name); err != nil {
			if !errors.Is(err, errTaken) {
				slog.Error("insert failed", "err", err)
			}
			answer(w, http.StatusInternalServerError, "Sadly we failed to register you: "+name)
			return
		}
		answer(w, http.StatusOK, "Welcome to our community "+name+"!")
	}
}

func find(users *store) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, r *http.Request, name string) {
		found, err := users.get(r.Context(), name)
		switch {
		case err == nil:
			answer(w, http.StatusOK, "Boom! We found you: "+found)
		case errors.Is(err, errUnknown):
			answer(w, http.StatusNotFound, "Sadly we could not find you: "+name)
		default:
			slog.Error("lookup failed", "err", err)
			answer(w, http.StatusInternalServerError, "internal error")
		}
	}
}

// withName hands on the query's name, and turns away requests that have none.
func withName(next func(http.ResponseWriter, *http.Request, string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Query().Get("name")
		if name == "" {
			answer(w, http.StatusBadRequest, "name is required")
			return
		}
		next(w, r, name)
	}
}

func methodNotAllowed(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Allow", "GET, HEAD")
	answer(w, http.StatusMethodNotAllowed, "method not allowed")
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	// A failed write means that the client has gone; there is nobody left to tell.
	_, _ = io.WriteString(w, body)
}
