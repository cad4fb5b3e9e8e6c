"""What Python's stacks tell: call sites, loops, activities, and the sampler that reads them."""
