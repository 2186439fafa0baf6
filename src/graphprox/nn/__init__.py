"""What is trained: an encoder, a projection head, and what their outputs are held against."""
