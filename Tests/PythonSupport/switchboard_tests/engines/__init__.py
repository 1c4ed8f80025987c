"""Real engines for tests, each a program that ends when its input closes."""
