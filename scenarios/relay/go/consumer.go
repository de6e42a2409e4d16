package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// finishLimit bounds the last commits when partitions are given back.
const finishLimit = 3 * time.Second

// newClient makes a member of the group. It connects when it is polled, so that a broker may come later than the service.
func newClient(cfg kafkaConfig, options ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(cfg.bootstrap...),
		kgo.ConsumerGroup(cfg.group),
		kgo.ConsumeTopics(cfg.topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SessionTimeout(cfg.sessionTimeout),
		kgo.HeartbeatInterval(cfg.sessionTimeout / 5),
		kgo.DisableAutoCommit(),
		// Offsets are committed by the workers before a partition goes to somebody else.
		kgo.BlockRebalanceOnPoll(),
		kgo.MetadataMinAge(250 * time.Millisecond),
	}, options...)...)
}

// logErrors says what went wrong in a poll; the client itself tries again.
func logErrors(fetches kgo.Fetches) {
	fetches.EachError(func(topic string, partition int32, err error) {
		if !errors.Is(err, context.Canceled) {
			slog.Warn("poll failed", "topic", topic, "partition", partition, "err", err)
		}
	})
}

// commit stores that everything up to `last` is done, and says whether it did. A failure is not final: the next commit covers
// it, and without one the messages come again.
func commit(ctx context.Context, client *kgo.Client, last *kgo.Record) bool {
	if last == nil {
		return true
	}
	if err := client.CommitRecords(ctx, last); err != nil {
		if ctx.Err() == nil {
			slog.Warn("commit failed", "partition", last.Partition, "offset", last.Offset, "err", err)
		}
		return false
	}
	return true
}
