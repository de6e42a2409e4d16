package relay;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The HTTP side. */
@RestController
class RelayController {
    record Processed(String status, @JsonProperty("elapsed_ms") long elapsedMs) {}

    private final Downstream downstream;
    private final Stats stats;

    RelayController(Downstream downstream, Stats stats) {
        this.downstream = downstream;
        this.stats = stats;
    }

    @GetMapping(path = "/api/process", produces = "application/json")
    Processed process() {
        long begin = System.nanoTime();
        downstream.call();
        return new Processed("ok", (System.nanoTime() - begin) / 1_000_000);
    }

    @GetMapping(path = "/stats", produces = "application/json")
    Stats.Snapshot stats() {
        return stats.snapshot();
    }

    @GetMapping(path = "/ping", produces = "text/plain;charset=UTF-8")
    String ping() {
        return "pong";
    }
}
