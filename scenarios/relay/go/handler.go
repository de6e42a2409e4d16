package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

func newHandler(target *downstream, counts *stats) http.Handler {
	mux := http.NewServeMux()
	for path, get := range map[string]http.HandlerFunc{
		"/api/process": process(target),
		"/stats":       func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, counts.snapshot()) },
		"/ping":        ping,
	} {
		mux.HandleFunc("GET "+path, get)
		mux.HandleFunc(path, methodNotAllowed)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusNotFound, failure{"not found"})
	})
	return mux
}

type processed struct {
	Status    string `json:"status"`
	ElapsedMS int64  `json:"elapsed_ms"`
}

type failure struct {
	Error string `json:"error"`
}

func process(target *downstream) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		switch err := target.call(r.Context(), ""); {
		case err == nil:
			answer(w, http.StatusOK, processed{"ok", time.Since(begin).Milliseconds()})
		case errors.Is(err, errTooSlow):
			answer(w, http.StatusGatewayTimeout, failure{"the downstream did not answer in time"})
		default:
			answer(w, http.StatusServiceUnavailable, failure{"the downstream failed"})
		}
	}
}

func ping(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "pong")
}

func methodNotAllowed(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Allow", "GET, HEAD")
	answer(w, http.StatusMethodNotAllowed, failure{"method not allowed"})
}

func answer(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A failed write means that the client has gone; there is nobody left to tell.
	_, _ = w.Write(body)
}
