"""Claims against runs: which published statements hold here. Pure functions, as all of the judge; docs/claims.md."""
