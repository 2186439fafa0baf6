"""Tables, figures and pages from records: deterministic, without training or loading a data set."""
