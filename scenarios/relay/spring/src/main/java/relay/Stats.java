package relay;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.springframework.stereotype.Component;

/** Counts of what the consumer has done. */
@Component
class Stats {
    record Snapshot(long processed, long skipped, Map<Integer, Long> partitions) {}

    private final Map<Integer, LongAdder> partitions = new ConcurrentHashMap<>();
    private final LongAdder skipped = new LongAdder();

    void done(int partition) {
        partitions.computeIfAbsent(partition, p -> new LongAdder()).increment();
    }

    void skip() {
        skipped.increment();
    }

    Snapshot snapshot() {
        var counts = new TreeMap<Integer, Long>();
        partitions.forEach((partition, count) -> counts.put(partition, count.sum()));
        long processed = counts.values().stream().mapToLong(Long::longValue).sum();
        return new Snapshot(processed, skipped.sum(), counts);
    }
}
