package main

import (
	"bytes"
	"errors"
	"log/slog"

	"github.com/valyala/fasthttp"
)

const maxBody = 64 << 10

const (
	invalidUser      = `{"error":"expected a JSON object with name and email (strings without NUL) and age (an integer from 0 to 150), and nothing else"}`
	notFound         = `{"error":"not found"}`
	methodNotAllowed = `{"error":"method not allowed"}`
	bodyTooLarge     = `{"error":"the body is over 64 KB"}`
	wrongContentType = `{"error":"the content type must be application/json"}`
	malformedRequest = `{"error":"malformed request"}`
	requestTimeout   = `{"error":"the request took too long"}`
	databaseAway     = `{"error":"the database is unavailable"}`
	internalError    = `{"error":"internal error"}`
)

func newHandler(users *store) fasthttp.RequestHandler {
	api := withUser(func(ctx *fasthttp.RequestCtx, u newUser) {
		row, err := users.passThrough(u)
		switch {
		case err == nil:
			answerRow(ctx, row)
		case isAway(err):
			answer(ctx, fasthttp.StatusServiceUnavailable, databaseAway)
		default:
			slog.Error("statement failed", "err", err)
			answer(ctx, fasthttp.StatusInternalServerError, internalError)
		}
	})
	echo := withUser(func(ctx *fasthttp.RequestCtx, u newUser) {
		answerRow(ctx, userRow{Name: u.name, Email: u.email, Age: u.age})
	})
	return func(ctx *fasthttp.RequestCtx) {
		switch string(ctx.Path()) {
		case "/api":
			api(ctx)
		case "/echo":
			echo(ctx)
		case "/ping":
			ping(ctx)
		default:
			answer(ctx, fasthttp.StatusNotFound, notFound)
		}
	}
}

// withUser hands on the user in the body, and turns away requests that hold none.
func withUser(next func(*fasthttp.RequestCtx, newUser)) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if !ctx.IsPost() {
			ctx.Response.Header.Set("Allow", "POST")
			answer(ctx, fasthttp.StatusMethodNotAllowed, methodNotAllowed)
			return
		}
		if !isJSON(ctx.Request.Header.ContentType()) {
			answer(ctx, fasthttp.StatusUnsupportedMediaType, wrongContentType)
			return
		}
		user, err := readUser(ctx.PostBody())
		if err != nil {
			answer(ctx, fasthttp.StatusBadRequest, invalidUser)
			return
		}
		next(ctx, user)
	}
}

func ping(ctx *fasthttp.RequestCtx) {
	if !ctx.IsGet() && !ctx.IsHead() {
		ctx.Response.Header.Set("Allow", "GET, HEAD")
		answer(ctx, fasthttp.StatusMethodNotAllowed, methodNotAllowed)
		return
	}
	ctx.SetContentType("text/plain; charset=utf-8")
	ctx.SetBodyString("pong")
}

// refuse answers requests that fasthttp does not hand to the handler.
func refuse(ctx *fasthttp.RequestCtx, err error) {
	var slow interface{ Timeout() bool }
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		answer(ctx, fasthttp.StatusRequestEntityTooLarge, bodyTooLarge)
	case errors.As(err, &slow) && slow.Timeout():
		answer(ctx, fasthttp.StatusRequestTimeout, requestTimeout)
	default:
		answer(ctx, fasthttp.StatusBadRequest, malformedRequest)
	}
}

func isJSON(contentType []byte) bool {
	mediaType, _, _ := bytes.Cut(contentType, []byte(";"))
	return bytes.EqualFold(bytes.TrimSpace(mediaType), []byte("application/json"))
}

func answerRow(ctx *fasthttp.RequestCtx, row userRow) {
	body, err := writeRow(row)
	if err != nil {
		slog.Error("row cannot be written as JSON", "err", err)
		answer(ctx, fasthttp.StatusInternalServerError, internalError)
		return
	}
	ctx.SetContentType("application/json")
	ctx.Response.SetBodyRaw(body)
}

func answer(ctx *fasthttp.RequestCtx, status int, body string) {
	ctx.SetStatusCode(status)
	ctx.SetContentType("application/json")
	ctx.SetBodyString(body)
}
