package main

import (
	"log"
	"slices"
	"sync"
	"time"
)

// delays are how long the cause held up each request.
type delays struct {
	sync.Mutex
	all []time.Duration
}

func (delays *delays) add(took time.Duration) {
	delays.Lock()
	delays.all = append(delays.all, took)
	delays.Unlock()
}

// log writes the means around the 99th percentile and around the median.
func (delays *delays) log() {
	delays.Lock()
	defer delays.Unlock()
	if len(delays.all) == 0 {
		return
	}
	slices.Sort(delays.all)
	mean := func(low, high float64) float64 {
		begin, end := int(low*float64(len(delays.all))), int(high*float64(len(delays.all)))
		var sum time.Duration
		for _, took := range delays.all[begin:max(end, begin+1)] {
			sum += took
		}
		return (sum / time.Duration(max(end-begin, 1))).Seconds() * 1e3
	}
	if tail := mean(0.985, 0.995); tail > 0 {
		log.Printf("planted: p99 %.3f ms, median %.3f ms", tail, mean(0.40, 0.60))
	}
}
