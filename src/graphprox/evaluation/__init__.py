"""How good an embedding is: what comes after training, and the first to look at labels."""
