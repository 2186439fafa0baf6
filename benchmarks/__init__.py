"""Speed and memory, each as a ratio against a named reference in the same run."""
