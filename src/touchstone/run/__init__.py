"""One run from plan to report: what is measured, in which order, and how far it has come."""
