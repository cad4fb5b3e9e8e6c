"""What rules of several families compute from the evidence."""
