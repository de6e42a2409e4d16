"""Live figures of a run for other tools: OpenMetrics, OTLP and NDJSON."""
