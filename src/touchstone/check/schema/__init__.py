"""The JSON Schemas of manifests, for editors: every error of `touchstone check` that a schema can express."""
