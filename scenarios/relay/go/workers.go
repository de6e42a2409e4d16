//go:build !barrier_per_poll

package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// queueLimit is how many messages a worker may have in hand before its partition is paused; at half of it, it goes on.
const queueLimit = 1000

// consume works through the topic until the context ends: one worker a partition, each in its partition's order, and none
// waits for another.
func consume(ctx context.Context, cfg kafkaConfig, task *work) error {
	crew := &crew{cfg: cfg, task: task, workers: map[int32]*worker{}}
	client, err := newClient(cfg,
		kgo.OnPartitionsAssigned(crew.assigned),
		kgo.OnPartitionsRevoked(crew.revoked),
		kgo.OnPartitionsLost(crew.revoked),
	)
	if err != nil {
		return err
	}
	for {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			break
		}
		logErrors(fetches)
		fetches.EachPartition(func(found kgo.FetchTopicPartition) {
			if len(found.Records) > 0 {
				crew.workers[found.Partition].take(found.Records)
			}
		})
		client.AllowRebalance()
	}
	// Leaving the group revokes all partitions, and that waits for the workers' last commits.
	client.CloseAllowingRebalance()
	return nil
}

// crew is the workers of the partitions that are assigned. The client calls it between polls only.
type crew struct {
	cfg     kafkaConfig
	task    *work
	workers map[int32]*worker
}

func (c *crew) assigned(_ context.Context, client *kgo.Client, partitions map[string][]int32) {
	for _, partition := range partitions[c.cfg.topic] {
		ctx, stop := context.WithCancel(context.Background())
		w := &worker{
			crew: c, client: client, partition: partition, stop: stop,
			news: make(chan struct{}, 1), ended: make(chan struct{}),
		}
		c.workers[partition] = w
		go w.run(ctx)
	}
	slog.Info("partitions assigned", "partitions", partitions[c.cfg.topic])
}

func (c *crew) revoked(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
	for _, partition := range partitions[c.cfg.topic] {
		c.workers[partition].stop()
	}
	for _, partition := range partitions[c.cfg.topic] {
		<-c.workers[partition].ended
		delete(c.workers, partition)
	}
}

type worker struct {
	crew      *crew
	client    *kgo.Client
	partition int32
	stop      context.CancelFunc
	news      chan struct{}
	ended     chan struct{}

	mu     sync.Mutex
	queue  []*kgo.Record
	paused bool
}

// take adds to the queue, and pauses a partition that has enough: the others are still polled.
func (w *worker) take(records []*kgo.Record) {
	w.mu.Lock()
	w.queue = append(w.queue, records...)
	if len(w.queue) >= queueLimit && !w.paused {
		w.paused = true
		w.client.PauseFetchPartitions(w.own())
	}
	w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// next gives the oldest message in hand, or none.
func (w *worker) next() *kgo.Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		return nil
	}
	record := w.queue[0]
	w.queue = w.queue[1:]
	if w.paused && len(w.queue) <= queueLimit/2 {
		w.paused = false
		w.client.ResumeFetchPartitions(w.own())
	}
	return record
}

func (w *worker) own() map[string][]int32 {
	return map[string][]int32{w.crew.cfg.topic: {w.partition}}
}

// run does one message after another, and commits what is done when enough is, when no more is in hand, and at the end.
func (w *worker) run(ctx context.Context) {
	defer close(w.ended)
	// A pause outlives the assignment; whoever gets the partition next, perhaps this client, must find it open.
	defer w.client.ResumeFetchPartitions(w.own())
	var done *kgo.Record
	count := 0
	for ctx.Err() == nil {
		record := w.next()
		if (record == nil || count >= w.crew.cfg.commitEvery) && commit(ctx, w.client, done) {
			done, count = nil, 0
		}
		if record == nil {
			// A commit that failed is tried again even if no message comes.
			var again <-chan time.Time
			if done != nil {
				again = time.After(longPause)
			}
			select {
			case <-ctx.Done():
			case <-w.news:
			case <-again:
			}
			continue
		}
		if w.crew.task.do(ctx, record) != nil {
			break
		}
		done = record
		count++
	}
	last, cancel := context.WithTimeout(context.Background(), finishLimit)
	defer cancel()
	commit(last, w.client, done)
}
