package main

import (
	"context"
	"time"

	"touchstone/quotes/pb"
)

const most = 1000

// isSymbol says whether a text is a capital letter, and up to seven capital letters and digits.
func isSymbol(text string) bool {
	if len(text) == 0 || len(text) > 8 || text[0] < 'A' || text[0] > 'Z' {
		return false
	}
	for _, char := range []byte(text) {
		if (char < 'A' || char > 'Z') && (char < '0' || char > '9') {
			return false
		}
	}
	return true
}

// quote is the quote of a symbol with a number, as of now.
func quote(symbol string, number int32) *pb.Quote {
	var sum int32
	for _, char := range []byte(symbol) {
		sum += int32(char)
	}
	bid := 10_000 + (sum*7+number)%5_000
	return &pb.Quote{Symbol: symbol, Number: number, Bid: bid, Ask: bid + 5, Stamp: time.Now().UnixMicro()}
}

// wanted are quotes that are asked for in a stream.
type wanted struct {
	count    int32
	interval time.Duration
}

// wantedOf takes 1 to 1000 quotes, 0 to 1000 milliseconds apart.
func wantedOf(count, intervalMS int32) (wanted, bool) {
	fits := 1 <= count && count <= most && 0 <= intervalMS && intervalMS <= most
	return wanted{count, time.Duration(intervalMS) * time.Millisecond}, fits
}

// each makes the quotes of a symbol one after the other, until one is not taken or the client is gone.
func (w wanted) each(ctx context.Context, symbol string, take func(*pb.Quote) error) error {
	for number := int32(1); number <= w.count; number++ {
		if number > 1 && w.interval > 0 {
			select {
			case <-time.After(w.interval):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := take(quote(symbol, number)); err != nil {
			return err
		}
	}
	return nil
}
