"""What was sent and what came back: errors, bodies, connections, the arithmetic between them."""
