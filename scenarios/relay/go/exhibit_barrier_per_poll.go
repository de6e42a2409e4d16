//go:build barrier_per_poll

package main

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// pollLimit bounds what is in hand, as max.poll.records does elsewhere. A poll takes partition by partition, so that it may
// well be filled from one.
const pollLimit = 100

// consume holds the exhibit's defect: after each poll it waits until every partition is through, so that all wait for the
// one that got most.
func consume(ctx context.Context, cfg kafkaConfig, task *work) error {
	client, err := newClient(cfg)
	if err != nil {
		return err
	}
	defer client.CloseAllowingRebalance()
	for {
		fetches := client.PollRecords(ctx, pollLimit)
		if ctx.Err() != nil {
			return nil
		}
		logErrors(fetches)
		var barrier sync.WaitGroup
		fetches.EachPartition(func(found kgo.FetchTopicPartition) {
			barrier.Go(func() { inOrder(ctx, cfg, client, task, found.Records) })
		})
		barrier.Wait()
		client.AllowRebalance()
	}
}

// inOrder does the messages of one partition in one poll.
func inOrder(ctx context.Context, cfg kafkaConfig, client *kgo.Client, task *work, records []*kgo.Record) {
	var done *kgo.Record
	for count, record := range records {
		if ctx.Err() != nil || task.do(ctx, record) != nil {
			break
		}
		done = record
		if (count+1)%cfg.commitEvery == 0 {
			commit(ctx, client, done)
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishLimit)
	defer cancel()
	commit(last, client, done)
}
