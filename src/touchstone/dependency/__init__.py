"""What a service talks to: started, reset, questioned and stopped by touchstone."""
