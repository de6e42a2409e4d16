"""Where slow requests' time went: each request's latency in parts that add up to it, and what explains a difference."""
