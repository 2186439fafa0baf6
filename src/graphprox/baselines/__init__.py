"""The other systems, one small file each: what users would take in place of FT-GCL, and the paper compares with."""
