"""The field guide: its records, and the page that is made from them (`docs/field-guide/`)."""
