"""The methods by name: the family of FT-GCL as recipes."""
