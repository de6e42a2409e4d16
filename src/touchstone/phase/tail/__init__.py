"""Where slow requests' time goes: stamps of the slowest, and what the server did at each moment."""
