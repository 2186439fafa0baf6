"""From records to tables, figures and a page: nothing is trained, and the same records are the same bytes."""
