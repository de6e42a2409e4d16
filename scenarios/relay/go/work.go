package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	firstPause = 100 * time.Millisecond
	longPause  = 2 * time.Second
)

// work is what is done for each message: one call of the downstream.
type work struct {
	target *downstream
	counts *stats
}

// do calls the downstream until it has answered: a message is never given up for a failure that is not its own. One that
// cannot be read is skipped. The context ends the tries, not a call under way: a call that was heard and given up would be
// made again by whoever gets the partition. The error is the context's, and then the message is not done.
func (w *work) do(ctx context.Context, record *kgo.Record) error {
	var message struct {
		ID string `json:"id"`
	}
	err := json.Unmarshal(record.Value, &message)
	if err == nil && message.ID == "" {
		err = errors.New("it has no id")
	}
	if err != nil {
		slog.Warn("message skipped", "partition", record.Partition, "offset", record.Offset, "err", err)
		w.counts.skip()
		return nil
	}
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		err := w.target.call(context.WithoutCancel(ctx), message.ID)
		if err == nil {
			w.counts.done(record.Partition)
			return nil
		}
		slog.Warn("downstream call failed, trying again", "partition", record.Partition, "offset", record.Offset, "err", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
