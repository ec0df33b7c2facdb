"""Work on the nodes of a Ray cluster: which nodes, which lanes, what a loss means."""
