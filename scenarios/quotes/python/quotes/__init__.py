"""Quotes by Starlette on granian, and by grpcio."""
