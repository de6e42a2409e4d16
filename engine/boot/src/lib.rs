//! Starting a server and timing its first valid response.
