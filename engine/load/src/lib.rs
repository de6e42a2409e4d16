//! The load engine: schedule, connection, parser, check, recorder, backend.
