package main

import "sync"

// stats counts what the consumer has done, for GET /stats.
type stats struct {
	mu         sync.Mutex
	skipped    int64
	partitions map[int32]int64
}

type snapshot struct {
	Processed  int64           `json:"processed"`
	Skipped    int64           `json:"skipped"`
	Partitions map[int32]int64 `json:"partitions"`
}

func newStats() *stats { return &stats{partitions: map[int32]int64{}} }

func (s *stats) done(partition int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.partitions[partition]++
}

func (s *stats) skip() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skipped++
}

func (s *stats) snapshot() snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := snapshot{Skipped: s.skipped, Partitions: make(map[int32]int64, len(s.partitions))}
	for partition, n := range s.partitions {
		taken.Partitions[partition] = n
		taken.Processed += n
	}
	return taken
}
