"""Read Python's stacks: call sites, loops, activities, and the sampler that reads them."""
