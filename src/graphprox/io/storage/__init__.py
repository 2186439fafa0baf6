"""Files that are written atomically, locked and verified; model folders."""
