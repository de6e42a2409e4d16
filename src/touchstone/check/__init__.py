"""All that can be known of manifests before anything is built: patterns, templates, names, times, files."""
