"""Graph folders: a graph in memory maps, in parts of consecutive rows; `GraphFolder` opens one."""
