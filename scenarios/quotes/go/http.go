package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"touchstone/quotes/pb"
)

// shown is a quote in JSON.
type shown struct {
	Symbol string `json:"symbol"`
	Number int32  `json:"number"`
	Bid    int32  `json:"bid"`
	Ask    int32  `json:"ask"`
	Stamp  int64  `json:"stamp"`
}

func inJSON(q *pb.Quote) []byte {
	// Text and numbers are always written.
	text, _ := json.Marshal(shown{q.Symbol, q.Number, q.Bid, q.Ask, q.Stamp})
	return text
}

func routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /quotes/{symbol}", one)
	mux.HandleFunc("GET /quotes/{symbol}/events", events)
	return mux
}

func one(response http.ResponseWriter, request *http.Request) {
	symbol := request.PathValue("symbol")
	if !isSymbol(symbol) {
		response.WriteHeader(http.StatusNotFound)
		return
	}
	response.Header().Set("Content-Type", "application/json")
	_, _ = response.Write(inJSON(quote(symbol, 1)))
}

func events(response http.ResponseWriter, request *http.Request) {
	symbol := request.PathValue("symbol")
	if !isSymbol(symbol) {
		response.WriteHeader(http.StatusNotFound)
		return
	}
	count, countErr := number(request, "count", 1)
	interval, intervalErr := number(request, "interval_ms", 0)
	asked, fits := wantedOf(count, interval)
	if countErr != nil || intervalErr != nil || !fits {
		response.WriteHeader(http.StatusBadRequest)
		return
	}
	header := response.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	// Each event is on its way before the next one is made.
	flusher := http.NewResponseController(response)
	_ = asked.each(request.Context(), symbol, func(q *pb.Quote) error {
		if _, err := fmt.Fprintf(response, "id: %d\ndata: %s\n\n", q.Number, inJSON(q)); err != nil {
			return err
		}
		return flusher.Flush()
	})
}

func number(request *http.Request, name string, unset int32) (int32, error) {
	text := request.URL.Query().Get(name)
	if text == "" {
		return unset, nil
	}
	value, err := strconv.ParseInt(text, 10, 32)
	return int32(value), err
}
